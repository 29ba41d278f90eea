"""Orders that calls need a lease: given, given again, taken back."""

from __future__ import annotations

from dataclasses import replace

from spanfuse_processor.accounting.lending import AGAIN, HELLO, Lending
from spanfuse_processor.engine.budget import Account, Budget
from spanfuse_processor.engine.budgets.leases import LeaseAsk, Result
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.verdicts import Action

STRICT = Budget("strict", 1_000, strict=True)
LOOSE = Budget("loose", 1_000)


def lending() -> Lending:
    return Lending(Ledger([STRICT, LOOSE], 0.0), 0.0)


def test_only_strict_budgets_need_a_lease() -> None:
    directives, removals = lending().require([STRICT, LOOSE], 0.0)

    assert [(each.id, each.action) for each in directives] == [("budget/strict/lease", Action.REQUIRE_LEASE)]
    assert removals == []


def test_an_order_is_not_given_again_while_its_budget_is_the_same() -> None:
    room = lending()
    room.require([STRICT], 0.0)

    assert room.require([STRICT], 1.0) == ([], [])
    assert len(room.require([replace(STRICT, limit=5)], 2.0)[0]) == 1


def test_an_order_goes_with_its_budget() -> None:
    room = lending()
    room.require([STRICT], 0.0)

    _, removals = room.require([replace(STRICT, strict=False)], 1.0)

    assert [each.id for each in removals] == ["budget/strict/lease"]


def test_an_order_is_given_again_before_its_time_is_over() -> None:
    room = lending()
    room.require([STRICT], 0.0)
    room.advance(0.0)

    assert room.advance(AGAIN - 1.0) == []
    assert room.next_deadline() == AGAIN
    (again,) = room.advance(AGAIN)
    assert again.ttl > AGAIN / 2


def test_leases_go_on_in_the_next_life() -> None:
    ledger = Ledger([STRICT], 0.0)
    room = Lending(ledger, 0.0)
    room.resume(ledger, {"leases": []}, 0.0, clean=True)
    room.ask(LeaseAsk(Account("strict"), "one", "1", want=100), 0.0)

    after = Lending(ledger, 1.0)
    after.resume(Ledger.load([STRICT], ledger.dump(), 1.0), room.dump(), 1.0, clean=True)

    assert after.held == 1
    assert after.ask(LeaseAsk(Account("strict"), "two", "1", want=100), 1.0).result is Result.GRANTED


def test_a_first_life_waits_for_holders_whom_it_should_know() -> None:
    ledger = Ledger([STRICT], 0.0)
    room = Lending(ledger, 0.0)
    room.resume(ledger, {}, 0.0, clean=True)

    early = room.ask(LeaseAsk(Account("strict"), "one", "1", want=100), HELLO / 2)
    late = room.ask(LeaseAsk(Account("strict"), "one", "2", want=100), HELLO)

    assert (early.result, late.result) == (Result.DENIED, Result.GRANTED)


def test_after_an_end_unawares_nothing_is_lent_at_first() -> None:
    ledger = Ledger([STRICT], 0.0)
    room = Lending(ledger, 0.0)

    room.resume(ledger, {}, 0.0, clean=False)

    assert room.ask(LeaseAsk(Account("strict"), "one", "1", want=100), 1.0).result is Result.DENIED
