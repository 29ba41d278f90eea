"""Calls as steps of the journal.

Rule 1: every call that ended has its row, of every kind, with or without budgets; those that nobody charges
do not count. Rule 2: while the engine is at work a call is only noted; its row is made when the engine is
done with it, and says what it brought. Rule 3: a call that comes to something else has its row written again,
as its next revision, if it is among the latest. Rule 4: nothing is decided here, and of a call's content
nothing is taken but what is handed in. It has no clock.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from spanfuse_processor.engine.calls import Call, News
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import ErrorClass, Fingerprints, Kind, Usage
from spanfuse_processor.engine.scoping import agent_of
from spanfuse_processor.engine.tree.spending import Amended
from spanfuse_processor.store import StepRow

REMEMBERED: Final = 20_000
"""Calls that can be corrected."""

_PRICED: Final = frozenset({Kind.MODEL, Kind.EMBEDDINGS})
_CHARGED: Final = _PRICED | {Kind.TOOL}
_TOOL, _AGENT = Kind.TOOL, Kind.AGENT  # a member looked up in its enum costs four times as much
_KINDS: Final = {kind: kind.value for kind in Kind}  # texts: to a driver a member of an enum is no text
_ERRORS: Final = {each: each.value for each in ErrorClass}
_NEWS: Final = tuple(each.name.lower() for each in News)
_NOTHING: Final = Usage()
_UNKNOWN: Final = Fingerprints()


class Recorder:
    """Told of calls by the engine (`observer`, `amend`); `take` hands out the rows.

    Args:
        remember: calls that can be corrected.
        charged: only of calls that are charged.

    Attributes:
        forgotten: corrections of calls that are no longer remembered.
        content: what was captured of the call that ends next.
    """

    def __init__(self, remember: int = REMEMBERED, *, charged: bool = False) -> None:
        self._remember = remember
        self._kinds = _CHARGED if charged else frozenset(Kind)
        self._known: OrderedDict[bytes, StepRow] = OrderedDict()
        self._noted: list[tuple[Call, CallEnded, str]] = []
        self._rows: list[StepRow] = []
        self.content = ""
        self.forgotten = 0

    def ended(self, call: Call, event: CallEnded) -> None:
        """A call ended."""
        if event.kind in self._kinds:
            self._noted.append((call, event, self.content))

    def amended(self, told: Amended) -> None:
        """A call came to something else."""
        self.settle()
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

    def settle(self, most: int | None = None) -> bool:
        """The engine is done with what it told of: makes its rows, `most` of them; whether there are more."""
        noted = self._noted
        if not noted:
            return False
        self._noted = [] if most is None else noted[most:]
        for call, event, content in noted if most is None else noted[:most]:
            self._put(event.trace_id + event.span_id, row_of(call, event, content))
        return bool(self._noted)

    def take(self) -> list[StepRow]:
        """The rows since the last time."""
        self.settle()
        rows, self._rows = self._rows, []
        return rows

    def of(self, trace_id: bytes, span_id: bytes) -> StepRow | None:
        """The row of a call, if it is among the latest."""
        self.settle()
        return self._known.get(trace_id + span_id)

    def _put(self, key: bytes, row: StepRow) -> None:
        self._rows.append(row)
        known = self._known
        known[key] = row
        if len(known) > self._remember:
            known.popitem(last=False)


def row_of(call: Call, event: CallEnded, content: str = "") -> StepRow:
    """The row of a call that ended."""
    return StepRow._make((*_billed(call, event), *_told(call, event), content))


def _billed(call: Call, event: CallEnded) -> tuple[object, ...]:
    """What it came to, and for whom; by position, for it is made for every call."""
    kind, who = event.kind, event.identity
    counts = call.counts and kind in _CHARGED
    usage = event.usage if event.usage is not None and counts else _NOTHING
    tool = kind is _TOOL
    return (
        event.trace_id.hex(),
        event.span_id.hex(),
        event.ended_ns / 1e9,
        _KINDS[kind],
        who.tenant,
        who.service,
        who.namespace,
        who.feature,
        agent_of(call) or (event.name if kind is _AGENT else ""),
        who.user,
        "" if tool else (event.name or event.model) if kind in _PRICED else event.model,
        event.name if tool else "",
        call.run,
        usage.input_tokens,
        usage.output_tokens,
        usage.cached_tokens,
        usage.cache_write_tokens,
        usage.reasoning_tokens,
        (call.cost or 0) if counts else 0,
        bool(event.error),
        call.estimated,
        counts and call.cost is None and event.usage is not None,
        counts,
        0,
    )


def _told(call: Call, event: CallEnded) -> tuple[object, ...]:
    """Where it stood, and what can be compared of it."""
    prints = event.prints or _UNKNOWN
    return (
        event.started_ns / 1e9,
        event.parent_span_id.hex(),
        call.number,
        call.depth,
        event.name,
        event.provider,
        event.error,
        _ERRORS[prints.error_class],
        prints.arguments_masked or prints.arguments,
        prints.result_masked or prints.result,
        prints.result_size,
        _NEWS[call.news],
    )
