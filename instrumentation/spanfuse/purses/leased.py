"""The purse of leases: slices of accounts that a processor keeps, spent here without asking.

Rule 1: taking is a lock and whole numbers; asking is somebody else's, on a thread of its own. Rule 2: a lease
that ran out by our own clock, which began before the processor's did, is worth nothing but its safe part.
Rule 3: what stands on the board says which calls take from which accounts; an order that the processor does
not know any more is void. It does not know how one asks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple

from spanfuse.board import Board
from spanfuse.purse import NOTHING, Once, Short, Taken
from spanfuse.purses.pool import Pool
from spanfuse.room import Room
from spanfuse_processor.engine.budget import Account, Amounts, Measure
from spanfuse_processor.engine.budgets.leases import LeaseAnswer, LeaseAsk
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.engine.verdicts import Action, Directive, Mode

PAYERS: Final = 4_096
"""Payers whose pools are kept at hand; then all are found anew."""
IDLE: Final = 600.0
"""Seconds after which a pool that nobody uses is given up."""


class _Covered(NamedTuple):
    """What covers one payer."""

    pools: tuple[Pool, ...]
    wanted: frozenset[Measure]


_NONE: Final = _Covered((), NOTHING)


class LeasedPurse:
    """Pays from leases. `ring` is called, from any thread, when there is something to ask.

    Attributes:
        told: whether the processor has said what it orders.
        problem: why it cannot be asked, for a person.
    """

    def __init__(self, board: Board, ring: Callable[[], None]) -> None:
        self.room = Room()
        self.told = False
        self.problem = ""
        self._board = board
        self._clock = board.clock
        self._ring = ring
        # Reentrant: the garbage collector may end a dropped generator, so a call, in the middle of anything.
        self._lock = threading.RLock()
        self._rules: tuple[Directive, ...] = ()
        self._void: set[tuple[str, int]] = set()
        self._covered: dict[Payer, _Covered] = {}
        self._pools: dict[Account, Pool] = {}
        self._look()
        board.on_change(self._changed)
        board.on_lift(self._lifted)

    @property
    def idle(self) -> bool:
        """No order stands: the fast path."""
        return not self._rules

    @property
    def pools(self) -> list[Pool]:
        """What is held of which account."""
        return list(self._pools.values())

    def wanted(self, payer: Payer) -> frozenset[Measure]:
        """As the contract says."""
        return self._cover(payer).wanted

    def take(self, payer: Payer, amounts: Amounts, waiter: object) -> Taken | Short:
        """As the contract says."""
        pools = self._cover(payer).pools
        with self._lock:
            now = self._clock()
            for pool in pools:
                need = amounts[pool.at]
                if need and (now >= pool.until or pool.may - pool.used - pool.taken < need):
                    short = pool.short(need, waiter, now)
                    if short is not None:
                        return self._short(pool, short)
            low = False
            for pool in pools:
                pool.taken += amounts[pool.at]
                pool.touched = now
                low = low or pool.may - pool.used - pool.taken < pool.low
                if pool.waiting:
                    pool.waiting.pop(waiter, None)
        if low:
            self._ring()
        if 0 in amounts:  # what costs nothing here is charged by its span
            pools = tuple(pool for pool in pools if amounts[pool.at])
        return _Slice(self, pools, amounts)

    def leave(self, waiter: object) -> None:
        """As the contract says."""
        with self._lock:
            for pool in self._pools.values():
                if pool.waiting:
                    pool.waiting.pop(waiter, None)

    def settle(self, pools: tuple[Pool, ...], took: Amounts, used: Amounts | None) -> None:
        """What a call took has come to so much; None: to nothing."""
        tell = False
        with self._lock:
            for pool in pools:
                pool.taken -= took[pool.at]
                if used is not None:
                    tell |= pool.spend(used[pool.at])
        self.room.made()
        if tell:
            self._ring()

    def due(self) -> list[tuple[Pool, LeaseAsk]]:
        """What is to be asked now, each with its pool."""
        with self._lock:
            now = self._clock()
            gone = [pool for pool in self._pools.values() if pool.unused(now - IDLE)]
            for pool in gone:
                del self._pools[pool.account]
                self._covered = {}
            asks = [(pool, pool.farewell()) for pool in gone if pool.asks]
            asks += [(pool, pool.ask(now)) for pool in self._pools.values() if pool.due(now)]
        return asks

    def next_due(self) -> float:
        """Seconds until something is to be asked, should nothing happen before."""
        with self._lock:
            soonest = min((pool.soonest() for pool in self._pools.values()), default=self._clock() + IDLE)
        return max(0.0, soonest - self._clock())

    def heard(self, pool: Pool, ask: LeaseAsk, answer: LeaseAnswer, sent: float) -> None:
        """The processor has answered what was asked at `sent` (monotonic)."""
        with self._lock:
            pool.heard(ask, answer, sent, self._clock())
        self.problem = ""
        self.room.made()

    def unheard(self, pool: Pool, problem: str, again: float) -> None:
        """Nobody answered; it may be asked again after `again` seconds."""
        self.problem = problem
        with self._lock:
            pool.unheard(self._clock() + again)

    def void(self, account: Account) -> None:
        """The processor knows of no such account that needs a lease: its order is of an earlier life."""
        with self._lock:
            self._pools.pop(account, None)
            self._void |= {(each.id, each.revision) for each in self._rules if each.key.id == account.budget}
        self._look()

    def announce(self) -> None:
        """The processor is there, maybe another one: it is told at once what is held here."""
        self.told = True
        with self._lock:
            for pool in self._pools.values():
                pool.announce(self._clock())
        self.room.made()
        if self._pools:
            self._ring()

    def farewells(self) -> list[tuple[Pool, LeaseAsk]]:
        """The last asks: everything is given back; what is under way is taken to be spent."""
        with self._lock:
            pools, self._pools, self._covered = list(self._pools.values()), {}, {}
            return [(pool, pool.farewell()) for pool in pools if pool.asks]

    def _short(self, pool: Pool, short: Short) -> Short:
        if short.can_come:
            self._ring()
        return replace(short, problem=self.problem) if self.problem else short

    def _changed(self, directive: Directive) -> None:
        if directive.action is Action.REQUIRE_LEASE:
            self._look()

    def _lifted(self) -> None:
        if self._rules:
            self._look()

    def _look(self) -> None:
        """Reads from the board which calls take from which accounts."""
        standing = self._board.ordering(Action.REQUIRE_LEASE)
        rules = tuple(
            each
            for each in standing
            if each.mode is Mode.ENFORCE and (each.id, each.revision) not in self._void
        )
        with self._lock:
            self._void &= {(each.id, each.revision) for each in standing}
            self._rules, self._covered = rules, {}
        self.room.made()

    def _cover(self, payer: Payer) -> _Covered:
        covered = self._covered.get(payer)
        return self._find(payer) if covered is None else covered

    def _find(self, payer: Payer) -> _Covered:
        with self._lock:
            found = [each for each in (self._pool(rule, payer) for rule in self._rules) if each is not None]
            covered = _Covered(tuple(found), frozenset(each.measure for each in found)) if found else _NONE
            if len(self._covered) >= PAYERS:
                self._covered = {}
            self._covered[payer] = covered
        return covered

    def _pool(self, rule: Directive, payer: Payer) -> Pool | None:
        """The pool of the account that a rule has this payer charged to."""
        leasing, reach = rule.leasing, rule.reach
        if leasing is None or reach is None or not reach.covers(payer):
            return None
        values = tuple(getattr(payer, name) for name in leasing.per)
        if not all(values):
            return None
        account = Account(rule.key.id, values)
        pool = self._pools.get(account)
        if pool is None:
            pool = self._pools[account] = Pool(account, Measure(leasing.measure), self._clock())
        pool.patience, pool.order = leasing.patience, rule
        return pool


class _Slice:
    """What one call has taken."""

    __slots__ = ("_once", "_pools", "_purse", "_took")

    def __init__(self, purse: LeasedPurse, pools: tuple[Pool, ...], took: Amounts) -> None:
        self._purse = purse
        self._pools = pools
        self._took = took
        self._once = Once()

    @property
    def accounts(self) -> tuple[str, ...]:
        """The accounts that it was taken from."""
        return tuple(pool.name for pool in self._pools)

    def named(self, key: bytes) -> None:
        """Leases do not go by calls."""

    def settle(self, amounts: Amounts) -> None:
        """This is what it came to."""
        if self._once:
            self._purse.settle(self._pools, self._took, amounts)

    def forfeit(self) -> None:
        """Nobody knows what it came to: all of it is spent."""
        self.settle(self._took)

    def cancel(self) -> None:
        """The call was not made."""
        if self._once:
            self._purse.settle(self._pools, self._took, None)
