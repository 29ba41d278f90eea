"""What happens to budgets reaches the log and the application's callback, and a bad callback stays alone."""

from __future__ import annotations

import logging

import pytest

from spanfuse import guard
from spanfuse.announcing import WAITING, Announcer
from spanfuse_processor.engine.alerts import BudgetEvent, Condition
from spanfuse_processor.engine.budget import Account, Measure, Reaction
from spanfuse_processor.engine.verdicts import Mode


def event(spent: int = 8_000_000) -> BudgetEvent:
    return BudgetEvent(
        Account("daily"), Measure.USD, Condition.MARK, Reaction.WARN, Mode.ENFORCE,
        50.0, 0.0, 86_400.0, spent, 10_000_000, share=0.8,
    )  # fmt: skip


def test_an_event_waits_until_it_is_delivered_and_somebody_is_called_for() -> None:
    told: list[BudgetEvent] = []
    rung: list[bool] = []
    announcer = Announcer(told.append, lambda: rung.append(True))

    announcer.put(event())
    assert (told, rung) == ([], [True])
    announcer.deliver()

    assert told == [event()]


def test_an_event_is_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    announcer = Announcer(None, lambda: None)
    announcer.put(event())

    with caplog.at_level(logging.INFO, "spanfuse"):
        announcer.deliver()

    assert [record.getMessage() for record in caplog.records] == [event().words()]


def test_a_callback_that_fails_is_counted_and_called_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(guard.ENV_RERAISE, "0")
    before, told = guard.FAULTS.count, []

    def fail(seen: BudgetEvent) -> None:
        told.append(seen.spent)
        raise ValueError("no")

    announcer = Announcer(fail, lambda: None)
    announcer.put(event(1))
    announcer.put(event(2))
    announcer.deliver()

    assert (told, guard.FAULTS.count - before) == ([1, 2], 2)


def test_what_waits_is_bounded_and_the_newest_stay() -> None:
    told: list[int] = []
    announcer = Announcer(lambda seen: told.append(seen.spent), lambda: None)
    for spent in range(WAITING + 5):
        announcer.put(event(spent))

    announcer.deliver()

    assert (len(told), told[-1]) == (WAITING, WAITING + 4)
