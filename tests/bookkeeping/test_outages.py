"""A store that is away is a line when that begins and one when it is over, and no fault of ours."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from tests.writing.stores import HandClock

from spanfuse_processor.bookkeeping.outages import QUIET, Outages
from spanfuse_processor.store import RowsRefused, StoreError
from spanfuse_processor.storing import LONGEST, reason

URL = "postgresql://ann:s3cret@db/spend"
AWAY = StoreError("postgresql: nobody there")


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def outages(clock: HandClock) -> Outages:
    return Outages(clock)


def said(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """The fields of each line; none has a traceback, and each is a warning."""
    assert all(each.exc_info is None and each.levelno == logging.WARNING for each in caplog.records)
    return [each.fields for each in caplog.records]  # type: ignore[attr-defined]


def test_an_outage_is_one_line_and_its_end_another(
    outages: Outages, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    for waiting in (5, 6, 7):
        outages.failed(URL, "rows", AWAY, waiting)
        clock.now += 100
    outages.succeeded(URL, "rows", 7, 2)
    outages.succeeded(URL, "rows", 0, 2)

    where = "postgresql://ann@db/spend"
    assert said(caplog) == [
        {"store": where, "reason": "postgresql: nobody there", "waiting": 5},
        {"store": where, "seconds": 300.0, "waiting": 7, "dropped": 2},
    ]


def test_a_store_is_back_when_all_who_failed_have_succeeded(
    outages: Outages, caplog: pytest.LogCaptureFixture
) -> None:
    outages.failed(URL, "rows", AWAY, 0)
    outages.failed(URL, "others", AWAY, 0)
    outages.succeeded(URL, "others", 0, 0)
    assert len(said(caplog)) == 1

    outages.succeeded(URL, "rows", 0, 0)
    assert len(said(caplog)) == 2


def test_each_store_is_told_of(outages: Outages, caplog: pytest.LogCaptureFixture) -> None:
    outages.failed(URL, "rows", AWAY, 0)
    outages.failed("redis://cache", "ledger", AWAY, 0)

    assert [fields["store"] for fields in said(caplog)] == ["postgresql://ann@db/spend", "redis://cache"]


def test_a_store_that_comes_and_goes_is_told_of_once_a_minute_and_one_that_stays_away_in_the_end(
    outages: Outages, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(10):
        outages.failed(URL, "rows", AWAY, 0)
        outages.succeeded(URL, "rows", 0, 0)
        clock.now += 1
    assert len(said(caplog)) == 2

    outages.failed(URL, "rows", AWAY, 0)
    clock.now += QUIET
    outages.failed(URL, "rows", AWAY, 0)
    assert len(said(caplog)) == 3


def test_rows_that_are_refused_are_told_of_once_a_minute(
    outages: Outages, clock: HandClock, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        outages.refused(URL, RowsRefused("too large"))
        clock.now += QUIET / 2

    assert [(each["reason"], each["refused"]) for each in said(caplog)] == [
        ("too large", 1),
        ("too large", 3),
    ]


def test_a_gap_is_no_fault(outages: Outages, caplog: pytest.LogCaptureFixture) -> None:
    outages.gap(URL)

    assert said(caplog) == [{"store": "postgresql://ann@db/spend"}]


@pytest.mark.parametrize("url", ["redis://:p%40ss@cache", "redis://:p@ss@cache"])
def test_no_password_is_in_a_reason(url: str) -> None:
    assert "p@ss" not in reason(StoreError("no user 'p@ss'"), url)
    assert "p%40ss" not in reason(StoreError(f"bad: {url}"), url)


def test_a_reason_is_one_line_of_some_length() -> None:
    assert reason(StoreError("a\n\tb"), "memory:") == "a b"
    assert reason(StoreError(), "memory:") == "StoreError"
    assert len(reason(StoreError("x" * 1_000), "redis://[")) == LONGEST
