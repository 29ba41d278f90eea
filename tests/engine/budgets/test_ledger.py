"""The ledger: reserved in all or none, charged once, whatever comes twice, late, or not at all."""

from __future__ import annotations

import pytest
from tests.engine.budgets.ledgers import CHAT, DAILY, DAY, NOON, ledger, usd

from spanfuse_processor.engine.budget import Account, Amounts, Budget, Measure, Period
from spanfuse_processor.engine.budgets import reservations
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.reach import Payer, Reach
from spanfuse_processor.engine.verdicts import Mode

USERS = Budget("users", 40, per=("user",), strict=True)
ANN = Account("users", ("ann",))


def counted(money: Ledger, account: Account = DAILY, wall: float = NOON) -> tuple[int, int]:
    balance = money.balance(account, wall)
    return balance.spent, balance.reserved


def test_of_fifty_calls_at_once_as_many_are_let_through_as_there_is_money_for() -> None:
    money = ledger()
    refused = [money.reserve(bytes([number]), CHAT, usd(10), NOON) for number in range(50)]

    assert refused == [None] * 10 + [DAILY] * 40
    assert counted(money) == (0, 100)
    for number in range(50):
        money.settle(bytes([number]), usd(9), NOON)
    assert counted(money) == (90, 0)
    assert money.stats.refused == 40


def test_a_call_is_reserved_in_every_strict_account_or_in_none() -> None:
    money = ledger(Budget("daily", 100, strict=True), USERS)

    assert money.reserve(b"a", CHAT, usd(30), NOON) is None
    assert money.reserve(b"b", CHAT, usd(30), NOON) == ANN
    assert (counted(money), counted(money, ANN)) == ((0, 30), (0, 30))


def test_what_is_not_strict_or_not_enforced_refuses_nothing_and_counts_all() -> None:
    money = ledger(Budget("soft", 10), Budget("tried", 10, strict=True, mode=Mode.SHADOW))

    assert money.reserve(b"a", CHAT, usd(30), NOON) is None
    assert money.settle(b"a", usd(30), NOON) == (Account("soft"), Account("tried"))
    assert counted(money, Account("soft")) == counted(money, Account("tried")) == (30, 0)


def test_a_call_that_costs_an_account_nothing_is_not_refused_by_it() -> None:
    money = ledger(Budget("daily", 100, strict=True), Budget("tokens", 5, Measure.TOKENS, strict=True))

    assert money.reserve(b"a", CHAT, Amounts(100, 5), NOON) is None
    assert money.reserve(b"b", CHAT, Amounts(0, 0), NOON) is None
    assert money.reserve(b"c", CHAT, Amounts(0, 1), NOON) == Account("tokens")


def test_a_promise_made_twice_is_one_and_a_paid_call_needs_none() -> None:
    money = ledger()
    money.reserve(b"a", CHAT, usd(30), NOON)
    money.reserve(b"a", CHAT, usd(30), NOON)
    assert counted(money) == (0, 30)

    money.settle(b"a", usd(20), NOON)
    money.reserve(b"a", CHAT, usd(30), NOON)
    assert counted(money) == (20, 0)


def test_a_call_is_settled_once() -> None:
    money = ledger()
    money.reserve(b"a", CHAT, usd(30), NOON)

    assert money.settle(b"a", usd(25), NOON) == (DAILY,)
    assert money.settle(b"a", usd(25), NOON) == ()
    assert money.charge(b"a", CHAT, usd(25), NOON, NOON) == ()
    assert money.settle(b"never", usd(25), NOON) == ()
    assert counted(money) == (25, 0)
    assert money.stats.duplicates == 2


def test_the_span_of_a_reserved_call_settles_it() -> None:
    money = ledger()
    money.reserve(b"a", CHAT, usd(30), NOON)

    assert money.charge(b"a", CHAT, usd(12), NOON, NOON) == (DAILY,)
    assert counted(money) == (12, 0)


def test_a_span_that_says_another_payer_is_charged_there_and_where_it_was_admitted() -> None:
    cheap = Budget("cheap", 50, reach=Reach(model=("gpt-4o",)), strict=True)
    other = Budget("other", 50, reach=Reach(model=("gpt-5",)), strict=True)
    money = ledger(cheap, other)
    money.reserve(b"a", CHAT, usd(30), NOON)

    charged = money.charge(b"a", CHAT._replace(model="gpt-5"), usd(12), NOON, NOON)

    assert set(charged) == {Account("cheap"), Account("other")}
    assert counted(money, Account("cheap")) == counted(money, Account("other")) == (12, 0)
    assert money.balance(Account("other"), NOON).overrun == 12


