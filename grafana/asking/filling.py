"""Filling in variables: `$name`, `${name}`, `${name:format}`, as each data source wants them.

Rule 1: a value stands as it is, or as its format says; a chosen `All` with a pattern of its own is that
pattern. Rule 2: a name that nobody gave is an error: Grafana would leave it in the query, and find nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote

Chosen = Mapping[str, str | Sequence[str]]
"""By variable what is chosen; several in a list."""

ALL: Final = ".*"
"""What stands for All in variables of ours."""
_SPECIAL: Final = re.compile(r"[\\^$*+?.()|\[\]{}]")
"""What means something in a pattern; within a text of PromQL a backslash is two."""
_VARIABLE: Final = re.compile(r"\$(?:\{(?P<braced>\w+)(?::(?P<format>\w+))?\}|(?P<bare>\w+))")


def filled(text: str, chosen: Chosen, plain: str = "raw") -> str:
    """The text with its variables filled in; `plain` is the format of those that name none.

    >>> filled("~ '${agent:regex}'", {"agent": ["a.b", "c-d"]})
    "~ '(a\\\\.b|c-d)'"
    >>> filled("agent = ${agent:sqlstring}", {"agent": "it's"})
    "agent = 'it''s'"

    Raises:
        KeyError: nobody has chosen a value for a variable.
    """

    def value(found: re.Match[str]) -> str:
        name = found["braced"] or found["bare"]
        return formatted(name, chosen[name], found["format"] or plain)

    return _VARIABLE.sub(value, text)


def formatted(name: str, value: str | Sequence[str], how: str) -> str:
    """One value in a format of Grafana's.

    Raises:
        KeyError: it is a format that is not known here.
    """
    values = [value] if isinstance(value, str) else list(value)
    if values == [ALL]:  # a pattern of a variable's own is never escaped
        return ALL if how != "queryparam" else f"var-{name}=$__all"
    return {
        "raw": lambda: ",".join(values),
        "regex": lambda: _either([_SPECIAL.sub(r"\\\g<0>", each) for each in values]),
        "promql": lambda: _either([_SPECIAL.sub(r"\\\\\g<0>", each) for each in values]),
        "sqlstring": lambda: ",".join("'{}'".format(each.replace("'", "''")) for each in values),
        "queryparam": lambda: "&".join(f"var-{name}={quote(each, safe='')}" for each in values),
    }[how]()


def _either(patterns: list[str]) -> str:
    return patterns[0] if len(patterns) == 1 else f"({'|'.join(patterns)})"
