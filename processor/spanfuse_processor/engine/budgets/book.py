"""One account's count: what is spent, promised to calls, and held by leases, in the period that is now.

Rule 1: a period that is over is closed before anything is counted; what is promised goes over into the next.
Rule 2: what a rolling budget spent counts for its whole window, and up to a sixtieth of it longer, never
less. Rule 3: of a strict account, what was spent without having been reserved is counted as its overrun. It
does not know which calls these are, and it refuses nothing.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from spanfuse_processor.engine.budget import Account, Amounts, Budget, Period
from spanfuse_processor.engine.budgets.periods import window_of
from spanfuse_processor.engine.verdicts import Mode

SLOTS: Final = 60
"""Parts of a rolling window that are forgotten at once."""


class Balance(NamedTuple):
    """How an account stands. Amounts are in its budget's measure.

    Attributes:
        limit, spent: of this period.
        reserved: what is promised: to calls that have not been settled, and to leases.
        start, end: of the period, wall time; a run's never ends (`inf`), a rolling window ends now.
        calls: how many were charged in this period, those under leases too.
        late: what was charged to it though the call had ended in an earlier period.
        unpriced: calls of this period whose price is not known.
        granted: the part of `reserved` that leases hold.
        overrun: what a strict account spent without having reserved it: estimates that were too low, calls
            that nobody asked for, prices that came late.
        turns: when the oldest spend of a rolling account falls away; of others `inf`.
        Of a rolling account `late`, `unpriced` and `overrun` are since it was opened.
    """

    limit: int
    spent: int = 0
    reserved: int = 0
    start: float = 0.0
    end: float = math.inf
    calls: int = 0
    late: int = 0
    unpriced: int = 0
    granted: int = 0
    overrun: int = 0
    turns: float = math.inf

    @property
    def left(self) -> int:
        """What may still be promised."""
        return max(0, self.limit - self.spent - self.reserved)


class Closed(NamedTuple):
    """A period of an account that is over. A rolling account has none."""

    account: Account
    start: float
    end: float
    spent: int
    calls: int


class Book:
    """The count of one account, opened at `wall`. `closed` is told of periods that are over.

    Attributes:
        account, budget: whose it is.
        name: the account's, as people and the wire have it.
        at: where its measure stands in `Amounts`.
        end: when `turn` is due.
        refuses: whether a call is refused that there is no money for, before it is made.
        touched: when it was last charged.
        The others: see `Balance`.
    """

    __slots__ = (
        "_closed",
        "width",
        "account",
        "at",
        "budget",
        "calls",
        "end",
        "granted",
        "late",
        "limit",
        "name",
        "overrun",
        "refuses",
        "reserved",
        "slots",
        "spent",
        "start",
        "strict",
        "touched",
        "unpriced",
    )

    def __init__(
        self, account: Account, budget: Budget, wall: float, closed: Callable[[Closed], object]
    ) -> None:
        self.account, self.budget, self.name = account, budget, str(account)
        self.at = Amounts._fields.index(budget.measure.value)
        self.limit, self.strict = budget.limit, budget.strict
        self.refuses = budget.strict and budget.mode is Mode.ENFORCE
        self.slots: deque[tuple[int, int, int]] | None = None
        self.width = budget.window / SLOTS
        if budget.period is Period.ROLLING:
            self.slots = deque()
            self.start, self.end = -math.inf, math.inf
        else:
            self.start, self.end = window_of(budget, wall)
        self.spent = self.reserved = self.granted = 0
        self.calls = self.late = self.unpriced = self.overrun = 0
        self.touched = wall
        self._closed = closed

    def turn(self, wall: float) -> None:
        """Goes on to the period of `wall`, where that is a later one. Due when `wall` has reached `end`."""
        if wall < self.end:
            return
        if self.slots is not None:
            self._forget(wall)
            return
        self._closed(Closed(self.account, self.start, self.end, self.spent, self.calls))
        self.start, self.end = window_of(self.budget, wall)
        self.spent = self.calls = self.late = self.unpriced = self.overrun = 0

    def spend(self, amount: int, wall: float, ended: float, reserved: int = 0) -> None:
        """Charges a call that ended at `ended`, of which `reserved` had been promised and was given back."""
        if wall >= self.end:
            self.turn(wall)
        self.spent += amount
        self.calls += 1
        self.touched = wall
        if amount > reserved and self.strict:
            self.overrun += amount - reserved
        if ended < self.start:
            self.late += amount
        if self.slots is not None:
            if ended < wall - self.budget.window:
                self.late += amount
            self.put(amount, 1, wall)

    def count(self, wall: float) -> None:
        """Counts a call that something else pays for."""
        self.calls += 1
        self.touched = wall
        if self.slots is not None:
            self.put(0, 1, wall)

    def use(self, amount: int, wall: float, held: int) -> None:
        """Charges what a lease used, and takes back `held` that it had been granted for that."""
        self.turn(wall)
        self.spent += amount
        self.touched = wall
        if self.strict and amount > held:
            self.overrun += amount - held
        self.granted = max(0, self.granted - held)
        if self.slots is not None:
            self.put(amount, 0, wall)

    def add(self, amount: int, wall: float, at: float) -> int:
        """Corrects by `amount` what was charged at `at`. Returns by how much: less is not given back to a
        period that is over, more is charged to now, as late."""
        self.turn(wall)
        past = at < (wall - self.budget.window if self.slots is not None else self.start)
        if past and amount < 0:
            return 0
        amount = max(amount, -self.spent)
        self.spent += amount
        if past:
            self.late += amount
        if self.strict and amount > 0:
            self.overrun += amount
        if self.slots is not None:
            self.put(amount, 0, wall if past else at)
        return amount

    def put(self, amount: int, calls: int, at: float) -> None:
        """Lets what a rolling account spent count from `at` on, for its window. `spent` has it already."""
        slots = self.slots
        assert slots is not None
        slot = int(at // self.width)
        if slots and slot <= slots[-1][0]:
            self._put_before(slot, amount, calls)
            return
        slots.append((slot, amount, calls))
        if len(slots) == 1:
            self.end = self._leaves()

    def insert(self, amount: int, calls: int, at: float) -> None:
        """Like `put`, where the clock of somebody else says when: exactly from then on."""
        slots = self.slots
        assert slots is not None
        slot, place = int(at // self.width), len(slots)
        while place and slots[place - 1][0] > slot:
            place -= 1
        if place and slots[place - 1][0] == slot:
            _, spent, made = slots[place - 1]
            slots[place - 1] = (slot, spent + amount, made + calls)
        else:
            slots.insert(place, (slot, amount, calls))
            self.end = self._leaves()

    def _put_before(self, slot: int, amount: int, calls: int) -> None:
        """Into the slot, or the next that there is: what was spent never counts for less than it should."""
        slots = self.slots
        assert slots is not None
        at = len(slots) - 1
        while at > 0 and slots[at - 1][0] >= slot:
            at -= 1
        number, spent, made = slots[at]
        slots[at] = (number, spent + amount, made + calls)

    def _forget(self, wall: float) -> None:
        slots = self.slots
        assert slots is not None
        while slots and wall >= self._leaves():
            _, amount, calls = slots.popleft()
            self.spent -= amount
            self.calls -= calls
        self.end = self._leaves()

    def _leaves(self) -> float:
        """When the oldest slot no longer counts: all of it is as old as the window then."""
        return (self.slots[0][0] + 1) * self.width + self.budget.window if self.slots else math.inf

    def balance(self, wall: float) -> Balance:
        """How it stands."""
        if wall >= self.end:
            self.turn(wall)
        start, end, turns = self.start, self.end, math.inf
        if self.slots is not None:
            start, end, turns = wall - self.budget.window, wall, self.end
        promised = self.reserved + self.granted
        counts = (self.calls, self.late, self.unpriced, self.granted, self.overrun, turns)
        return Balance(self.limit, self.spent, promised, start, end, *counts)
