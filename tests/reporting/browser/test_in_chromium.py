"""The page as a real browser shows it: nothing cut off, nothing fetched, nothing on top of something else."""

from __future__ import annotations

import pytest
from tests.reporting.browser.chromium import complaints, opened
from tests.reporting.rows import START, event, material, steps

from spanfuse_processor.reporting import Material, page

TRIP = {
    "detector": "repeat",
    "rule": "equal",
    "message": "search was called 5 times",
    "observed": 5,
    "limit": 5,
}


def a_run() -> Material:
    return material(steps(60), [event("trip", START + 50.5, **TRIP)])


def a_day() -> Material:
    rows = [row for run in range(60) for row in steps(30, f"{run:06x}-run", START + 1_400 * run)]
    return material(rows, [event("trip", START + 40_000, run="00001c-run", **TRIP)], run="")


def ten_thousand() -> Material:
    return material(steps(10_000), [])


PAGES = {"a run": a_run, "a day": a_day, "ten thousand calls": ten_thousand}


@pytest.mark.parametrize("width", [1280, 800])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_cut_off_or_hidden(name: str, width: int) -> None:
    seen = opened(page(PAGES[name]()), width=width)

    assert seen["wide"] <= 0
    assert seen["outside"] == []
    assert seen["crossed"] == []
    assert seen["bars"] > 10
    assert seen["curve"] > 50


def test_the_stop_is_a_line_in_both_drawings_and_what_would_have_come_a_band() -> None:
    seen = opened(page(a_run()))

    assert seen["stops"] == 2
    assert [width > 50 for width in seen["band"]] == [True]


def test_it_is_dark_where_the_reader_likes_it_dark() -> None:
    assert opened(page(a_run()))["back"] == "rgb(255, 255, 255)"
    assert opened(page(a_run()), dark=True)["back"] == "rgb(14, 17, 22)"


def test_a_browser_has_nothing_to_complain_of() -> None:
    assert complaints(page(a_run())) == []


def test_the_page_forbids_what_would_be_fetched() -> None:
    """What watches the test before: a picture from elsewhere is refused, and said."""
    bad = page(a_run()).replace("</body>", '<img src="http://127.0.0.1:9/x.png"></body>')

    assert any("Content Security Policy" in line for line in complaints(bad))
