"""Leases under whatever a network and its ends may do: no account is overrun, and the charges are right.

The twin is dumb: it knows what every holder really spent, and nothing else.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.engine.budgets.leasing import Holder, OneNumber

from spanfuse_processor.engine.budgets.leases import LeaseAsk
from spanfuse_processor.engine.budgets.leasing import TTL, LeaseOffice

LIMIT = 500
AMOUNTS = st.integers(1, 400)
WHO = st.integers(0, 2)


class Leases(RuleBasedStateMachine):
    """One account, one office, three holders at a time and any number of dead ones."""

    def __init__(self) -> None:
        super().__init__()
        self.wall = 1_000.0
        self.till = OneNumber(LIMIT)
        self.office = LeaseOffice(self.till, self.wall)
        self.born = 0
        self.holders = [self._born() for _ in range(3)]
        self.dead: list[Holder] = []

    def _born(self) -> Holder:
        self.born += 1
        return Holder(f"h{self.born}")

    @rule(who=WHO, want=st.integers(0, 400), part=st.sampled_from([1, 1, 10]))
    def asks(self, who: int, want: int, part: int) -> None:
        self.holders[who].talk(self.office, self.wall, want, want // part)

    @rule(who=WHO, want=AMOUNTS)
    def asks_and_the_answer_is_lost(self, who: int, want: int) -> None:
        self.office.ask(self.holders[who].ask(want), self.wall)

    @rule(who=WHO, want=AMOUNTS)
    def asks_and_is_not_heard(self, who: int, want: int) -> None:
        self.holders[who].ask(want)

    @rule(who=WHO, which=st.integers(0, 50))
    def an_old_ask_arrives_again(self, who: int, which: int) -> None:
        sent: list[LeaseAsk] = self.holders[who].sent
        if sent:
            self.office.ask(sent[which % len(sent)], self.wall)

    @rule(who=WHO)
    def asks_the_same_again(self, who: int) -> None:
        holder = self.holders[who]
        if holder.sent:
            holder.hear(holder.sent[-1], self.office.ask(holder.sent[-1], self.wall), self.wall)

    @rule(who=WHO, amount=AMOUNTS)
    def promises_to_a_call(self, who: int, amount: int) -> None:
        holder = self.holders[who]
        holder.lapse(self.wall)
        holder.taken += min(amount, max(0, holder.free))

    @rule(who=WHO, share=st.floats(0, 1))
    def a_call_ends(self, who: int, share: float) -> None:
        holder = self.holders[who]
        cost = int(holder.taken * share)
        holder.used, holder.taken = holder.used + cost, 0

    @rule(seconds=st.sampled_from([0.1, 5.0, TTL - 0.1, TTL, 3 * TTL]))
    def time_passes(self, seconds: float) -> None:
        self.wall += seconds
        self.office.expire(self.wall)
        for holder in self.holders:
            holder.lapse(self.wall)

    @rule(who=WHO)
    def dies(self, who: int) -> None:
        holder, self.holders[who] = self.holders[who], self._born()
        holder.used += holder.taken  # its calls went on without it
        self.dead.append(holder)

    @rule(who=WHO)
    def leaves(self, who: int) -> None:
        holder = self.holders[who]
        holder.used, holder.taken = holder.used + holder.taken, 0
        self.office.ask(holder.ask(release=True), self.wall)
        holder.may = holder.used
        self.dead.append(holder)
        self.holders[who] = self._born()

    @rule(clean=st.booleans())
    def restarts_with_all_that_it_knew(self, clean: bool) -> None:
        dump = self.office.dump()
        self.office = LeaseOffice(self.till, self.wall, clean=clean)
        self.office.load(dump)

    @precondition(lambda self: not self.dead)  # what the dead have spent nobody could tell
    @rule(wants=st.lists(AMOUNTS, min_size=3, max_size=3))
    def loses_its_store(self, wants: list[int]) -> None:
        self.till = OneNumber(LIMIT)
        self.office = LeaseOffice(self.till, self.wall, clean=False)
        for holder, want in zip(self.holders, wants, strict=True):
            holder.talk(self.office, self.wall, want)

    @invariant()
    def nothing_is_overrun(self) -> None:
        really = sum(holder.used for holder in (*self.holders, *self.dead))
        promised = sum(holder.taken for holder in self.holders)
        allowed = sum(holder.may for holder in (*self.holders, *self.dead))
        assert really + promised <= allowed <= self.till.spent + self.till.granted
        assert self.till.spent + self.till.granted <= LIMIT
        assert self.till.overrun == 0 or self.till.spent <= LIMIT

    def teardown(self) -> None:
        """When all who live have told what they spent, that is what is charged; the dead have spent all."""
        for holder in self.holders:
            holder.used, holder.taken = holder.used + holder.taken, 0
            self.office.ask(holder.ask(release=True), self.wall)
        self.office.expire(self.wall + TTL)
        really = sum(holder.used for holder in (*self.holders, *self.dead))
        assert self.till.granted == 0
        assert really <= self.till.spent <= LIMIT
        if not self.dead:
            assert self.till.spent == really


Leases.TestCase.settings = settings(
    max_examples=200, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
TestLeases = Leases.TestCase
