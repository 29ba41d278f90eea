"""The office of leases: hands slices of strict accounts to applications, which spend them without asking.

Rule 1: a lease is what one application holds of one account: nobody else may spend it, so whatever is told
late, twice or never, an account is not overrun. Rule 2: what was used is told as a total that only grows, and
an ask is known by its `request`: asked twice is asked once. Rule 3: what a holder gives up is gone only when
the holder says that it holds less: it may have been promised there while an answer was on its way. Rule 4:
who falls silent is taken to have spent all; who comes back is refunded. Rule 5: of several offices of one
ledger each knows all leases: a holder may turn to another. It has no clock: `wall` is wall time in seconds.
It does not know who holds a lease, nor how an ask travels.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from itertools import chain
from math import inf
from typing import Any, Final, Protocol

from spanfuse_processor.engine.budget import Account, Budget
from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.engine.budgets.leases import OF_LEASES, Lease, LeaseAnswer, LeaseAsk, Result

TTL: Final = 30.0
"""Seconds that a lease holds without a word from its holder."""
SIGNS: Final = 3
"""Signs of life that a holder gives in that time; other offices of the ledger wait as many times as long."""
AGAIN: Final = 0.25
"""Seconds after which who got nothing may ask again."""
SHARE: Final = 4
"""One lease gets a quarter of what is there at most; the last quarter of a limit goes call by call."""
AHEAD: Final = 2
"""A holder is given as many times what it uses until it asks again."""
REMEMBERED: Final = 86_400.0
"""Seconds that a lease is remembered whose holder fell silent."""
KEPT: Final = 100_000
"""Leases that are remembered at most, of each sort; the longest unheard of go first."""


class Standing(Protocol):
    """What is read of an account's balance."""

    @property
    def limit(self) -> int:
        """Of this period."""

    @property
    def spent(self) -> int:
        """In this period."""

    @property
    def end(self) -> float:
        """Of this period, wall time; infinite, or now, where it has none."""

    @property
    def left(self) -> int:
        """What nobody holds: limit less spent, and less what is promised. Not below zero."""


class Purser(Protocol):
    """What the office stands on: a ledger. Amounts are in the account's measure; `lease` names a lease."""

    def balance(self, account: Account, wall: float) -> Standing:
        """How the account stands. Raises LookupError: there is none."""

    def grant(self, account: Account, amount: int, wall: float, lease: bytes) -> int:
        """Holds as much of `amount` as nobody holds; returns how much that is."""

    def give_back(self, account: Account, amount: int, wall: float, lease: bytes) -> None:
        """So much is no longer held."""

    def used(self, account: Account, amount: int, wall: float, held: int, lease: bytes) -> None:
        """So much was spent; `held` of it was held for that, and is so no longer."""

    def refund(self, account: Account, amount: int, wall: float, at: float, lease: bytes) -> None:
        """So much of what was charged at `at` was not spent; nothing, when that period is over."""

    def budget(self, account: Account) -> Budget:
        """The budget of an account. Raises LookupError: there is none."""


