"""The service's money: charged at once, kept behind, taken up by the next life."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest
from tests.accounting.house import MIDNIGHT, Clock, Desk, life
from tests.engine.making import span, trace

from spanfuse_processor.accounting.lending import HELLO
from spanfuse_processor.engine.alerts import Condition
from spanfuse_processor.engine.budget import Account, Budget, Measure
from spanfuse_processor.engine.budgets.leases import LeaseAsk, Result
from spanfuse_processor.engine.nouns import Usage
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.tree.spending import Amended
from spanfuse_processor.store import Store, StoreError
from spanfuse_processor.storing import open_store

DAILY = Budget("daily", 1_000_000)
STRICT = Budget("strict", 1_000_000, strict=True)


def test_a_spent_budget_is_ordered_to_stop_before_anything_else_happens() -> None:
    async def spend(desk: Desk) -> None:
        desk.call(1_200_000)
        assert desk.published == ["+budget/daily/stop"]

    desk = life(Desk(DAILY), spend)

    assert desk.money.board.alerts["daily", Condition.MARK.value] == 3


def test_what_was_spent_and_told_goes_on_in_the_next_life(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()

    async def spend(desk: Desk) -> None:
        desk.call(1_200_000)

    async def look(desk: Desk) -> None:
        assert desk.spent("daily") == 1_200_000
        assert desk.published == ["+budget/daily/stop"]

    life(Desk(DAILY, store=tmp_path / "s.db", clock=clock), spend)
    clock.now += 60.0
    caplog.clear()
    with caplog.at_level(logging.INFO, "spanfuse"):
        after = life(Desk(DAILY, store=tmp_path / "s.db", clock=clock), look)

    assert after.money.board.alerts["daily", Condition.MARK.value] == 0
    assert [record.getMessage() for record in caplog.records] == ["ordered"]


def test_every_call_is_in_the_bill_and_a_correction_replaces_its_row(tmp_path: Path) -> None:
    async def spend(desk: Desk) -> None:
        desk.call(1_000)
        desk.call(0, usage=None)
        desk.money.amended(Amended(trace(1), span(1), Usage(100, 10), 2_000))
        desk.money.settle()

    life(Desk(store=tmp_path / "s.db"), spend)
    store = open_store(f"sqlite:{tmp_path / 's.db'}")
    (total,) = store.spend((), 0.0, 1e12)
    store.close()

    assert (total.calls, total.cost) == (2, 2_000)


def test_events_are_kept_for_the_record(tmp_path: Path) -> None:
    async def spend(desk: Desk) -> None:
        desk.call(600_000)

    life(Desk(DAILY, store=tmp_path / "s.db"), spend)
    store = open_store(f"sqlite:{tmp_path / 's.db'}")
    kept = store.events(0.0, 1e12)
    store.close()

    assert [(row.kind, row.key) for row in kept] == [("budget", "daily")]


def test_a_changed_limit_holds_at_once_and_spent_money_stays_spent() -> None:
    async def spend(desk: Desk) -> None:
        desk.call(600_000)
        desk.money.renew(Policy(budgets=(replace(DAILY, limit=500_000),)))
        assert desk.spent("daily") == 600_000

    assert life(Desk(DAILY), spend).published == ["+budget/daily/stop"]


def test_strict_budgets_require_a_lease_for_as_long_as_they_exist() -> None:
    async def change(desk: Desk) -> None:
        desk.money.renew(Policy(budgets=(DAILY,)))

    assert life(Desk(STRICT), change).published == ["+budget/strict/lease", "-budget/strict/lease"]


def test_a_lease_is_answered_and_what_it_used_is_watched(tmp_path: Path) -> None:
    async def lease(desk: Desk) -> None:
        desk.clock.now += HELLO
        granted = desk.money.lease(LeaseAsk(Account("strict"), "one", "1", want=200_000))
        assert (granted.result, desk.money.leases) == (Result.GRANTED, 1)
        desk.money.lease(LeaseAsk(Account("strict"), "one", "2", used=200_000))
        assert desk.spent("strict") == 200_000
        desk.money.lease(LeaseAsk(Account("strict"), "one", "3", want=900_000, least=1, used=200_000))
        desk.money.lease(LeaseAsk(Account("strict"), "one", "4", used=1_000_000))

    desk = life(Desk(STRICT, store=tmp_path / "s.db"), lease)

    assert desk.published == ["+budget/strict/lease", "+budget/strict/stop"]
    assert desk.money.board.alerts["strict", Condition.MARK.value] == 3


def test_whose_leases_may_be_lost_lends_nothing_at_first() -> None:
    async def lease(desk: Desk) -> None:
        ask = LeaseAsk(Account("strict"), "one", "1", want=100)
        assert desk.money.lease(ask).result is Result.DENIED

    life(Desk(STRICT, store="memory:"), lease)


def test_a_store_that_is_away_is_said_and_nothing_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("spanfuse_processor.accounting.money.PATIENCE", 0.0)
    monkeypatch.setattr("spanfuse_processor.accounting.money.CLOSING", 0.1)
    (tmp_path / "file").write_text("no folder")

    async def spend(desk: Desk) -> None:
        desk.call(1_200_000)
        assert desk.published == ["+budget/daily/stop"]

    with caplog.at_level(logging.WARNING, "spanfuse"):
        desk = life(Desk(DAILY, store=tmp_path / "file" / "s.db"), spend)

    assert desk.faults == []
    assert "a store cannot be used" in caplog.text
    assert "does not answer" in caplog.text


def test_metrics_see_what_was_left_for_them() -> None:
    async def spend(desk: Desk) -> None:
        desk.call(250_000)
        assert desk.money.board.views[0].balance.spent == 0
        desk.clock.now += 1.0
        desk.money.advance()

    board = life(Desk(DAILY), spend).money.board

    assert board.views[0].balance.spent == 250_000
    assert board.looked == MIDNIGHT + 1.0
    assert board.spent == {"daily": (Measure.USD, 250_000)}


def test_a_deadline_is_on_the_monotonic_clock() -> None:
    async def wait(desk: Desk) -> None:
        desk.call(1_000)
        desk.money.advance()
        assert 0.0 < desk.money.next_deadline() - desk.clock.now <= 86_400.0

    life(Desk(DAILY), wait)


def test_a_store_that_comes_back_brings_what_was_spent_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spanfuse_processor.accounting.money.PATIENCE", 0.0)
    monkeypatch.setattr("spanfuse_processor.bookkeeping.books.CATCH_UP_EVERY", 0.01)
    clock, away = Clock(), [False]

    def open_or_fail(url: str) -> Store:
        if away[0]:
            raise StoreError("nobody answers")
        return open_store(url)

    monkeypatch.setattr("spanfuse_processor.bookkeeping.books.open_store", open_or_fail)

    async def before(desk: Desk) -> None:
        desk.call(400_000)

    async def after(desk: Desk) -> None:
        desk.call(300_000, of=2)
        assert desk.spent("daily") == 300_000
        away[0] = False
        assert desk.money._catching_up is not None
        await desk.money._catching_up
        assert desk.spent("daily") == 700_000
        desk.call(400_000, of=3)
        assert desk.published == ["+budget/daily/stop"]

    life(Desk(DAILY, store=tmp_path / "s.db", clock=clock), before)
    away[0] = True
    clock.now += 60.0
    late = life(Desk(DAILY, store=tmp_path / "s.db", clock=clock), after)

    assert late.money._treasury.spent == {"daily": 700_000}
