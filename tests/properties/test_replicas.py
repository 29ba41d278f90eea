"""Two ledgers that read each other's entries come to the same as one dumb twin, to the micro-dollar.

In whatever slices and with whatever delay they read, over the ends of periods and through crashes. A span
that reaches both before they have read of each other reaches them at the same moment here: else the call
belongs to the moment at which each of them heard of it, which may be another period. Once they have disagreed
about what a call used, how much was late or an overrun is not promised, only what was spent.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from tests.properties.ledger_twin import Fact, Twin

from spanfuse_processor.engine.budget import Account, Amounts, Budget, Measure, Period
from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.reach import Payer, Reach
from spanfuse_processor.store import Written
from spanfuse_processor.writing.keeping import in_order, numbered_on

BUDGETS = (
    Budget("everything", 10_000, zone="Asia/Kolkata"),
    Budget("strict", 3_000, strict=True, zone="Europe/Berlin"),
    Budget("users", 1_000, period=Period.HOURLY, per=("user",), strict=True, zone="America/New_York"),
    Budget("rolling", 2_000, Measure.TOKENS, Period.ROLLING, window=3_600.0),
    Budget("chat", 500, Measure.CALLS, Period.WEEKLY, Reach(feature=("chat",))),
    Budget("tokens", 5_000, Measure.TOKENS, Period.MONTHLY),
)
START = datetime(2026, 10, 31, 21, 30, tzinfo=UTC).timestamp()

both = st.sampled_from([0, 1])
amounts = st.tuples(st.integers(0, 60), st.integers(0, 60)).map(lambda each: Amounts(*each))
payers = st.tuples(st.sampled_from(["chat", "mail"]), st.sampled_from(["", "ann", "bob"])).map(
    lambda each: Payer(feature=each[0], user=each[1])
)
leases = st.sampled_from([Account("strict"), Account("users", ("ann",))])
leased = st.sampled_from([(), (), ("strict",), ("strict", "users[ann]")])


class Replica:
    """A ledger, what it has written, and how much it has read of the other."""

    def __init__(self) -> None:
        self.ledger = Ledger(BUDGETS, START, journal=100_000)
        self.log: list[Entry] = []
        self.read = 0
        self.lent: dict[Account, int] = {}
        self.save()

    def write(self) -> None:
        self.log += self.ledger.drain()

    def save(self) -> None:
        self.write()
        self.dumped = json.dumps(self.ledger.dump()), len(self.log), self.read

    def follow(self, other: Replica, most: int) -> None:
        entries = other.log[self.read : self.read + most]
        self.write()
        self.ledger.follow(entries)
        self.read += len(entries)
        assert not self.ledger.drain()

    def restore(self, other: Replica, wall: float) -> None:
        """From the dump, and from all that was written after it by either."""
        self.write()
        dumped, own, read = self.dumped
        logs = {"own": self.log[own:], "other": other.log[read:]}
        tail = [Written(name, 0, entry) for name, log in logs.items() for entry in log]
        dump = json.loads(dumped)
        entries = numbered_on(dump, (), [each.entry for each in in_order(tail)])
        self.ledger = Ledger.load(BUDGETS, dump, wall, entries=entries, journal=100_000)
        self.read = len(other.log)
        self.save()


class Replicas(RuleBasedStateMachine):
    """Whatever is done to one of both is done to the twin."""

    @initialize()
    def begin(self) -> None:
        self.wall, self.twin = START, Twin(BUDGETS)
        self.replicas = Replica(), Replica()
        self.spans: list[tuple[bytes, Payer, tuple[str, ...]]] = []
        self.disputed = False
        self.uses: list[tuple[int, Account, int, float]] = []

    @rule(seconds=st.sampled_from([0.5, 61.0, 700.0, 3_600.0, 12_345.6, 86_400.0]))
    def wait(self, seconds: float) -> None:
        self.wall += seconds

    @rule(at=both, payer=payers, amounts=amounts, leased=leased, ago=st.sampled_from([0.0, 5_000.0]))
    def span(self, at: int, payer: Payer, amounts: Amounts, leased: tuple[str, ...], ago: float) -> None:
        key = len(self.spans).to_bytes(2, "big")
        self.spans.append((key, payer, leased))
        self.twin.charge(key, payer, amounts, self.wall, self.wall - ago, leased)
        self.replicas[at].ledger.charge(key, payer, amounts, self.wall, self.wall - ago, leased)

    @rule(payer=payers, one=amounts, other=amounts, leased=leased)
    def span_that_both_judge(
        self, payer: Payer, one: Amounts, other: Amounts, leased: tuple[str, ...]
    ) -> None:
        """And not quite alike: the greater amount counts, in each measure."""
        self.disputed |= one != other
        key = len(self.spans).to_bytes(2, "big")
        self.spans.append((key, payer, leased))
        self.twin.charge(key, payer, Amounts(*map(max, one, other)), self.wall, self.wall, leased)
        for replica, amounts in zip(self.replicas, (one, other), strict=True):
            replica.ledger.charge(key, payer, amounts, self.wall, self.wall, leased)

    @rule(payer=payers, reserved=amounts, used=amounts, at=both)
    def call_that_one_takes_for_dead(self, payer: Payer, reserved: Amounts, used: Amounts, at: int) -> None:
        """One had reserved it, for the other it is an overrun."""
        self.disputed = True
        key = len(self.spans).to_bytes(2, "big")
        dead, judge = self.replicas[at].ledger, self.replicas[1 - at].ledger
        if dead.reserve(key, payer, reserved, self.wall, 0.0) is not None:
            return
        self.spans.append((key, payer, ()))
        dead.expire(self.wall)
        judge.charge(key, payer, used, self.wall, self.wall)
        self.twin.charge(key, payer, used, self.wall, self.wall)

    @precondition(lambda self: self.spans)
    @rule(data=st.data(), at=both, amounts=amounts)
    def span_that_comes_again(self, data: st.DataObject, at: int, amounts: Amounts) -> None:
        key, payer, leased = data.draw(st.sampled_from(self.spans))
        self.read_all(at)
        self.replicas[at].ledger.charge(key, payer, amounts, self.wall, self.wall, leased)

    @precondition(lambda self: self.spans)
    @rule(data=st.data(), at=both, amounts=amounts)
    def late_price(self, data: st.DataObject, at: int, amounts: Amounts) -> None:
        key, _, _ = data.draw(st.sampled_from(self.spans))
        self.read_all(at)
        self.twin.correct(key, amounts, self.wall)
        self.replicas[at].ledger.correct(key, amounts, self.wall)

    @rule(payer=payers, first=amounts, one=amounts, other=amounts)
    def late_price_that_both_find(self, payer: Payer, first: Amounts, one: Amounts, other: Amounts) -> None:
        self.disputed = True
        self.span(0, payer, first, (), 0.0)
        key = self.spans[-1][0]
        self.read_all(1)
        self.twin.correct(key, Amounts(*map(max, one, other)), self.wall)
        for replica, amounts in zip(self.replicas, (one, other), strict=True):
            replica.ledger.correct(key, amounts, self.wall)

    @rule(at=both, account=leases, amount=st.integers(0, 400))
    def grant(self, at: int, account: Account, amount: int) -> None:
        replica = self.replicas[at]
        granted = replica.ledger.grant(account, amount, self.wall)
        replica.lent[account] = replica.lent.get(account, 0) + granted
        self.twin.granted[account] = self.twin.granted.get(account, 0) + granted

    @rule(at=both, account=leases, amount=st.integers(0, 100), back=st.booleans())
    def return_or_use(self, at: int, account: Account, amount: int, back: bool) -> None:
        replica = self.replicas[at]
        held = min(amount, replica.lent.get(account, 0))
        replica.lent[account] = replica.lent.get(account, 0) - held
        self.twin.granted[account] = self.twin.granted.get(account, 0) - held
        if back:
            replica.ledger.give_back(account, held, self.wall)
            return
        replica.ledger.used(account, amount, self.wall, held)
        self.twin.facts.append(Fact(account, self.wall, amount, 0, 0, amount - held))
        self.uses.append((at, account, amount, self.wall))

    @precondition(lambda self: self.uses)
    @rule(share=st.sampled_from([0.5, 1.0]))
    def refund(self, share: float) -> None:
        at, account, used, then = self.uses.pop()
        self.twin.refund(account, int(used * share), self.wall, then)
        self.replicas[at].ledger.refund(account, int(used * share), self.wall, then)

    @rule(at=both, most=st.integers(1, 7))
    def read(self, at: int, most: int) -> None:
        self.wall += 0.001
        self.replicas[1 - at].write()
        self.replicas[at].follow(self.replicas[1 - at], most)

    @rule(at=both)
    def save(self, at: int) -> None:
        self.replicas[at].save()

    @rule(at=both)
    def crash(self, at: int) -> None:
        self.replicas[1 - at].write()
        self.replicas[at].restore(self.replicas[1 - at], self.wall)

    @rule()
    def both_agree_with_the_twin_once_all_is_read(self) -> None:
        for at in (0, 1):
            self.read_all(at)
        accounts = {fact.account for fact in self.twin.facts} | self.twin.granted.keys()
        for replica in self.replicas:
            for account in accounts | replica.ledger.balances(self.wall).keys():
                balance = replica.ledger.balance(account, self.wall)
                spent, calls, late, overrun = self.twin.spent(account, self.wall)
                assert (balance.spent, balance.calls) == (spent, calls), account
                assert self.disputed or (balance.late, balance.overrun) == (late, overrun), account
                assert balance.granted == self.twin.granted.get(account, 0), account

    def teardown(self) -> None:
        if hasattr(self, "twin"):
            self.both_agree_with_the_twin_once_all_is_read()

    def read_all(self, at: int) -> None:
        self.read(at, 1_000_000)


TestReplicas = Replicas.TestCase
TestReplicas.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
