"""The page of a dashboard: repeated panels stand beside each other, and everything is in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.grafana.made import MADE

from grafana.asking.answers import Answer
from grafana.asking.span import Span
from grafana.building import links
from grafana.drawing.page import RENDER, Page, standing, written
from grafana.lint.looks import DRAWN


def repeated(times: int) -> list[Answer]:
    place = {"x": 0, "y": 10, "w": 8, "h": 8}
    made: dict[str, Any] = {"id": 9, "repeat": "budget", "maxPerRow": 3, "gridPos": place, "title": "b"}
    return [Answer(made, [], [], {}) for _ in range(times)]


def test_repeated_panels_fill_a_row_and_then_the_next() -> None:
    places = [answer.panel["gridPos"] for answer in standing(repeated(4))]

    assert [(place["x"], place["y"], place["w"]) for place in places] == [
        (0, 10, 8),
        (8, 10, 8),
        (16, 10, 8),
        (0, 18, 8),
    ]


def test_two_that_are_repeated_share_the_row() -> None:
    assert [answer.panel["gridPos"]["w"] for answer in standing(repeated(2))] == [12, 12]


def test_a_page_holds_what_it_needs(tmp_path: Path) -> None:
    for name in ("page.js", "page.css"):
        (tmp_path / name).touch()
    frame = {"refId": "A", "fields": [{"name": "time", "type": "time", "values": [5_000]}]}
    page = Page(MADE[links.OVERVIEW], repeated(1), [frame], Span(0, 60), {"job": "s"}, "light")

    made = written(page, tmp_path)
    given = json.loads((tmp_path / "overview-light.js").read_text().partition("=")[2].rstrip(";"))

    assert 'src="overview-light.js"' in made.read_text()
    assert (given["trips"], given["to"], given["theme"]) == ([5_000], 60_000, "light")
    assert given["answers"][0]["panel"]["title"] == "b"


def test_every_kind_of_panel_has_a_component() -> None:
    kinds = (RENDER / "src" / "panels.jsx").read_text().partition("const KINDS = {")[2].partition("}")[0]

    assert {pair.partition(":")[0].strip() for pair in kinds.split(",")} >= DRAWN - {"traces"}


def test_no_version_of_what_draws_is_left_open() -> None:
    pinned = json.loads((RENDER / "package.json").read_text())["dependencies"]

    assert all(version[0].isdigit() for version in pinned.values())
    assert not (RENDER / "package-lock.json").exists()
