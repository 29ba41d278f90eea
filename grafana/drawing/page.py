"""The page of one dashboard: where its panels stand, and what they are given."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from grafana.asking.answers import Answer
from grafana.asking.filling import Chosen
from grafana.asking.frames import Frame
from grafana.asking.span import Span

RENDER: Final = Path(__file__).parents[1] / "render"
WIDTH: Final = 1440
"""Pixels of the page: a laptop's, with Grafana's menu closed."""
_ROW: Final = 38
"""Pixels of a row of the grid, its gap with it."""
_HEAD: Final = 64


class Page(NamedTuple):
    """What is drawn: a dashboard, its answers, the marks on its lines, in one theme (dark, light)."""

    document: dict[str, Any]
    answers: Sequence[Answer]
    marks: Sequence[Frame]
    span: Span
    chosen: Chosen
    theme: str = "dark"

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"{self.document['uid'].removeprefix('spanfuse-')}-{self.theme}"

    @property
    def height(self) -> int:
        """Pixels from top to bottom."""
        places = [panel["gridPos"] for panel, *_ in standing(self.answers)]
        rows: int = max(place["y"] + place["h"] for place in places)
        return _HEAD + rows * _ROW


class Report(NamedTuple):
    """What a person would see.

    Attributes:
        errors: panels that could not be drawn, and why.
        cut: texts that do not fit where they stand.
        empty: panels that say that there is nothing.
        links: where clicks lead.
        drawn: titles of the panels.
    """

    errors: list[str]
    cut: list[str]
    empty: list[str]
    links: list[str]
    drawn: list[str]


def standing(answers: Sequence[Answer]) -> list[Answer]:
    """Answers with the places of repeated panels: beside each other, then below, as Grafana puts them."""
    placed, told = [], dict[int, int]()
    for answer in answers:
        panel = answer.panel
        if panel.get("repeat"):
            most = panel.get("maxPerRow", 4)
            of_it = sum(1 for each in answers if each.panel["id"] == panel["id"])
            at = told[panel["id"]] = told.get(panel["id"], -1) + 1
            place, width = panel["gridPos"], 24 // min(most, of_it)
            down = place["y"] + at // most * place["h"]
            panel = {**panel, "gridPos": {**place, "x": at % most * width, "y": down, "w": width}}
        placed.append(answer._replace(panel=panel))
    return placed


def written(page: Page, folder: Path) -> Path:
    """Writes the page into a folder, beside its script and style; returns the page.

    Raises:
        FileNotFoundError: `grafana/render` is not built.
    """
    for name in ("page.js", "page.css"):
        if not (folder / name).exists():
            shutil.copy(RENDER / "out" / name, folder / name)
    given = {
        "dashboard": page.document,
        "answers": [answer._asdict() for answer in standing(page.answers)],
        "trips": [at for frame in page.marks for at in _times(frame)],
        "from": round(page.span.since * 1000),
        "to": round(page.span.until * 1000),
        "chosen": page.chosen,
        "theme": page.theme,
        "width": WIDTH,
    }
    (folder / f"{page.name}.js").write_text(f"window.SPANFUSE = {json.dumps(given)};")
    made = folder / f"{page.name}.html"
    made.write_text((RENDER / "page.html").read_text().replace("__ANSWERS__", f"{page.name}.js"))
    return made


def _times(frame: Frame) -> list[int]:
    return [at for each in frame["fields"] if each["name"] == "time" for at in each["values"]]
