"""Calls as rows of the bill.

Rule 1: every model, embeddings and tool call that ended has its row, with or without budgets. Rule 2: a call
that comes to something else has its row written again, as its next revision, if it is among the latest.
Rule 3: nothing is decided here, and nothing of a call's content is taken. It has no clock.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.cashier import spend_of
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Kind, Usage
from spanfuse_processor.engine.tree.spending import Amended
from spanfuse_processor.store import BillRow

BILLED: Final = frozenset({Kind.MODEL, Kind.EMBEDDINGS, Kind.TOOL})
REMEMBERED: Final = 20_000
"""Calls that can be corrected."""

_NOTHING: Final = Usage()


class Biller:
    """Told of calls by the engine (`observer`, `amend`); `take` hands out the rows.

    Attributes:
        forgotten: corrections of calls that are no longer remembered.
    """

    def __init__(self, remember: int = REMEMBERED) -> None:
        self._remember = remember
        self._known: OrderedDict[bytes, BillRow] = OrderedDict()
        self._rows: list[BillRow] = []
        self.forgotten = 0

    def ended(self, call: Call, event: CallEnded) -> None:
        """A call ended."""
        if event.kind in BILLED:
            self._put(event.trace_id + event.span_id, row_of(call, event))

    def amended(self, told: Amended) -> None:
        """A call came to something else."""
        key = told.trace_id + told.span_id
        row = self._known.get(key)
        if row is None:
            self.forgotten += 1
            return
        usage = told.usage
        counts = usage != _NOTHING or bool(told.cost)
        self._put(
            key,
            row._replace(
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cached_tokens=usage.cached_tokens,
                cache_write_tokens=usage.cache_write_tokens,
                reasoning_tokens=usage.reasoning_tokens,
                cost=told.cost or 0,
                unpriced=counts and told.cost is None,
                counts=counts,
                revision=row.revision + 1,
            ),
        )

    def take(self) -> list[BillRow]:
        """The rows since the last time."""
        rows, self._rows = self._rows, []
        return rows

    def _put(self, key: bytes, row: BillRow) -> None:
        self._rows.append(row)
        self._known[key] = row
        if len(self._known) > self._remember:
            self._known.popitem(last=False)


def row_of(call: Call, event: CallEnded) -> BillRow:
    """The row of a call that ended."""
    spend = spend_of(call, event)
    usage = event.usage if event.usage is not None and call.counts else _NOTHING
    return BillRow(
        event.trace_id.hex(),
        event.span_id.hex(),
        spend.ended,
        event.kind.value,
        *spend.payer,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cached_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        cost=spend.amounts.usd,
        failed=bool(event.error),
        estimated=call.estimated,
        unpriced=spend.unpriced,
        counts=call.counts,
    )
