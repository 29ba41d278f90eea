"""Where panels stand, and whether what is written on them fits: nothing overlaps, nothing is cut off.

Rule 1: texts are measured as on a window of 1280 pixels, with the width of a letter on the safe side; that a
text fits in truth, the drawn page says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any, Final

from grafana.lint.finding import Finding, fields, named, panels

COLUMNS: Final = 24
COLUMN: Final = 1248 / COLUMNS
"""Pixels of a column of the grid, on a small window, its menu closed."""
_BESIDE_TITLE: Final = 16 + 32 + 8
"""Pixels that a title does not have: padding, the mark of the description, the gap between panels."""
_LETTER: Final = 7.6
"""Pixels of a letter of a title: 14 pixels high, medium."""
_HEAD: Final = 7.2
_BESIDE_HEAD: Final = 16
_LEAST_COLUMN: Final = 90
"""Pixels for a column whose width is not set."""


def findings(document: dict[str, Any]) -> Iterator[Finding]:
    """What is wrong with where things stand."""
    uid = document["uid"]
    standing = list(panels(document))
    yield from _numbers(uid, standing)
    yield from _overlaps(uid, [*standing, *(p for p in document["panels"] if p["type"] == "row")])
    for panel in standing:
        for message in (*_title(panel), *_table(panel)):
            yield Finding(uid, named(panel), message)


def _numbers(uid: str, standing: list[dict[str, Any]]) -> Iterator[Finding]:
    seen = Counter(panel.get("id") for panel in standing)
    for panel in standing:
        if not panel.get("id"):
            yield Finding(uid, named(panel), "has no id")
        elif seen[panel["id"]] > 1:
            yield Finding(uid, named(panel), f"shares its id {panel['id']}")
    titles = Counter(panel.get("title") for panel in standing)
    yield from (Finding(uid, str(title), "two panels of this title") for title, n in titles.items() if n > 1)


def _overlaps(uid: str, standing: list[dict[str, Any]]) -> Iterator[Finding]:
    taken: dict[tuple[int, int], str] = {}
    for panel in standing:
        place = panel["gridPos"]
        if place["x"] + place["w"] > COLUMNS:
            yield Finding(uid, named(panel), "stands beyond the edge")
        across = range(place["x"], place["x"] + place["w"])
        cells = list(product(across, range(place["y"], place["y"] + place["h"])))
        others = {taken[cell] for cell in cells if cell in taken}
        yield from (Finding(uid, named(panel), f"stands on {other}") for other in sorted(others))
        taken |= dict.fromkeys(cells, named(panel))


def _width(panel: dict[str, Any]) -> float:
    return float(panel["gridPos"]["w"]) * COLUMN


def _title(panel: dict[str, Any]) -> Iterator[str]:
    room = _width(panel) - _BESIDE_TITLE
    title = panel.get("title") or ""
    if len(title) * _LETTER > room:
        yield f"the title is cut off: {len(title)} letters, there is room for {int(room / _LETTER)}"


def _table(panel: dict[str, Any]) -> Iterator[str]:
    if panel["type"] != "table":
        return
    needed = 0.0
    for name, settings in fields(panel):
        if not name or "custom.hideFrom" in settings:
            continue
        width = settings.get("custom.width")
        needed += width or _LEAST_COLUMN
        if width and len(name) * _HEAD + _BESIDE_HEAD > width:
            yield f"the head of the column {name} is cut off"
    if needed > _width(panel) - 16:
        yield f"columns need {needed:.0f} pixels of {_width(panel) - 16:.0f}"
