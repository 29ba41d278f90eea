"""Elements of a page, made so that nothing in them can be mistaken for markup.

Rule 1: whatever a text says, it is a text: the standard library's serialiser escapes it. Rule 2: characters
that no page may have are left out. It knows no page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from xml.etree.ElementTree import Element

Child = Element | str | None
_UNSPEAKABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def tag(name: str, /, *children: Child | Iterable[Child], **attributes: object) -> Element:
    """An element; ``class_`` is `class`, an underscore a hyphen, and what is None is left out.

    >>> from xml.etree.ElementTree import tostring
    >>> tostring(tag("p", "1 < 2", tag("b", "so"), class_="note", data_call=7), "unicode")
    '<p class="note" data-call="7">1 &lt; 2<b>so</b></p>'
    """
    made = Element(name)
    for key, value in attributes.items():
        if value is not None:
            made.set(key.rstrip("_").replace("_", "-"), clean(_written(value)))
    for child in children:
        _put(made, child)
    return made


def clean(text: str) -> str:
    """The text without what no page may have."""
    return _UNSPEAKABLE.sub("", text)


def _put(parent: Element, child: Child | Iterable[Child]) -> None:
    if child is None:
        return
    if isinstance(child, Element):
        parent.append(child)
    elif isinstance(child, str):
        _say(parent, clean(child))
    else:
        for each in child:
            _put(parent, each)


def _say(parent: Element, text: str) -> None:
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text


def _written(value: object) -> str:
    """Numbers with two decimals at most: a drawing needs no more.

    >>> _written(1.5), _written(2.0), _written(1 / 3), _written("a")
    ('1.5', '2', '0.33', 'a')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