def test_a_call_that_was_never_made_gives_everything_back() -> None:
    money = ledger()
    money.reserve(b"a", CHAT, usd(30), NOON)
    money.cancel(b"a", NOON)
    money.cancel(b"a", NOON)

    assert counted(money) == (0, 0)
    assert money.charge(b"a", CHAT, usd(5), NOON, NOON) == (DAILY,)


def test_a_dead_call_is_charged_as_reserved_and_put_right_once_when_its_usage_comes() -> None:
    money = ledger()
    money.reserve(b"a", CHAT, usd(30), NOON, ttl=60.0)
    money.reserve(b"b", CHAT, usd(30), NOON)

    assert money.next_deadline() == NOON + 60
    assert money.expire(NOON + 59) == ()
    assert money.expire(NOON + 60) == (b"a",)
    assert counted(money) == (30, 30)
    assert money.charge(b"a", CHAT, usd(12), NOON + 70, NOON + 70) == (DAILY,)
    assert money.settle(b"a", usd(99), NOON + 70) == ()
    assert counted(money) == (12, 30)


def test_of_too_many_reservations_the_oldest_are_taken_for_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("reservations", "ledger"):
        monkeypatch.setattr(f"spanfuse_processor.engine.budgets.{module}.HELD", 16)
    money = ledger()
    for number in range(17):
        money.reserve(bytes([number]), CHAT, usd(1), NOON + number)

    assert counted(money, wall=NOON + 17) == (2, 15)
    assert reservations.HELD == 16


def test_an_estimate_that_was_too_low_is_counted_as_overrun() -> None:
    money = ledger()
    money.reserve(b"a", CHAT, usd(95), NOON)
    money.settle(b"a", usd(120), NOON)

    balance = money.balance(DAILY, NOON)
    assert (balance.spent, balance.overrun, balance.left) == (120, 25, 0)


def test_what_is_promised_at_midnight_is_promised_of_the_next_day_and_charged_to_it() -> None:
    money = ledger(wall=NOON)
    money.charge(b"y", CHAT, usd(60), NOON, NOON)
    money.reserve(b"a", CHAT, usd(40), NOON)
    midnight = NOON + DAY / 2

    assert money.reserve(b"b", CHAT, usd(61), midnight) == DAILY
    assert money.reserve(b"c", CHAT, usd(60), midnight) is None
    money.charge(b"a", CHAT, usd(40), midnight, midnight - 1)
    balance = money.balance(DAILY, midnight)
    assert (balance.spent, balance.reserved, balance.late, balance.start) == (40, 60, 40, midnight)


def test_a_period_that_is_over_is_told_once() -> None:
    money = ledger()
    money.charge(b"a", CHAT, usd(60), NOON, NOON)
    midnight = NOON + DAY / 2

    assert money.next_deadline() == midnight
    assert money.close(midnight - 1) == ()
    assert money.close(midnight + DAY) == ((DAILY, midnight - DAY, midnight, 60, 1),)
    assert money.close(midnight + DAY) == ()
    assert money.next_deadline() == midnight + 2 * DAY


def test_a_price_that_comes_late_corrects_what_was_charged_in_its_period() -> None:
    money = ledger()
    money.charge(b"a", CHAT, usd(0), NOON, NOON, unpriced=True)
    assert money.balance(DAILY, NOON).unpriced == 1

    assert money.correct(b"a", usd(30), NOON) == (DAILY,)
    assert money.correct(b"a", usd(20), NOON) == (DAILY,)
    assert money.correct(b"a", usd(20), NOON) == ()
    assert money.correct(b"never", usd(20), NOON) == ()
    balance = money.balance(DAILY, NOON)
    assert (balance.spent, balance.calls, balance.unpriced) == (20, 1, 0)


def test_a_correction_takes_nothing_from_a_day_that_is_over_and_charges_more_to_today() -> None:
    money = ledger()
    money.charge(b"a", CHAT, usd(30), NOON, NOON)
    tomorrow = NOON + DAY

    assert money.correct(b"a", usd(10), tomorrow) == ()
    assert counted(money, wall=tomorrow) == (0, 0)
    assert money.correct(b"a", usd(25), tomorrow) == (DAILY,)
    balance = money.balance(DAILY, tomorrow)
    assert (balance.spent, balance.late) == (15, 15)


