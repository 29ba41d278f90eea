"""Every dashboard drawn, in dark and light: no panel fails, no text is cut off, no link leads nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.grafana.live.shown import Shown
from tests.grafana.made import MADE

from grafana.drawing import picture

LEAST = 40_000
"""Bytes of a picture with anything on it."""


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_it_is_drawn_and_nothing_is_cut_off(board: Shown, theme: str, pictures: Path) -> None:
    page = board.page(theme)
    to = pictures / f"{page.name}.png"

    report = picture(page, to)

    assert report.errors == []
    assert report.cut == []
    assert report.empty == []
    assert report.drawn == [answer.panel["title"] for answer in board.answers]
    assert to.stat().st_size > LEAST
    assert [link for link in report.links if "${" in link.replace("%7B", "{")] == []
    assert {link.split("?")[0] for link in report.links} <= {"/explore", *(f"/d/{uid}" for uid in MADE)}


def test_a_title_that_is_cut_off_is_seen(boards: dict[str, Shown], tmp_path: Path) -> None:
    board = boards["spanfuse-overview"]
    first, *others = board.answers
    long = first._replace(panel={**first.panel, "title": "How many calls to models there are each second"})

    report = picture(board.page("dark")._replace(answers=[long, *others]), tmp_path / "long.png")

    assert any("How many calls" in text for text in report.cut)
