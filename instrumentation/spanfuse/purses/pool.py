"""What this process holds of one account, and when to ask for more.

Rule 1: what it may spend only grows by an answer, and shrinks by its own doing: what is free is given up
before the processor is told. Rule 2: what a lease has spent only grows. Rule 3: nothing is asked twice at
once, and who was denied is not asked again at once. Times are monotonic seconds. Not thread-safe: its purse
holds the lock.
"""

from __future__ import annotations

import math
import uuid
from typing import Final

from spanfuse.purse import Short
from spanfuse_processor.engine.budget import Account, Amounts, Measure
from spanfuse_processor.engine.budgets.leases import LeaseAnswer, LeaseAsk, Result
from spanfuse_processor.engine.verdicts import Directive

FRESH: Final = 0.25
"""Seconds for which an answer that there is nothing left is believed."""
UNKNOWN: Final = -1
PART: Final = 10
"""What was spent is told at once when it comes to one in so many parts of the account's limit,"""
SMALL: Final = 100
EVERY: Final = 1.0
"""and after so many seconds when it comes to one in `SMALL`: so that marks are told when they are reached."""


class Pool:
    """A lease of one account.

    Attributes:
        account, name, measure: whose it is; `at` is where its measure stands in `Amounts`.
        patience: seconds that a call waits for what others hold.
        order: by which calls take from it.
        may, used, taken: what it was ever allowed, has spent, and has promised to calls that are being made.
        until: when the lease is over, but for `safe` of it.
        low: it asks ahead when less than this is free.
        waiting: who waits, and for how much.
        refresh_at: when it is to ask anyway. again, denied_until: before when it is not to ask, or to want.
        limit, renews_at: of the account, as far as is known (0, infinite). lends_at: when anything is lent.
        asks: how often it has asked.
        overrun: what calls came to beyond what they had taken.
    """

    __slots__ = (
        "_answered", "_asking", "_returning", "_told", "account", "again", "asks", "at", "denied_until",
        "lease", "lends_at", "limit", "low", "may", "measure", "name", "order", "overrun", "patience",
        "refresh_at", "remaining", "renews_at", "safe", "taken", "touched", "until", "used", "waiting",
    )  # fmt: skip

    def __init__(self, account: Account, measure: Measure, now: float) -> None:
        self.account, self.name, self.measure = account, str(account), measure
        self.at = Amounts._fields.index(measure.value)
        self.lease = uuid.uuid4().hex
        self.patience = 0.0
        self.order: Directive | None = None
        self.may = self.used = self.taken = self.safe = self.low = self.asks = self.overrun = 0
        self.remaining = UNKNOWN
        self.limit = 0
        self.lends_at = now
        self.until = self.refresh_at = self.renews_at = math.inf
        self.again = self.touched = self.denied_until = now
        self.waiting: dict[object, int] = {}
        self._answered, self._told = -math.inf, 0
        self._asking = self._returning = False

    @property
    def free(self) -> int:
        """What calls may still take."""
        return self.may - self.used - self.taken

    def short(self, need: int, waiter: object, now: float) -> Short | None:
        """Notes who waits for how much; None: there is enough after all."""
        if now >= self.until:
            self._lapse()
            if self.free >= need:
                return None
        self.touched = now
        fresh, lends_in = now - self._answered <= FRESH, max(0.0, self.lends_at - now)
        gone = fresh and (0 <= self.remaining < need or (lends_in > self.patience and not self.taken))
        if gone:
            self.waiting.pop(waiter, None)
        else:
            self.waiting[waiter] = need
        left = None if self.remaining == UNKNOWN else self.remaining
        renews_in = self.renews_at - now if now < self.renews_at < math.inf else None
        return Short(
            self.account, self.measure, need, left, not gone, self.patience, order=self.order,
            limit=self.limit or None, renews_in=renews_in, lends_in=lends_in,
        )  # fmt: skip

    def spend(self, amount: int) -> bool:
        """A call came to so much. Whether that is to be told sooner than what was spent before."""
        before, untold = self.free, self._untold
        self.used += amount
        if self.free < 0:
            self.overrun += amount - max(0, before)
        return any(untold * parts < self.limit <= self._untold * parts for parts in (SMALL, PART))

    def due(self, now: float) -> bool:
        """Whether it has something to ask now."""
        return not self._asking and now >= self.soonest()

    def soonest(self) -> float:
        """When it will have something to ask, as things are."""
        if self._asking:
            return math.inf
        if self._returning:
            return self.again
        if self.free < self.low or self._missing() > 0:
            return max(self.again, self.denied_until)
        return math.inf if self._rests else max(self.again, min(self.refresh_at, self._tells_at()))

    def _tells_at(self) -> float:
        """When what was spent is to be told, whatever else there is to ask."""
        if not self.limit or self._untold * SMALL < self.limit:
            return math.inf
        return -math.inf if self._untold * PART >= self.limit else self._answered + EVERY

    @property
    def _untold(self) -> int:
        """What was spent and is not told yet."""
        return self.used - max(0, self._told)

    def announce(self, now: float) -> None:
        """Has all be told anew, at once."""
        self._told = UNKNOWN
        self.refresh_at = self.again = now

    @property
    def _rests(self) -> bool:
        """Whether nothing is held, and what was spent has been told: nobody needs to hear of it again."""
        return not self.taken and self.may <= self.used == self._told

    def _missing(self) -> int:
        """What those who wait need beyond what is free; not above zero: they only have not looked yet."""
        return sum(self.waiting.values()) - max(0, self.free) if self.waiting else 0

    def unused(self, since: float) -> bool:
        """Whether nobody has used it since then, and nothing is under way."""
        return self.touched < since and not (self.taken or self.waiting or self._asking)

    def ask(self, now: float) -> LeaseAsk:
        """The next ask. It has to be heard, or to be said to be unheard, before another is due."""
        if now >= self.until:
            self._lapse()
        self._asking = True
        self.asks += 1
        free = max(0, self.free)
        want = least = 0
        if self.waiting and not self._returning:
            want = max(0, self._missing())
            least = max(0, min(self.waiting.values()) - free)
        held = max(0, self.may - self.used)
        return LeaseAsk(self.account, self.lease, f"{self.asks:012}", want, least, self.used, held)

    def heard(self, ask: LeaseAsk, answer: LeaseAnswer, sent: float, now: float) -> None:
        """The answer to the ask that was sent at `sent`."""
        self._asking = False
        told_less = self._gives_up(ask, answer)
        self._told = ask.used
        self.until, self.safe = sent + answer.ttl, answer.safe
        self.remaining, self._answered, self.again = answer.remaining, now, now
        self.limit, self.lends_at = answer.limit, now + answer.lends_in
        self.renews_at = math.inf if answer.renews_in is None else now + answer.renews_in
        if answer.result is Result.DENIED:
            self.denied_until = now + answer.refresh_after
            self.refresh_at = now + answer.ttl / 3
        else:
            self.refresh_at = now + answer.refresh_after
        self.low = self.free // 2
        self._returning = told_less

    def _gives_up(self, ask: LeaseAsk, answer: LeaseAnswer) -> bool:
        """Takes in what it may spend; whether that is less than it said that it holds."""
        self.may = max(ask.used + answer.granted, self.used + self.taken)
        if answer.result is Result.DENIED and self.free > 0 and not answer.lends_in:
            self.may = self.used + self.taken  # too little for anybody here: others may have use for it
        return self.may < ask.used + max(ask.held, answer.granted)

    def unheard(self, again: float) -> None:
        """Nobody answered; it may be asked again at `again`."""
        self._asking = False
        self.again = again

    def farewell(self) -> LeaseAsk:
        """The last ask: everything is given back. What is under way is taken to be spent."""
        self.asks += 1
        self.used, self.taken = self.used + self.taken, 0
        self.may = self.used
        return LeaseAsk(self.account, self.lease, f"{self.asks:012}", used=self.used, release=True)

    def _lapse(self) -> None:
        """The lease is over: what is free is worth nothing, but for the safe part."""
        self.may = self.used + self.taken + min(max(0, self.free), self.safe)
        self.safe = self.low = 0
        self.until = math.inf
