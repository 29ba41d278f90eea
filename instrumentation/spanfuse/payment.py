"""What one call of a strict budget has paid, and how that is settled.

Rule 1: once: by what the call used, or by all of it where nobody knows; a call that its provider refused, or
that never reached it, counts and costs nothing. It does not know what was taken from where.
"""

from __future__ import annotations

from collections.abc import Callable

from spanfuse.guard import guarded
from spanfuse.purse import Taken
from spanfuse.refusing import never_reached
from spanfuse_processor.engine.budget import Amounts
from spanfuse_processor.engine.estimates import Expected
from spanfuse_processor.engine.nouns import MicroUsd, Usage
from spanfuse_processor.engine.pricing import Rates


class Payment:
    """What one call has paid. `rates` says what its model costs, as it is in the end; None: unknown.

    `expected` is what it was paid for; None: no tokens.
    """

    __slots__ = ("_amounts", "_rates", "_taken", "expected")

    def __init__(
        self,
        taken: Taken,
        amounts: Amounts,
        rates: Callable[[], Rates | None],
        expected: Expected | None = None,
    ) -> None:
        self.expected = expected
        self._taken = taken
        self._amounts = amounts
        self._rates = rates

    @property
    def accounts(self) -> tuple[str, ...]:
        """The accounts that are charged by this, and not by the call's span."""
        return self._taken.accounts

    @guarded("payment", None)
    def named(self, trace_id: bytes, span_id: bytes) -> None:
        """The call has got its span."""
        self._taken.named(trace_id + span_id)

    @guarded("payment", None)
    def answered(self, usage: Usage | None, service: str = "", guess: Usage | None = None) -> MicroUsd | None:
        """The call was made, and used this much; None: nobody knows, but its span says `guess`.

        Returns what it is presumed to have cost; None: no money was taken for it, or it is known.
        """
        if usage is None:
            return self._forfeit(guess, service)
        self._taken.settle(self._cost(usage, service))
        return None

    @guarded("payment", None)
    def failed(
        self, error: BaseException, usage: Usage | None = None, guess: Usage | None = None
    ) -> MicroUsd | None:
        """The call raised, after it had used this much. Returns as `answered`."""
        if usage is None and self._amounts.tokens and never_reached(error):
            usage = Usage()
        return self.answered(usage, guess=guess)

    @guarded("payment", None)
    def cancel(self) -> None:
        """The call is not made."""
        self._taken.cancel()

    def _forfeit(self, guess: Usage | None, service: str) -> MicroUsd | None:
        amounts = self._amounts
        usd = 0 if amounts.usd or guess is None else self._cost_of(guess, service)
        if usd:
            self._taken.settle(amounts._replace(usd=usd))  # for who counts money and was not paid
        else:
            self._taken.forfeit()
        return amounts.usd or None if self.expected is not None else None  # a tool costs its fee, anyway

    def _cost_of(self, usage: Usage, service: str) -> MicroUsd:
        rates = self._rates()
        return rates.cost(usage, service) if rates is not None else 0

    def _cost(self, usage: Usage, service: str) -> Amounts:
        used = usage.input_tokens or usage.output_tokens  # else not even a price for each call is due
        rates = self._rates() if used and self._amounts.usd else None
        usd = self._amounts.usd if used else 0
        if rates is not None:
            usd = rates.cost(usage, service)
        return Amounts(usd, usage.input_tokens + usage.output_tokens, self._amounts.calls)
