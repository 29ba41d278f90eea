"""What the treasury said goes to applications first, and then to everybody else, whoever of them fails."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence

import pytest
from tests.engine.budgets.days import DAILY, Day
from tests.waiting import until

from spanfuse_processor.accounting.telling import Telling
from spanfuse_processor.alerting.webhook import Webhook
from spanfuse_processor.engine.alerts import Condition, Notice
from spanfuse_processor.store import EventRow
from spanfuse_processor.telemetry.budgets import BudgetBoard


def said() -> list[Notice]:
    """What comes of a budget that is spent by one call: three marks and a stop."""
    return Day(DAILY).spend(12.0)


class Ears:
    """Everybody who is told, in the order of hearing."""

    def __init__(self, status: int = 200, *, broken: bool = False) -> None:
        self.heard: list[str] = []
        self.faults: list[str] = []
        self.board = BudgetBoard()
        self.status, self.broken = status, broken
        self.webhook = Webhook("http://127.0.0.1:9/", send=self.post, first=0.0)
        self.telling = Telling(self.publish, self.keep, self.webhook, self.board, self.fault)

    def publish(self, directives: Sequence[object], removals: Sequence[object]) -> None:
        self.heard.append("applications")

    def keep(self, rows: Sequence[EventRow]) -> None:
        if self.broken:
            raise ValueError("no room")
        self.heard.append(f"{len(rows)} rows")

    def post(self, url: str, body: bytes, fields: Mapping[str, str], timeout: float) -> int:
        self.heard.append("webhook")
        return self.status

    def fault(self, where: str, error: BaseException) -> None:
        self.faults.append(where)

    def tell(self, notices: Sequence[Notice]) -> None:
        async def once() -> None:
            self.telling.tell(notices)
            assert self.heard == (["applications"] if notices else [])
            await asyncio.sleep(0)

        asyncio.run(once())
        self.webhook.close()


def test_applications_hear_first_and_the_others_after() -> None:
    ears = Ears()

    ears.tell(said())

    assert ears.heard == ["applications", "3 rows", "webhook", "webhook", "webhook"]
    assert ears.board.alerts["daily", Condition.MARK.value] == 3


def test_nothing_said_is_nothing_told() -> None:
    ears = Ears()

    ears.tell([])

    assert ears.heard == []


def test_a_record_that_fails_keeps_nobody_from_hearing() -> None:
    ears = Ears(broken=True)

    ears.tell(said())

    assert ears.faults == ["events"]
    assert ears.heard.count("webhook") == 3


def test_each_event_and_each_order_is_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "spanfuse"):
        Ears().tell(said())

    levels = [(record.levelname, record.getMessage()[:12]) for record in caplog.records]
    assert levels == [
        ("INFO", "Budget daily"), ("INFO", "Budget daily"), ("WARNING", "Budget daily"), ("INFO", "ordered"),
    ]  # fmt: skip


def test_what_the_webhook_refuses_is_said(caplog: pytest.LogCaptureFixture) -> None:
    ears = Ears(status=410)
    ears.tell(said())
    until(lambda: ears.webhook.sent.failed == 3)
    caplog.clear()

    with caplog.at_level(logging.WARNING, "spanfuse"):
        ears.telling.advance(1.0)
        ears.telling.advance(2.0)

    assert [record.getMessage() for record in caplog.records] == [
        "the webhook does not take events",
        "events for the webhook are lost",
    ]
