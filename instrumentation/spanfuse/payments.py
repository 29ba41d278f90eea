"""Calls of strict budgets, paid for before they are made.

Rule 1: a call takes what it may cost at most; when others hold what is missing it waits, for as long as its
budget says, and is refused then. Rule 2: a call whose price nobody knows is refused where money is counted:
unknown is not nothing. It does not know where the money is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spanfuse import reaper
from spanfuse.board import Board
from spanfuse.context import RunScope
from spanfuse.expecting import Expecting
from spanfuse.gate import Gate
from spanfuse.guard import ORDERS, fault
from spanfuse.payment import Payment
from spanfuse.prices import day_of
from spanfuse.provider import Intent
from spanfuse.purse import Purse, Short
from spanfuse.refusing import Refusal, unopened, unpriced, unready
from spanfuse.room import running_loop
from spanfuse_processor.engine.budget import Amounts, Measure
from spanfuse_processor.engine.estimates import Expected, worst_cost
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import ToolRule
from spanfuse_processor.engine.pricing import Pending, PriceBook, Rates
from spanfuse_processor.engine.reach import Payer

PAID: Final = frozenset({Kind.MODEL, Kind.EMBEDDINGS, Kind.TOOL})
"""What budgets count."""
OPENING: Final = 2.0
"""Seconds that a call waits to be told what must be paid for."""
PRICED: Final = 5.0
"""Seconds that a call waits for its price."""
IN_LOOP: Final = 0.25
"""Seconds that a call waits for money in a thread whose tasks cannot run meanwhile: what they hold stays
with them."""
GLANCE: Final = 0.005
"""Seconds between two looks for it."""
_SERVICE: Final = "openai.request.service_tier"


@dataclass(frozen=True, slots=True)
class Sources:
    """What is asked about a call: what it will use, what that costs, what tools cost."""

    expecting: Expecting
    prices: PriceBook
    tools: Mapping[str, ToolRule]


class Payments:
    """Pays for calls from `purse`. `strict`: until it is known which calls must be paid for, none is made."""

    def __init__(
        self, board: Board, gate: Gate, purse: Purse, sources: Sources, *, strict: bool = False
    ) -> None:
        self.gate = gate
        self.purse = purse
        self.sources = sources
        self.clock = board.clock
        self.effects = board.ledger
        self.strict = strict
        self.over = False
        board.on_change(lambda directive: purse.room.made())
        board.on_lift(purse.room.made)

    def pay(self, intent: Intent, scope: RunScope) -> Payment | None:
        """What a call has paid, None when it had to pay nothing. Waits in this thread.

        Raises:
            BreakerOpen: there is not enough, or the price is not known.
            RunStopped: as above, and the run has swallowed three refusals.
        """
        if self._nothing_to_pay(intent, scope):
            return None
        trial = _Trial(self, intent, scope)
        try:
            if trial.left() > 0:
                if running_loop() is not None:
                    trial.patience = IN_LOOP
                self.purse.room.wait(trial.left)
        except Exception as error:
            trial.give_up(error)
        finally:
            trial.leave()
        return trial.payment

    async def pay_async(self, intent: Intent, scope: RunScope) -> Payment | None:
        """As `pay`; other tasks run while it waits. Where it is not known how to wait, it does not."""
        if self._nothing_to_pay(intent, scope):
            return None
        trial = _Trial(self, intent, scope)
        try:
            if trial.left() > 0:
                loop = running_loop()
                if loop is None:
                    trial.hurry()
                    trial.left()
                else:
                    await self.purse.room.wait_async(trial.left, loop)
        except Exception as error:
            trial.give_up(error)
        finally:
            trial.leave()
        return trial.payment

    def pay_at_once(self, intent: Intent, scope: RunScope) -> Payment | None:
        """As `pay`; what is not there now is not waited for."""
        if self._nothing_to_pay(intent, scope):
            return None
        trial = _Trial(self, intent, scope)
        trial.hurry()
        try:
            trial.left()
        except Exception as error:
            trial.give_up(error)
        finally:
            trial.leave()
        return trial.payment

    def let_go(self) -> None:
        """Nobody waits any more, for good: the library ends its work."""
        self.over = True
        self.purse.room.made()

    def _nothing_to_pay(self, intent: Intent, scope: RunScope) -> bool:
        purse = self.purse
        if not purse.idle:
            return intent.kind not in PAID
        if purse.told:
            return True
        if intent.kind in PAID and not self.strict:  # nobody has said what must be paid for
            self.effects.answering.blindly(scope.agent, allowed=True)
        return intent.kind not in PAID or not self.strict


class _Trial:
    """One call that tries to pay."""

    def __init__(self, payments: Payments, intent: Intent, scope: RunScope) -> None:
        self.payment: Payment | None = None
        self.patience = math.inf
        self._payments = payments
        self._purse = payments.purse
        self._intent = intent
        self._scope = scope
        self._began = payments.clock()
        self._hurried = False
        self._short_since: float | None = None
        self._tried = self._swept = self._waited = self._denied = False

    def left(self) -> float:
        """Seconds for which another try pays; 0: it is paid, or need not be, or would be refused anyway.

        Raises:
            BreakerOpen: it cannot be paid.
            RunStopped: as above, and the run has swallowed three refusals.
        """
        gate, over = self._payments.gate, self._payments.over
        if over:
            return 0.0
        if self._tried and gate.refuses(self._intent, self._scope):
            gate.admit(self._intent, self._scope)  # says so
        self._tried = True
        if not self._purse.told and self._payments.strict and self._intent.kind is not Kind.TOOL:
            return self._until(self._began + OPENING, unopened())
        payer = self._payments.gate.payers.of(self._scope, self._intent)
        wanted = self._purse.wanted(payer)
        if not wanted:
            return 0.0
        priced = Measure.USD in wanted and self._intent.kind is not Kind.TOOL
        rates = self._rates() if priced else None
        if isinstance(rates, Pending):
            return min(GLANCE, self._until(self._began + PRICED, unready(self._intent)))
        return self._take(payer, wanted, rates)

    def hurry(self) -> None:
        """It cannot wait."""
        self._hurried = True

    def leave(self) -> None:
        """It tries no more."""
        if self._short_since is not None:
            self._purse.leave(self)
        if self._waited:
            took = self._payments.clock() - self._began
            self._payments.effects.answering.took("deny" if self._denied else "allow", took)

    def give_up(self, error: Exception) -> None:
        """Lets an order pass; a fault of ours is counted, and the call goes on unpaid."""
        if isinstance(error, ORDERS):
            raise error
        fault("payment", error)

    def _take(self, payer: Payer, wanted: frozenset[Measure], rates: Rates | None) -> float:
        expected = self._expected()
        amounts = self._amounts(rates, expected)
        if not any(amounts.of(measure) for measure in wanted):
            return 0.0
        taken = self._purse.take(payer, amounts, self)
        if isinstance(taken, Short) and taken.can_come and not self._swept:
            self._swept = reaper.sweep()  # it may be held by streams that were dropped here
            taken = self._purse.take(payer, amounts, self) if self._swept else taken
        if not isinstance(taken, Short):
            self.payment = Payment(taken, amounts, self._known_rates, expected)
            return 0.0
        now = self._payments.clock()
        if self._short_since is None:
            self._short_since = now
        patience = min(taken.patience, self.patience) if taken.can_come else 0.0
        deadline = self._short_since + patience
        return self._until(deadline, Refusal.of(taken))

    def _expected(self) -> Expected | None:
        """The tokens that the call may use at most; None: it uses none."""
        if self._intent.kind is Kind.TOOL:
            return None
        return self._payments.sources.expecting.expect(self._intent)

    def _amounts(self, rates: Rates | None, expected: Expected | None) -> Amounts:
        """What the call may come to at most."""
        intent, sources = self._intent, self._payments.sources
        if expected is None:
            rule = sources.tools.get(intent.name)
            return Amounts(round(rule.fee * 1_000_000) if rule else 0, 0)
        tokens = expected.input_tokens + expected.output_tokens
        service = intent.attributes.get(_SERVICE)
        usd = worst_cost(rates, expected, service if isinstance(service, str) else "") if rates else 0
        return Amounts(usd, tokens)

    def _rates(self) -> Rates | Pending:
        intent = self._intent
        rates = self._payments.sources.prices.rates(intent.provider, intent.name, day_of(time.time_ns()))
        if rates is None:
            raise self._refused(unpriced(intent))
        return rates

    def _known_rates(self) -> Rates | None:
        """The rates of the model that was called: not always the one that was to be called at first."""
        intent = self._intent
        rates = self._payments.sources.prices.rates(intent.provider, intent.name, day_of(time.time_ns()))
        return rates if isinstance(rates, Rates) else None

    def _until(self, deadline: float, otherwise: Refusal) -> float:
        left = deadline - self._payments.clock()
        if left <= 0 or self._hurried:
            raise self._refused(otherwise)
        self._waited = True
        return left

    def _refused(self, refusal: Refusal) -> BaseException:
        self._denied = True
        if refusal.blind:
            self._payments.effects.answering.blindly(self._scope.agent, allowed=False)
        if refusal.order is not None:
            self._payments.effects.add(refusal.order, refused=1)
        return self._payments.gate.refusal(refusal.directive(), self._intent, self._scope)
