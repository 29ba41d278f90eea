"""What the ledger keeps for leases, and for calls that have no span yet."""

from __future__ import annotations

from spanfuse_processor.engine.budget import Account, Amounts, Budget
from spanfuse_processor.engine.budgets.leases import LeaseAsk
from spanfuse_processor.engine.budgets.leasing import TTL, LeaseOffice
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.reach import Payer

T = 1_700_000_000.0
DAILY = Account("daily")


def a_ledger() -> Ledger:
    return Ledger([Budget("daily", 1_000, strict=True)], T, journal=100)


def test_the_overrun_of_one_lease_leaves_what_others_hold() -> None:
    ledger = a_ledger()
    ledger.grant(DAILY, 100, T)
    ledger.grant(DAILY, 100, T)

    ledger.used(DAILY, 150, T, 100)

    balance = ledger.balance(DAILY, T)
    assert (balance.spent, balance.granted, balance.overrun) == (150, 100, 50)


def test_a_refund_takes_back_what_was_charged_in_this_period_only() -> None:
    ledger = a_ledger()
    ledger.used(DAILY, 100, T, 0)

    ledger.refund(DAILY, 60, T + 1, T)
    ledger.refund(DAILY, 60, T + 1, T - 86_400)

    assert ledger.balance(DAILY, T + 1).spent == 40


def test_a_reservation_goes_on_under_the_name_of_its_span() -> None:
    ledger = a_ledger()
    ledger.reserve(b"taken", Payer(), Amounts(usd=100), T)

    ledger.rename(b"taken", b"span")
    ledger.cancel(b"taken", T)
    assert ledger.balance(DAILY, T).reserved == 100

    ledger.settle(b"span", Amounts(usd=70), T)
    assert (ledger.balance(DAILY, T).reserved, ledger.balance(DAILY, T).spent) == (0, 70)


def test_the_journal_tells_of_leases_what_the_ledger_holds() -> None:
    ledger = a_ledger()
    office = LeaseOffice(ledger, T)
    dump = ledger.dump()

    office.ask(LeaseAsk(DAILY, "a", "1", want=200), T)
    office.ask(LeaseAsk(DAILY, "b", "1", want=100), T)
    office.ask(LeaseAsk(DAILY, "a", "2", used=250, want=10), T + 1)
    office.expire(T + TTL)
    office.ask(LeaseAsk(DAILY, "b", "2", used=30), T + TTL + 1)
    again = Ledger.load([Budget("daily", 1_000, strict=True)], dump, T, entries=ledger.drain())

    assert again.balance(DAILY, T + 60) == ledger.balance(DAILY, T + 60)
    assert ledger.balance(DAILY, T + 60).overrun == 50


def test_a_crash_after_the_dump_charges_nothing_twice() -> None:
    """The journal tells the office, too, which lease was granted and used what."""
    ledger = a_ledger()
    office = LeaseOffice(ledger, T)
    office.ask(LeaseAsk(DAILY, "a", "1", want=200), T)
    kept, beside = ledger.dump(), office.dump()
    ledger.drain()
    office.ask(LeaseAsk(DAILY, "a", "2", used=120, held=80, want=50), T + 1)
    office.ask(LeaseAsk(DAILY, "b", "1", want=100), T + 1)
    entries = ledger.drain()

    again = Ledger.load([Budget("daily", 1_000, strict=True)], kept, T + 2, entries=entries)
    after = LeaseOffice(again, T + 2, clean=False)
    after.load(beside, entries)
    after.ask(LeaseAsk(DAILY, "a", "3", used=150, held=100), T + 3)
    after.ask(LeaseAsk(DAILY, "b", "2", used=40, release=True), T + 3)

    balance = again.balance(DAILY, T + 3)
    assert (balance.spent, balance.granted, balance.overrun) == (190, 100, 0)
