"""Fingerprints as they travel on a span: one text for what was asked, one for what came of it.

    1:<arguments>:<masked>:<sketch>:<scope>
    1:<result>:<masked>:<size>:<1 when empty>:<error>:<p, t or f: its class>:<sketch>:<chant>

Rule 1: what is unknown is an empty field, and a masked digest that says the same as the other is too. Rule 2:
fields are only ever added, at the end; the 1 changes when one changes its meaning. Rule 3: a text that cannot
be read says nothing, and never raises. Two texts instead of a dozen attributes spare the processor 5 us
a span. It does not know how digests are made, nor what compares them.
"""

from __future__ import annotations

from typing import Final

from spanfuse_processor.engine.nouns import ErrorClass, Fingerprints

_VERSION: Final = "1"
_ABSENT: Final = [""]
_DIGITS: Final = 16  # more than any count has
_SKETCH: Final = (1 << 64) - 1
_ASKED, _CAME = 5, 9  # fields
_NONE: Final = ErrorClass.NONE  # a member looked up in its enum costs four times as much
_CLASSES: Final = {cls.value[:1]: cls for cls in ErrorClass}


def pack_arguments(prints: Fingerprints) -> str:
    """What was asked; empty when nothing is known of it.

    >>> pack_arguments(Fingerprints("a" * 4, "a" * 4, sketch=255))
    '1:aaaa::ff:'
    """
    raw = prints.arguments
    if not raw:
        return ""
    return f"{_VERSION}:{raw}:{_unless(raw, prints.arguments_masked)}:{_hex(prints.sketch)}:{prints.scope}"


def pack_result(prints: Fingerprints) -> str:
    """What came of it; empty when nothing is known of that.

    >>> pack_result(Fingerprints(result="a" * 4, result_masked="b" * 4, result_size=12))
    '1:aaaa:bbbb:12:::::'
    """
    raw, error = prints.result, prints.error
    if not (raw or error):
        return ""
    masked, empty = _unless(raw, prints.result_masked), "1" if prints.result_empty else ""
    known = f"{_VERSION}:{raw}:{masked}:{prints.result_size}:{empty}:{error}:{prints.error_class.value[:1]}"
    return f"{known}:{_hex(prints.result_sketch)}:{prints.chant or ''}"


def unpack(arguments: object, result: object) -> Fingerprints | None:
    """The fingerprints that two texts (None: absent) carry; None when they carry none.

    >>> unpack("1:aaaa:", "1:bbbb:cccc:12::") == Fingerprints("aaaa", "aaaa", "bbbb", "cccc", "", 12, False)
    True
    >>> unpack("2:something else", None)
    """
    asked = arguments.split(":") if isinstance(arguments, str) else _ABSENT
    known = result.split(":") if isinstance(result, str) else _ABSENT
    if len(asked) != _ASKED or asked[0] != _VERSION:
        asked = _filled(asked, 3, _ASKED)
    if len(known) != _CAME or known[0] != _VERSION:
        known = _filled(known, 6, _CAME)
    _, raw, masked, sketch, scope = asked
    _, came, came_masked, size, empty, error, cls, like, chant = known
    if not (raw or came or error):
        return None
    try:
        asked_bits, came_bits = int(sketch or "0", 16) & _SKETCH, int(like or "0", 16) & _SKETCH
    except ValueError:
        asked_bits = came_bits = 0
    return Fingerprints(  # by position: by keyword it takes twice as long
        raw, masked or raw, came, came_masked or came, error,
        int(size) if size.isdecimal() and len(size) < _DIGITS else 0, empty == "1",
        _CLASSES.get(cls, _NONE) if cls else _NONE, scope, asked_bits, came_bits,
        int(chant) if chant and chant.isdecimal() and len(chant) < _DIGITS else 0,
    )  # fmt: skip


def _filled(fields: list[str], least: int, count: int) -> list[str]:
    """As many fields as are known here: an older text has fewer, a newer one more; any other is none."""
    known = fields if fields[0] == _VERSION and len(fields) >= least else []
    return (known + [""] * count)[:count]


def _hex(sketch: int) -> str:
    return f"{sketch:x}" if sketch else ""


def _unless(raw: str, masked: str) -> str:
    return "" if masked == raw else masked