class LeaseOffice:
    """All leases of one ledger. Not thread-safe.

    Args:
        till: the ledger.
        wall: when the office opens.
        clean: nothing was lost before that, as far as is known. Else it grants nothing new for one `ttl`:
            holders say what they hold first. So it does, once, when one speaks whom it should have known.
        hello: seconds for which it grants nothing although all is clean, to hear of such holders.
        ttl: seconds that a lease holds.
    """

    def __init__(
        self, till: Purser, wall: float, *, clean: bool = True, ttl: float = TTL, hello: float = 0.0
    ) -> None:
        self._till = till
        self._ttl = ttl
        self._clean = clean
        self._learning_until = wall + (hello if clean else ttl)
        self._leases: OrderedDict[tuple[Account, str], Lease] = OrderedDict()  # the next to expire first
        self._others: OrderedDict[tuple[Account, str], Lease] = OrderedDict()  # of other offices, likewise
        self._lapsed: OrderedDict[tuple[Account, str], Lease] = OrderedDict()  # the longest ago first

    def ask(self, ask: LeaseAsk, wall: float) -> LeaseAnswer:
        """Takes what a holder tells, and answers what it holds from now on.

        Raises:
            LookupError: no strict budget has such an account.
        """
        if not self._till.budget(ask.account).strict:
            raise LookupError(f"{ask.account} needs no lease")
        self.expire(wall)
        key = ask.account, ask.lease
        lease = self._known(key) or self._unknown(ask, wall)
        if ask.request and ask.request <= lease.request:  # heard before, or overtaken
            self._keep(key, lease)
            return lease.answer or self._answer(ask, lease, 0, wall)
        lease.request = ask.request
        self._settle(ask, lease, wall)
        granted = 0 if ask.release else self._grant(ask, lease, wall)
        if lease.held and wall - lease.noted >= self._ttl / SIGNS:
            lease.noted = wall
            self._till.grant(ask.account, 0, wall, ask.lease.encode())  # other offices hear that it speaks
        lease.answer = self._answer(ask, lease, granted, wall)
        lease.expires = wall + self._ttl
        if ask.release:
            lease.lapsed = wall
        if lease.used or lease.held or granted:
            self._keep(key, lease)
        return lease.answer

    def _unknown(self, ask: LeaseAsk, wall: float) -> Lease:
        """A lease that is new, or that was forgotten; then others were, too."""
        if self._clean and (ask.used or ask.held):
            self._clean, self._learning_until = False, wall + self._ttl
        return Lease(wall)

    def expire(self, wall: float) -> None:
        """Charges what silent holders held. Cheap while there is none."""
        for leases in (self._leases, self._others):
            while leases:
                key, lease = next(iter(leases.items()))
                if lease.expires > wall:
                    break
                del leases[key]
                self._lapse(key, lease, wall)
        while self._lapsed and next(iter(self._lapsed.values())).lapsed < wall - REMEMBERED:
            self._lapsed.popitem(last=False)

    def _lapse(self, key: tuple[Account, str], lease: Lease, wall: float) -> None:
        if lease.held:
            self._till.used(key[0], lease.held, wall, lease.held, key[1].encode())
        lease.assumed, lease.held, lease.lapsed = lease.held, 0, wall
        self._keep(key, lease)

    def next_deadline(self) -> float | None:
        """When `expire` has something to do; wall time."""
        first = [next(iter(each.values())).expires for each in (self._leases, self._others) if each]
        return min(first, default=None)

    @property
    def held(self) -> int:
        """How many leases are held now of this office."""
        return len(self._leases)

    def dump(self) -> dict[str, Any]:
        """Everything as plain data, to be kept beside the dump of the ledger."""
        return {
            "leases": [
                [*key[0], key[1], *lease.row()]
                for key, lease in chain(self._leases.items(), self._others.items())
            ],
            "lapsed": [[*key[0], key[1], *lease.row()] for key, lease in self._lapsed.items()],
        }

    def load(self, dump: Mapping[str, Any], entries: Iterable[Entry] = ()) -> None:
        """Takes up what `dump` said, and what the ledger's journal had of leases after that.

        Of a lease that lapsed after the dump it is not known any more what it was only taken to have spent.
        """
        for name, rows in (("leases", self._leases), ("lapsed", self._lapsed)):
            for budget, values, lease, *row in dump.get(name, ()):
                rows[Account(budget, tuple(values)), lease] = Lease.of(row)
        self._replay(entries, self._leases, self._ttl)
        self._leases = OrderedDict(sorted(self._leases.items(), key=lambda each: each[1].expires))

    def follow(self, entries: Iterable[Entry]) -> None:
        """Takes note of what other offices did, after the ledger has. They see to their leases themselves,
        as long as they live."""
        self._replay(entries, self._others, self._ttl * SIGNS)

    def _replay(
        self, entries: Iterable[Entry], where: OrderedDict[tuple[Account, str], Lease], ttl: float
    ) -> None:
        for entry in entries:
            if entry.kind in OF_LEASES and entry.key:
                key = entry.account, entry.key.decode(errors="replace")
                lease = self._known(key) or Lease(entry.wall)
                lease.replay(entry)
                lease.expires = max(lease.expires, entry.wall + ttl)
                self._put(where, key, lease)

    def _known(self, key: tuple[Account, str]) -> Lease | None:
        """A lease, taken out of where it was."""
        return self._leases.pop(key, None) or self._others.pop(key, None) or self._lapsed.pop(key, None)

    def _settle(self, ask: LeaseAsk, lease: Lease, wall: float) -> None:
        """Charges what was used since, and brings what is held in line with what the holder says."""
        till, account, name = self._till, ask.account, ask.lease.encode()
        used = max(0, ask.used - lease.used)
        lease.note(used, wall)
        if lease.assumed > used:
            till.refund(account, lease.assumed - used, wall, lease.lapsed, name)
        elif used > lease.assumed:
            covered = min(used - lease.assumed, lease.held)
            till.used(account, used - lease.assumed, wall, covered, name)
            lease.held -= covered
        lease.assumed, lease.lapsed = 0, 0.0
        says = 0 if ask.release else ask.held
        if says < lease.held:
            till.give_back(account, lease.held - says, wall, name)
            lease.held = says
        elif says > lease.held:  # we forgot: our store was lost, or it had lapsed
            lease.held += till.grant(account, says - lease.held, wall, name)

    def _grant(self, ask: LeaseAsk, lease: Lease, wall: float) -> int:
        """Adds to a lease; returns by how much."""
        if wall < self._learning_until:
            return 0
        balance = self._till.balance(ask.account, wall)
        room, least = balance.left, max(1, ask.least or ask.want)
        if room * SHARE < balance.limit:
            wanted = min(ask.want, least)
        else:
            wanted = min(max(ask.want, self._ahead(lease) - lease.held), max(room // SHARE, least))
        if wanted > room:
            wanted = room if least <= room else 0
        granted = self._till.grant(ask.account, wanted, wall, ask.lease.encode()) if wanted > 0 else 0
        lease.held += granted
        return granted

    def _ahead(self, lease: Lease) -> int:
        return int(AHEAD * lease.rate * self._ttl / 3)

    def _answer(self, ask: LeaseAsk, lease: Lease, granted: int, wall: float) -> LeaseAnswer:
        balance = self._till.balance(ask.account, wall)
        denied = ask.want > 0 and granted < (ask.least or ask.want)
        hold = lease.held
        if (
            not ask.want and wall - lease.asked >= self._ttl / SHARE
        ):  # it is told to hold less; it says when it does
            hold = min(hold, self._ahead(lease))
        lease.asked = wall
        return LeaseAnswer(
            result=Result.DENIED if denied else Result.PARTIAL if granted < ask.want else Result.GRANTED,
            lease=ask.lease,
            granted=0 if ask.release else hold,
            remaining=max(0, balance.limit - balance.spent),
            ttl=self._ttl,
            refresh_after=AGAIN if denied else self._ttl / 3,
            safe=min(self._till.budget(ask.account).safe, hold),
            limit=balance.limit,
            renews_in=balance.end - wall if wall < balance.end < inf else None,
            lends_in=max(0.0, self._learning_until - wall),
        )

    def _keep(self, key: tuple[Account, str], lease: Lease) -> None:
        self._put(self._lapsed if lease.lapsed else self._leases, key, lease)

    def _put(
        self, rows: OrderedDict[tuple[Account, str], Lease], key: tuple[Account, str], lease: Lease
    ) -> None:
        rows[key] = lease
        if len(rows) > KEPT:
            rows.popitem(last=False)
