"""Of a store that cannot be used there is one line when that begins, and one when it is over."""

from __future__ import annotations

import pytest
from tests.library.making import Clock

from spanfuse.outages import QUIET, Outage
from spanfuse_processor.store import RowsRefused, StoreError

URL = "postgresql://ann:secret@db.example/spend"


def test_one_failure_is_none(caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage(URL, "so what", Clock())
    outage.failed(StoreError("locked"))
    outage.back()
    outage.failed(StoreError("locked"))

    assert not caplog.records


def test_it_is_said_once_without_the_password_and_so_is_its_end(caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage(URL, "it is not kept", Clock())
    for _ in range(5):
        outage.failed(StoreError("no route to secret"))
    outage.back()
    outage.back()

    first, second = (record.getMessage() for record in caplog.records)
    assert "it is not kept" in first
    assert "secret" not in first
    assert "can be used again" in second


def test_one_that_comes_and_goes_is_told_of_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    outage = Outage(URL, "so what", clock)
    for _ in range(3):
        outage.failed(StoreError("away"))
        outage.failed(StoreError("away"))
        outage.back()
    assert len(caplog.records) == 2

    clock.pass_(QUIET)
    outage.failed(StoreError("away"))
    outage.failed(StoreError("away"))
    assert len(caplog.records) == 3


def test_a_row_that_no_store_holds_is_no_outage(caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage(URL, "so what", Clock())
    outage.failed(RowsRefused("too large"))
    outage.back()

    (record,) = caplog.records
    assert "left out" in record.getMessage()
