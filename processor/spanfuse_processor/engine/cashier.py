"""Takes from the engine what calls cost, and hands it to the treasury.

Rule 1: while the engine is at work nothing is decided: what calls came to is kept until `settle`, which its
host calls right after, with the time. Rule 2: models, embeddings and tools are paid for; who pays is what the
call says of itself. Rule 3: what is told anew corrects what was told. It has no clock.
"""

from __future__ import annotations

from typing import Final

from spanfuse_processor.engine.alerts import Notice
from spanfuse_processor.engine.budget import Amounts
from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.engine.scoping import agent_of
from spanfuse_processor.engine.treasury import Spend, Treasury
from spanfuse_processor.engine.tree.spending import Amended

_PAID: Final = frozenset({Kind.MODEL, Kind.EMBEDDINGS, Kind.TOOL})


class Cashier:
    """Stands between one engine and one treasury: `Engine(observer=cashier.ended, amend=cashier.amended)`."""

    __slots__ = ("_anew", "_spends", "_treasury")

    def __init__(self, treasury: Treasury) -> None:
        self._treasury = treasury
        self._spends: list[Spend] = []
        self._anew: list[Amended] = []

    def ended(self, call: Call, event: CallEnded) -> None:
        """A call ended."""
        if event.kind in _PAID and not self._treasury.empty:
            self._spends.append(spend_of(call, event))

    def amended(self, told: Amended) -> None:
        """A call came to something else."""
        if not self._treasury.empty:
            self._anew.append(told)

    def settle(self, wall: float) -> tuple[Notice, ...]:
        """Charges what was taken since the last time. `wall` is now, in seconds since the epoch."""
        if not (self._spends or self._anew):
            return ()
        spends, self._spends = self._spends, []
        anew, self._anew = self._anew, []
        notes = [note for spend in spends for note in self._treasury.charge(spend, wall)]
        for told in anew:
            tokens = told.usage.input_tokens + told.usage.output_tokens
            amounts = Amounts(told.cost or 0, tokens)
            notes += self._treasury.correct(told.trace_id + told.span_id, amounts, wall)
        return tuple(notes)


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
