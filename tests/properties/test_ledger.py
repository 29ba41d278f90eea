"""The ledger equals a dumb twin to the micro-dollar, whatever comes twice, late, never, or after a crash.

Wall time runs over midnight in three time zones and over days on which clocks are changed.
"""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.properties.ledger_twin import Twin

from spanfuse_processor.engine.budget import Account, Amounts, Budget, Measure, Period
from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.reach import Payer, Reach

BUDGETS = (
    Budget("everything", 1_000, zone="Asia/Kolkata"),
    Budget("strict", 300, strict=True, zone="Europe/Berlin"),
    Budget("users", 100, period=Period.HOURLY, per=("user",), strict=True, zone="America/New_York"),
    Budget("rolling", 200, Measure.TOKENS, Period.ROLLING, window=3_600.0, strict=True),
    Budget("chat", 500, Measure.CALLS, Period.WEEKLY, Reach(feature=("chat",)), zone="America/New_York"),
    Budget("months", 900, period=Period.MONTHLY, zone="America/Havana"),
    Budget("shifts", 400, zone="Asia/Kolkata", reset=6 * 3_600),
    Budget("runs", 80, period=Period.RUN, strict=True),
)

BEFORE = [
    datetime(2026, 3, 8, 4, 30, tzinfo=UTC),  # Havana and New York are about to skip an hour
    datetime(2026, 3, 28, 22, 0, tzinfo=UTC),  # Berlin is
    datetime(2026, 10, 24, 21, 30, tzinfo=UTC),  # Berlin is about to have one twice
    datetime(2026, 11, 1, 3, 0, tzinfo=UTC),  # Havana (its midnight) and New York are
    datetime(2026, 12, 31, 17, 0, tzinfo=UTC),
]

amounts = st.tuples(st.integers(0, 60), st.integers(0, 60)).map(lambda each: Amounts(*each))
payers = st.tuples(
    st.sampled_from(["chat", "mail"]), st.sampled_from(["", "ann", "bob"]), st.sampled_from(["", "r1", "r2"])
).map(lambda each: Payer(feature=each[0], user=each[1], run=each[2]))
keys = st.integers(0, 6).map(lambda number: number.to_bytes(2, "big"))
accounts = st.sampled_from(
    [Account("strict"), Account("rolling"), Account("users", ("ann",)), Account("everything")]
)


