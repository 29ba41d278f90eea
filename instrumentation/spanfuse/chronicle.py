"""What the judge of this process does, for the record: rows of the journal, and spans for the trace.

Rule 1: the thread of a call notes a step, or leaves a verdict; all else is done on the timer's. Rule 2: a
fault in here is counted and costs the record, never a verdict. Rule 3: what waits is bounded, the oldest goes
first. It does not know where rows and spans go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from spanfuse.guard import guarded
from spanfuse_processor.engine.alerts import BudgetEvent
from spanfuse_processor.engine.breaker_span import BreakerSpan, of_budget, of_order, of_verdict
from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.events import CallEnded, RawSpan
from spanfuse_processor.engine.nouns import Level
from spanfuse_processor.engine.orders import Order
from spanfuse_processor.engine.runs.run import RunView
from spanfuse_processor.engine.tree.spending import Amended
from spanfuse_processor.engine.verdicts import Verdict

if TYPE_CHECKING:
    from spanfuse_processor.bookkeeping.journal import Journal

WAITING: Final = 1_000
"""Spans, and warnings, that may wait."""
STOPS: Final = 1_000
"""Stops whose offending calls are remembered, for their releases."""

View = Callable[[str], RunView | None]
"""What is known of a run, by its id; where the engine may be touched."""


class Chronicle:
    """The judge's recorder. `journal` None: no rows. `view` is asked where the engine may be touched; `ring`
    is called when there is something to tell."""

    def __init__(self, journal: Journal | None, view: View, ring: Callable[[], object]) -> None:
        self._journal = journal
        self._view = view
        self._ring = ring
        self._waiting: deque[BreakerSpan] = deque(maxlen=WAITING)
        self._later: deque[tuple[Verdict, float]] = deque(maxlen=WAITING)
        self._offending: dict[str, bytes] = {}
        self.look: Callable[[RawSpan], None] = journal.look if journal else _ignore
        self.amended: Callable[[Amended], None] = journal.amended if journal else _ignore
        self.ended: Callable[[Call, CallEnded], None] = journal.ended if journal else _overhear

    def settle(self) -> None:
        """As `Recorder` says: rows are made on the timer's thread, from what was noted."""

    def verdict(self, verdict: Verdict, wall: float) -> None:
        """As `Recorder` says. What stops, or lets go, is told as things are now; all else waits."""
        if verdict.directive is None and verdict.removal is None:
            self._later.append((verdict, wall))
        else:
            self._say(verdict, wall)

    def catch_up(self) -> None:
        """Tells what has waited; where the engine may be touched."""
        while self._later:
            self._say(*self._later.popleft())

    @guarded("chronicle", None)
    def _say(self, verdict: Verdict, wall: float) -> None:
        name = self._journal.verdict(verdict, wall) if self._journal else ""
        said = of_verdict(verdict, int(wall * 1e9), self._trace_of(verdict.run), name)
        if said is not None:
            self._leave(self._placed(verdict, said))

    @guarded("chronicle", None)
    def order(self, order: Order, done: bool, wall: float) -> None:
        """As `Recorder` says."""
        name = self._journal.order(order, order.issuer, done, wall) if self._journal else ""
        run = order.key.id if order.key.level is Level.RUN else ""
        self._leave(of_order(order, order.issuer, done, int(wall * 1e9), self._trace_of(run), name))

    @guarded("chronicle", None)
    def budgets(self, events: Sequence[BudgetEvent]) -> None:
        """What is told of budgets; where the engine may be touched."""
        if self._journal is not None:
            self._journal.budgets(events)
        for event in events:
            self._leave(of_budget(event))

    def take(self) -> Iterator[BreakerSpan]:
        """The spans since the last time, for whoever shows them."""
        while self._waiting:
            yield self._waiting.popleft()

    def _placed(self, verdict: Verdict, said: BreakerSpan) -> BreakerSpan:
        """A release stands beside the stop that it ends, below the call that was the reason."""
        if verdict.removal is not None:
            return said._replace(parent_span_id=self._offending.pop(verdict.removal.id, said.parent_span_id))
        if verdict.directive is not None:
            self._offending[verdict.directive.id] = said.parent_span_id
            if len(self._offending) > STOPS:
                del self._offending[next(iter(self._offending))]
        return said

    def _leave(self, said: BreakerSpan) -> None:
        self._waiting.append(said)
        self._ring()

    def _trace_of(self, run: str) -> bytes:
        view = self._view(run) if run else None
        return view.trace_id if view is not None else b""


def _ignore(told: object) -> None:
    """Nothing is kept of it."""


def _overhear(call: Call, event: CallEnded) -> None:
    """Nothing is kept of a call."""
