"""A destination that fails costs one line when that begins and one when it is over."""

from __future__ import annotations

import logging

import pytest

from spanfuse_processor.forwarding.news import QUIET, News


class Said:
    """The lines about one destination, on a clock of its own."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self.now = 0.0
        self.news = News("jaeger", lambda: self.now)
        self._records = caplog

    @property
    def lines(self) -> list[tuple[str, dict[str, object]]]:
        return [(each.getMessage(), each.__dict__["fields"]) for each in self._records.records]


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Said:
    caplog.set_level(logging.INFO, "spanfuse")
    return Said(caplog)


def test_an_outage_is_told_once_and_its_end_once(said: Said) -> None:
    for said.now in (0.0, 1.0, 200.0):
        said.news.away("UNAVAILABLE", 7)
    for said.now in (210.0, 211.0):
        said.news.well()

    assert [fields for _, fields in said.lines] == [
        {"destination": "jaeger", "reason": "UNAVAILABLE", "waiting": 7},
        {"destination": "jaeger", "seconds": 210.0},
    ]


def test_one_that_comes_and_goes_is_told_of_once_a_minute(said: Said) -> None:
    for second in range(120):
        said.now = float(second)
        said.news.away("x", 0)
        said.news.well()

    assert len(said.lines) == 4


def test_refusals_are_told_once_a_minute_with_their_number(said: Said) -> None:
    for said.now in (0.0, 1.0, 2.0, QUIET):
        said.news.refused("it answered 400")

    assert [fields["count"] for _, fields in said.lines] == [1, 3]


def test_a_refusal_shows_that_it_is_back(said: Said) -> None:
    said.news.away("x", 0)
    said.news.refused("it answered 400")

    assert [line for line, _ in said.lines][1] == "the destination is back"


def test_spans_that_are_not_taken_are_told_with_the_reason(said: Said) -> None:
    said.news.well(3, "too old")

    assert said.lines == [
        (
            "a destination does not take all spans of a request",
            {"destination": "jaeger", "reason": "too old", "count": 3},
        )
    ]
