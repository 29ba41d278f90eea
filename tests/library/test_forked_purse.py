"""The child of a fork holds nothing of its parent's money."""

from __future__ import annotations

import spanfuse
from spanfuse import assembly, runtime
from spanfuse.purse import Short
from spanfuse.purses.leased import LeasedPurse
from spanfuse_processor.engine.budget import Amounts, Budget
from spanfuse_processor.engine.budgets.leases import LeaseAnswer, Result
from spanfuse_processor.engine.budgets.requirements import requirement
from spanfuse_processor.engine.reach import Payer

TEN = Amounts(usd=10)


def purse() -> LeasedPurse:
    live = runtime.live()
    assert live is not None
    found = live.host.purse
    assert isinstance(found, LeasedPurse)
    assert live.payments.purse is found
    return found


def test_the_child_asks_for_itself() -> None:
    spanfuse.instrument(endpoint="127.0.0.1:1")
    live = runtime.live()
    assert live is not None
    live.board.post(requirement(Budget("daily", 1_000, strict=True), 1))
    parents = purse()
    parents.take(Payer(), TEN, waiter := object())
    [pool] = parents.pools
    ask = pool.ask(live.board.clock())
    answer = LeaseAnswer(Result.GRANTED, ask.lease, 100, 100, 3_600.0, 3_600.0)
    parents.heard(pool, ask, answer, live.board.clock())
    assert not isinstance(parents.take(Payer(), TEN, waiter), Short)

    assembly.after_fork()

    childs = purse()
    assert childs is not parents
    assert not childs.idle  # the order stands
    assert isinstance(childs.take(Payer(), TEN, object()), Short)
    live.host.stop()