class LedgerAndTwin(RuleBasedStateMachine):
    """Does the same to both."""

    ledger: Ledger
    twin: Twin

    @initialize(start=st.sampled_from(BEFORE))
    def begin(self, start: datetime) -> None:
        self.wall = start.timestamp()
        self.ledger, self.twin = Ledger(BUDGETS, self.wall, journal=10_000), Twin(BUDGETS)
        self.budgets: tuple[Budget, ...] = BUDGETS
        self.lowered = False
        self.uses: list[tuple[Account, int, float]] = []
        self.entries: list[Entry] = []
        self.save()

    @rule(seconds=st.sampled_from([0.0, 0.5, 61.0, 700.0, 1_800.0, 3_600.0, 12_345.6, 86_400.0]))
    def wait(self, seconds: float) -> None:
        self.wall += seconds

    @rule(key=keys, payer=payers, amounts=amounts, ttl=st.sampled_from([30.0, 600.0, 90_000.0]))
    def reserve(self, key: bytes, payer: Payer, amounts: Amounts, ttl: float) -> None:
        expected = self.twin.reserve(key, payer, amounts, self.wall, ttl)

        assert self.ledger.reserve(key, payer, amounts, self.wall, ttl) == expected

    @rule(key=keys, amounts=amounts)
    def settle(self, key: bytes, amounts: Amounts) -> None:
        self.twin.settle(key, amounts, self.wall)
        self.ledger.settle(key, amounts, self.wall)

    @rule(key=keys)
    def cancel(self, key: bytes) -> None:
        self.twin.promised.pop(key, None)
        self.ledger.cancel(key, self.wall)

    @rule()
    def expire(self) -> None:
        assert set(self.ledger.expire(self.wall)) == self.twin.expire(self.wall)

    @rule(
        key=keys,
        payer=payers,
        amounts=amounts,
        ago=st.sampled_from([0.0, 1.0, 5_000.0, 100_000.0]),
        leased=st.sampled_from([(), ("strict",), ("strict", "users[ann]")]),
    )
    def span(self, key: bytes, payer: Payer, amounts: Amounts, ago: float, leased: tuple[str, ...]) -> None:
        ended = self.wall - ago
        self.twin.charge(key, payer, amounts, self.wall, ended, leased)
        self.ledger.charge(key, payer, amounts, self.wall, ended, leased)

    @rule(key=keys, amounts=amounts)
    def late_price(self, key: bytes, amounts: Amounts) -> None:
        self.twin.correct(key, amounts, self.wall)
        self.ledger.correct(key, amounts, self.wall)

    @rule(account=accounts, amount=st.integers(0, 90))
    def grant(self, account: Account, amount: int) -> None:
        if account.budget not in self.twin.budgets:
            with pytest.raises(KeyError):
                self.ledger.grant(account, amount, self.wall)
            return
        expected = self.twin.grant(account, amount, self.wall)

        assert self.ledger.grant(account, amount, self.wall) == expected

    @rule(account=accounts, amount=st.integers(0, 50))
    def give_back(self, account: Account, amount: int) -> None:
        self.twin.give_back(account, amount)
        self.ledger.give_back(account, amount, self.wall)

    @rule(account=accounts, amount=st.integers(0, 50))
    def use(self, account: Account, amount: int) -> None:
        self.twin.used(account, amount, self.wall)
        self.ledger.used(account, amount, self.wall)
        self.uses.append((account, amount, self.wall))

    @rule(share=st.sampled_from([0.0, 0.5, 1.0]))
    def refund(self, share: float) -> None:
        """Of what a lease was taken to have used."""
        if self.uses:
            account, used, at = self.uses.pop()
            self.twin.refund(account, int(used * share), self.wall, at)
            self.ledger.refund(account, int(used * share), self.wall, at)

    @rule(key=keys, new=keys)
    def rename(self, key: bytes, new: bytes) -> None:
        self.twin.rename(key, new)
        self.ledger.rename(key, new)

    @rule()
    def save(self) -> None:
        self.dumped = json.dumps(self.ledger.dump())
        self.then = copy.deepcopy(self.twin)
        self.entries += self.ledger.drain()
        self.since = len(self.entries)

    @rule()
    def restart(self) -> None:
        self.ledger = self.load(json.dumps(self.ledger.dump()))
        self.save()

    @rule()
    def crash(self) -> None:
        """With nothing written since the last dump: all of that is forgotten."""
        self.ledger, self.twin = self.load(self.dumped), self.then
        del self.entries[self.since :]  # numbers are given anew
        self.uses.clear()
        self.twin.renew(self.budgets)
        self.save()

    @rule()
    def crash_after_writing(self) -> None:
        """With everything written but what was reserved since the last dump."""
        self.entries += self.ledger.drain()
        self.ledger = self.load(self.dumped, self.entries)
        touched = {entry.key for entry in self.entries[self.since :]}
        standing = {key: each for key, each in self.then.promised.items() if key not in touched}
        self.twin.promised = copy.deepcopy(standing)
        self.twin.renew(self.budgets)
        self.save()

    @rule(share=st.sampled_from([50, 100, 150]))
    def renew(self, share: int) -> None:
        self.go_on_with(tuple(replace(each, limit=each.limit * share // 100) for each in BUDGETS))

    @rule(gone=st.sampled_from([range(8), range(0, 8, 2), range(1, 8, 2)]))
    def leave_out(self, gone: range) -> None:
        """The policy does not name all budgets, or none."""
        self.go_on_with(tuple(each for number, each in enumerate(BUDGETS) if number not in gone))

    def go_on_with(self, budgets: tuple[Budget, ...]) -> None:
        same = [each.name for each in budgets] == [each.name for each in self.budgets]
        self.lowered |= not same or [each.limit for each in budgets] < [each.limit for each in self.budgets]
        self.budgets = budgets
        self.twin.renew(budgets)
        self.ledger.renew(budgets, self.wall)

    def load(self, dumped: str, entries: list[Entry] | None = None) -> Ledger:
        return Ledger.load(self.budgets, json.loads(dumped), self.wall, entries=entries or (), journal=10_000)

    @invariant()
    def both_agree(self) -> None:
        known = {fact.account for fact in self.twin.facts} | set(self.ledger.balances(self.wall))
        for account in known:
            if account.budget not in self.twin.budgets:
                assert account not in self.ledger.balances(self.wall)
                continue
            balance = self.ledger.balance(account, self.wall)
            counted = (balance.spent, balance.calls, balance.late, balance.overrun)
            assert counted == self.twin.spent(account, self.wall), account
            assert balance.reserved == self.twin.reserved(account), account
            assert balance.start <= self.wall < balance.end or balance.end == self.wall
            assert balance.spent >= 0

    @invariant()
    def what_is_strict_is_not_overrun_but_by_what_nobody_reserved(self) -> None:
        if self.lowered:
            return
        for account, balance in self.ledger.balances(self.wall).items():
            if self.ledger.budget(account).strict:
                assert balance.spent + balance.reserved <= balance.limit + balance.overrun


TestLedgerAndTwin = LedgerAndTwin.TestCase
TestLedgerAndTwin.settings = settings(max_examples=120, stateful_step_count=50, deadline=None)