def test_what_a_lease_pays_for_is_counted_and_charged_when_its_use_is_told() -> None:
    money = ledger(Budget("daily", 100, strict=True), Budget("all", 900))

    assert money.grant(DAILY, 60, NOON) == 60
    assert money.grant(DAILY, 60, NOON) == 40
    assert money.reserve(b"a", CHAT, usd(1), NOON) == DAILY
    assert money.charge(b"b", CHAT, usd(10), NOON, NOON, leased=("daily",)) == (Account("all"),)
    assert money.charge(b"b", CHAT, usd(10), NOON, NOON, leased=("daily",)) == ()
    assert money.balance(DAILY, NOON)[:2] == (100, 0)
    money.used(DAILY, 10, NOON)
    money.give_back(DAILY, 50, NOON)
    balance = money.balance(DAILY, NOON)
    assert (balance.spent, balance.granted, balance.reserved, balance.calls) == (10, 40, 40, 1)
    with pytest.raises(KeyError):
        money.grant(Account("none"), 1, NOON)


def test_what_a_lease_used_beyond_its_grant_is_overrun_and_a_refund_is_not() -> None:
    money = ledger()
    money.grant(DAILY, 30, NOON)
    money.used(DAILY, 40, NOON, held=20)
    assert money.balance(DAILY, NOON)[:3] == (100, 40, 10)
    assert money.balance(DAILY, NOON).overrun == 20

    money.refund(DAILY, 15, NOON, at=NOON)
    assert counted(money) == (25, 10)
    money.refund(DAILY, 15, NOON + DAY, at=NOON)
    assert counted(money, wall=NOON + DAY) == (0, 10)


def test_a_reservation_goes_on_under_its_spans_name() -> None:
    money = ledger()
    money.reserve(b"a", CHAT, usd(30), NOON)
    money.rename(b"a", b"span")
    money.rename(b"a", b"other")

    assert counted(money) == (0, 30)
    assert money.settle(b"span", usd(10), NOON) == (DAILY,)
    assert counted(money) == (10, 0)


def test_a_rename_to_a_call_that_was_charged_or_reserved_gives_the_promise_back() -> None:
    money = ledger()
    money.charge(b"paid", CHAT, usd(5), NOON, NOON)
    money.reserve(b"kept", CHAT, usd(7), NOON)
    for name in (b"paid", b"kept"):
        money.reserve(b"a", CHAT, usd(30), NOON)
        money.rename(b"a", name)

    assert counted(money) == (5, 7)


def test_runs_have_budgets_of_their_own() -> None:
    money = ledger(Budget("run", 2, Measure.CALLS, Period.RUN, strict=True))
    keys = iter(range(9))
    made = [money.reserve(bytes([next(keys)]), Payer(run=run), Amounts(), NOON) for run in "aabab"]

    assert made == [None, None, None, Account("run", ("a",)), None]


def test_other_budgets_keep_what_was_spent_and_promised() -> None:
    money = ledger(Budget("daily", 100, strict=True), Budget("gone", 5))
    money.charge(b"a", CHAT, usd(60), NOON, NOON)
    money.reserve(b"b", CHAT, usd(30), NOON)
    money.renew([Budget("daily", 80, strict=True), Budget("new", 50, strict=True)], NOON)

    assert counted(money) == (60, 30)
    assert counted(money, Account("new")) == (0, 30)
    assert money.reserve(b"c", CHAT, usd(1), NOON) == DAILY
    assert set(money.settle(b"b", usd(20), NOON)) == {DAILY, Account("new")}
    assert counted(money) == (80, 0)
    with pytest.raises(KeyError):
        money.balance(Account("gone"), NOON)


def test_accounts_are_bounded_and_those_put_away_too_early_are_counted() -> None:
    money = Ledger([USERS], NOON, books=8)
    for number in range(20):
        money.charge(bytes([number]), Payer(user=f"u{number}"), usd(1), NOON + number, NOON)

    assert len(money.balances(NOON + 20)) == 20 - money.stats.evicted == 8


def test_a_balance_of_what_nothing_was_charged_to_is_empty_and_opens_nothing() -> None:
    money = ledger(USERS)

    assert money.balance(ANN, NOON)[:3] == (40, 0, 0)
    assert money.balances(NOON) == {}
    assert money.accounts(CHAT) == (ANN,)
    assert money.budget(ANN) is USERS
    assert money.charge(b"a", Payer(), usd(1), NOON, NOON) == ()
