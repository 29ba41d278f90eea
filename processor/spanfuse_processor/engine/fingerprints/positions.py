"""Where to go on: the arguments of a call that say which part of a thing is wanted, not which thing.

Rule 1: a field is judged by its name; one that often means something else ("from", "page") counts only with a
number. A date says which thing: whoever tries day after day sweeps, and does not page. Rule 2: how much is
wanted (limit, size) stays. It does not know noise, nor digests.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

_POSITIONS: Final = frozenset(
    "pageno pagenum pagenumber pageindex pagetoken nextpage nextpagetoken nexttoken token continuation "
    "continuationtoken cursor startcursor endcursor nextcursor aftercursor offset pageoffset startoffset "
    "endoffset byteoffset lineoffset skiprows startposition startat startindex endindex startrow endrow "
    "startline endline lineno linenumber linestart lineend viewrange linerange chunkindex scrollid".split()
)
"""Names of fields that say where to go on, letters and digits in lower case."""

_MAYBE: Final = frozenset(
    "page pages skip start end begin from to line lines position range marker chunk part after before since "
    "until".split()
)
"""Names that do so when their value is a number, or a range of numbers."""

_MORE: Final = frozenset("next nextlink nexturl previous prev more hasmore hasnext hasnextpage".split())
"""Names of fields of results that say where more is."""

_TIMES: Final = 1_000_000_000  # seconds since 1970
_COUNT: Final = re.compile(r"\d+(?:\.\d+)?(?:\s*[-,]\s*\d+)?")
_DEEPEST: Final = 4  # levels of nested arguments that are looked at
_LONGEST: Final = 64  # characters of a value that count


def without_positions(arguments: Any) -> Any:
    """Arguments without those that say where to go on; the same object when there are none.

    >>> without_positions({"path": "a.py", "offset": 200, "limit": 100})
    {'path': 'a.py', 'limit': 100}
    >>> without_positions({"from": "LHR", "to": "JFK", "page": 2})
    {'from': 'LHR', 'to': 'JFK'}
    >>> without_positions({"start": 1780000000})
    {'start': 1780000000}
    """
    return _without(arguments, 0) if type(arguments) is dict else arguments


def _without(fields: dict[Any, Any], depth: int) -> dict[Any, Any]:
    told = list(map(_says_where, fields))
    if told.count(None) == len(told) and dict not in map(type, fields.values()):  # nearly always
        return fields
    kept, changed = {}, False
    for (name, value), sure in zip(fields.items(), told, strict=True):
        if sure or (sure is not None and _counts(value)):
            changed = True
            continue
        kept[name] = _without(value, depth + 1) if type(value) is dict and depth < _DEEPEST else value
        changed = changed or kept[name] is not value
    return kept if changed else fields


@lru_cache(maxsize=8_192)
def leads_on(name: object) -> bool:
    """Whether a field of a result says where more is, and not what there is.

    >>> leads_on("nextPageToken"), leads_on("has_more"), leads_on("page")
    (True, True, False)
    """
    return isinstance(name, str) and ((plain := _plain(name)) in _MORE or plain in _POSITIONS)


@lru_cache(maxsize=8_192)
def _says_where(name: object) -> bool | None:
    """Whether a name says for certain, or only perhaps (False), where to go on; None: it does not."""
    if not isinstance(name, str):
        return None
    plain = _plain(name)
    return True if plain in _POSITIONS else False if plain in _MAYBE else None


def _plain(name: str) -> str:
    return name[:32].lower().replace("_", "").replace("-", "")


def _counts(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_counts, value))
    if isinstance(value, str):
        return _COUNT.fullmatch(value[:_LONGEST]) is not None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value < _TIMES  # a time says which thing, as a date does
