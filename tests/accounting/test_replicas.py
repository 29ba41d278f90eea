"""Two processors that keep one ledger: what one charges, the other counts and acts upon."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.accounting.house import Clock, Desk
from tests.waiting import until_loop

from spanfuse_processor.accounting.lending import HELLO
from spanfuse_processor.engine.budget import Account, Budget
from spanfuse_processor.engine.budgets.leases import LeaseAsk
from spanfuse_processor.store import LedgerGap
from spanfuse_processor.stores.sqlite import SqliteStore

DAILY = Budget("daily", 1_000_000)
STRICT = Budget("strict", 1_000_000, strict=True)
SOON = 10.0


async def soon(ready: Callable[[], object]) -> None:
    """Lets the loop run until it is so."""
    await until_loop(ready, SOON)


def both(tmp_path: Path, *budgets: Budget) -> tuple[Desk, Desk]:
    clock = Clock()
    return (
        Desk(*budgets, store=tmp_path / "s.db", clock=clock),
        Desk(*budgets, store=tmp_path / "s.db", clock=clock),
    )


def write(desk: Desk) -> None:
    """Hands on what changed."""
    desk.clock.now += 1.0
    desk.money.keep()


def spent(desk: Desk, account: str) -> int:
    views = desk.money.views(desk.clock.wall_ns() / 1e9)
    return sum(view.balance.spent for view in views if str(view.account) == account)


async def test_what_one_charges_has_the_other_order_a_stop(tmp_path: Path) -> None:
    one, other = both(tmp_path, DAILY)
    await one.money.open()
    await other.money.open()
    other.call(300_000, of=2)
    one.call(800_000)
    write(one)

    await soon(lambda: other.published)
    write(other)
    await soon(lambda: spent(one, "daily") == 1_100_000)

    assert spent(other, "daily") == 1_100_000
    assert one.published == other.published == ["+budget/daily/stop"]
    one.money._look(0.0)
    assert one.money.board.spent["daily"][1] == 800_000
    await one.money.close()
    await other.money.close()


async def test_what_one_lends_the_other_does_not(tmp_path: Path) -> None:
    one, other = both(tmp_path, STRICT)
    await one.money.open()
    await other.money.open()
    one.clock.now += HELLO
    one.money.lease(LeaseAsk(Account("strict"), "a", "1", want=250_000))
    write(one)

    await soon(lambda: other.money.views(0.0) and other.money.views(0.0)[0].balance.granted == 250_000)

    await one.money.close()
    await other.money.close()


async def test_who_was_cut_off_for_long_reads_the_whole_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    one, other = both(tmp_path, DAILY)
    await one.money.open()
    one.call(300_000)
    write(one)
    read = SqliteStore.read_ledger

    def gone(*_: object, **more: object) -> None:
        monkeypatch.setattr(SqliteStore, "read_ledger", read)
        raise LedgerGap("long ago")

    await other.money.open()
    other.call(200_000, of=2)
    monkeypatch.setattr(SqliteStore, "read_ledger", gone)
    await soon(lambda: "gone before it was read" in caplog.text)  # whichever looks first
    one.call(100_000)
    write(one)

    await soon(lambda: spent(other, "daily") == 600_000)
    write(other)
    await soon(lambda: spent(one, "daily") == 600_000)

    assert one.published == other.published
    await one.money.close()
    await other.money.close()
