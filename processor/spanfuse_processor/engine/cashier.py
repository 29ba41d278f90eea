"""Takes from the engine what calls cost, and hands it to the treasury.

Rule 1: while the engine is at work nothing is decided: what calls came to is kept until `settle`, which its
host calls right after, with the time. Rule 2: models, embeddings and tools are paid for; who pays is what the
call says of itself. Rule 3: what is told anew corrects what was told. Rule 4: the steps of runs are watched
whether or not there are budgets. It has no clock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from spanfuse_processor.engine.alerts import Notice
from spanfuse_processor.engine.budget import Amounts
from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Kind, MicroUsd
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.engine.scoping import agent_of
from spanfuse_processor.engine.steps import Steps
from spanfuse_processor.engine.treasury import Spend, Treasury
from spanfuse_processor.engine.tree.spending import Amended

_PAID: Final = frozenset({Kind.MODEL, Kind.EMBEDDINGS, Kind.TOOL})


_CONTAINERS: Final = frozenset({Kind.AGENT, Kind.WORKFLOW})


class _Taken(NamedTuple):
    """One ended call. `cap` is what its run may cost, `step` that it is one of its run."""

    spend: Spend
    cap: MicroUsd | None
    step: bool


class Cashier:
    """Stands between one engine and one treasury: `Engine(observer=cashier.ended, amend=cashier.amended)`.

    `is_stopped` says whether a run was stopped, by whoever.
    """

    __slots__ = ("_anew", "_is_stopped", "_over", "_taken", "_treasury", "steps")

    def __init__(self, treasury: Treasury, is_stopped: Callable[[str], bool] = lambda run: False) -> None:
        self.steps = Steps()
        self._treasury = treasury
        self._is_stopped = is_stopped
        self._taken: list[_Taken] = []
        self._anew: list[Amended] = []
        self._over: list[str] = []

    def ended(self, call: Call, event: CallEnded) -> None:
        """A call ended."""
        kind = event.kind
        if kind in _PAID:
            step = kind is Kind.MODEL and call.counts and call.cost is not None
            if step or not self._treasury.empty:
                self._taken.append(_Taken(spend_of(call, event), event.budget, step))
        elif kind in _CONTAINERS and not event.parent_span_id and call.run:
            self._over.append(call.run)

    def amended(self, told: Amended) -> None:
        """A call came to something else."""
        if not self._treasury.empty:
            self._anew.append(told)

    def settle(self, wall: float) -> tuple[Notice, ...]:
        """Charges what was taken since the last time. `wall` is now, in seconds since the epoch."""
        if not (self._taken or self._anew or self._over):
            return ()
        taken, self._taken = self._taken, []
        anew, self._anew = self._anew, []
        over, self._over = self._over, []
        notes = [note for each in taken for note in self._charge(each, wall)]
        for told in anew:
            tokens = told.usage.input_tokens + told.usage.output_tokens
            amounts = Amounts(told.cost or 0, tokens)
            guess = told.guessed or told.cost is None
            notes += self._treasury.correct(told.trace_id + told.span_id, amounts, wall, guess)
        for run in over:
            self.steps.finish(run, self._is_stopped(run))
        return tuple(notes)

    def _charge(self, taken: _Taken, wall: float) -> list[Notice]:
        spend, treasury = taken.spend, self._treasury
        notes = [] if treasury.empty else list(treasury.charge(spend, wall))
        if taken.step:
            events = self.steps.step(spend.payer, spend.amounts.usd, taken.cap, treasury.ledger, wall)
            notes += [
                Notice(event=event._replace(trace_id=spend.trace_id, span_id=spend.span_id))
                for event in events
            ]
        return notes


def spend_of(call: Call, event: CallEnded) -> Spend:
    """What a call came to, and who pays."""
    usage, tool = event.usage, event.kind is Kind.TOOL
    who = event.identity
    payer = Payer(
        tenant=who.tenant,
        service=who.service,
        namespace=who.namespace,
        feature=who.feature,
        agent=agent_of(call),
        user=who.user,
        model="" if tool else event.name or event.model,
        tool=event.name if tool else "",
        run=call.run,
    )
    tokens = usage.input_tokens + usage.output_tokens if usage is not None else 0
    return Spend(
        key=event.trace_id + event.span_id,
        payer=payer,
        amounts=Amounts((call.cost or 0) if call.counts else 0, tokens if call.counts else 0),
        ended=event.ended_ns / 1e9,
        leased=event.leased,
        unpriced=call.cost is None and usage is not None,
        trace_id=event.trace_id,
        span_id=event.span_id,
    )
