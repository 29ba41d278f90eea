"""The contract of a purse: what calls of strict budgets are paid from, before they are made.

Rule 1: taking never waits and never asks anybody: there is enough here, or there is not. Rule 2: what was
taken is settled, forfeited or cancelled once; a second answer is ignored, whichever comes second. Rule 3:
what a call came to beyond what it took is charged all the same. It does not know what calls cost.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

from spanfuse.room import Room
from spanfuse_processor.engine.budget import Account, Amounts, Measure
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.engine.verdicts import Directive

NOTHING: Final[frozenset[Measure]] = frozenset()


@dataclass(frozen=True, slots=True)
class Short:
    """There is not enough.

    Attributes:
        account: where; `measure` is that of `need` and `left`.
        left: what is not spent yet, whoever holds it; None: nobody could be asked.
        can_come: whether others hold what is missing, so that it may come back: waiting up to `patience`
            seconds is worth a try.
        problem: why nobody knows, when the processor cannot be asked.
        order: the processor's order by which the call has to take; None: there is no processor.
        limit: of the account's period; None: nobody has said.
        renews_in: seconds until the next period; None: nobody has said, or there is none.
        lends_in: seconds for which the processor, which has just started, lends nothing, whatever is left.
    """

    account: Account
    measure: Measure
    need: int
    left: int | None
    can_come: bool
    patience: float
    problem: str = ""
    order: Directive | None = None
    limit: int | None = None
    renews_in: float | None = None
    lends_in: float = 0.0


class Taken(Protocol):
    """What one call has taken."""

    @property
    def accounts(self) -> tuple[str, ...]:
        """The accounts that are charged here, so that nobody charges them by the call's span."""

    def named(self, key: bytes) -> None:
        """The call has got its span: trace id and span id."""

    def settle(self, amounts: Amounts) -> None:
        """This is what the call came to; its span will say the same."""

    def forfeit(self) -> None:
        """Nobody knows what it came to: all of it is charged."""

    def cancel(self) -> None:
        """The call was not made."""


class Purse(Protocol):
    """What calls are paid from. Any thread may ask.

    Attributes:
        room: told whenever something may have come back.
        told: whether it is known which calls must be paid for.
    """

    room: Room
    told: bool

    @property
    def idle(self) -> bool:
        """No call needs to be paid for: the fast path."""

    def wanted(self, payer: Payer) -> frozenset[Measure]:
        """What a call of `payer` has to take, by measure; nothing when no strict budget covers it."""

    def take(self, payer: Payer, amounts: Amounts, waiter: object) -> Taken | Short:
        """Takes `amounts` from every account that covers `payer`, or from none.

        `waiter` names who asks: while it waits for another try, others may see what it waits for.
        """

    def leave(self, waiter: object) -> None:
        """`waiter` tries no more."""


class Once:
    """Lets the first who asks through, whatever the thread."""

    __slots__ = ("_open",)

    def __init__(self) -> None:
        self._open = [True]

    def __bool__(self) -> bool:
        with suppress(IndexError):
            return self._open.pop()
        return False


class FreePurse:
    """No budget is strict."""

    idle = True

    def __init__(self) -> None:
        self.room = Room()
        self.told = True

    def wanted(self, payer: Payer) -> frozenset[Measure]:
        """Nothing."""
        return NOTHING

    def take(self, payer: Payer, amounts: Amounts, waiter: object) -> Taken | Short:
        """Whatever is asked for."""
        return _Free()

    def leave(self, waiter: object) -> None:
        """Nobody waits."""


class _Free:
    accounts = ()

    def named(self, key: bytes) -> None:
        """Nothing was taken."""

    def settle(self, amounts: Amounts) -> None:
        """Nothing was taken."""

    def forfeit(self) -> None:
        """Nothing was taken."""

    def cancel(self) -> None:
        """Nothing was taken."""
