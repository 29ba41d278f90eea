"""The journal: what happened, step by step, handed to whoever writes it down.

Rule 1: record first, judge after: nothing here waits, decides, or changes what is decided. Rule 2: a step
costs its row and no more; all else is made when the watchers have been told. Rule 3: what is remembered is
bounded. It lives where the engine does, and does not know the engine, nor what a store is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from spanfuse_processor.bookkeeping import snapshots
from spanfuse_processor.bookkeeping.content import content_of
from spanfuse_processor.bookkeeping.effects import Answers
from spanfuse_processor.bookkeeping.events import About, Standing, event_of, order_of
from spanfuse_processor.bookkeeping.noting import note_of
from spanfuse_processor.bookkeeping.policies import PolicyMark
from spanfuse_processor.bookkeeping.steps import REMEMBERED, Recorder
from spanfuse_processor.engine.alerts import BudgetEvent
from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.events import CallEnded, RawSpan
from spanfuse_processor.engine.nouns import Level
from spanfuse_processor.engine.orders import Order
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.runs.run import RunView
from spanfuse_processor.engine.tree.spending import Amended
from spanfuse_processor.engine.verdicts import Directive, Verdict
from spanfuse_processor.store import EventRow
from spanfuse_processor.wire.effect import Effect, Instance
from spanfuse_processor.writing import Wanted, Writer

STANDING: Final = 10_000
"""Stops that releases and effects are told with."""
WITH_CONTENT: Final = 2_000
"""Calls that can be corrected while contents are kept: they are large."""


class Keeping(NamedTuple):
    """What is kept.

    `steps` of every kind, else only those that are charged. `capture_bytes` of each part of their contents,
    0: none. `snapshots` of runs that are stopped.
    """

    steps: bool = True
    capture_bytes: int = 0
    snapshots: bool = True


class Journal:
    """One host's.

    Args:
        keeping: what is kept.
        writer: is handed the rows.
        policy: is in force.
        view: what is known of a run.
        find: the directive under an id, as it was published; None: as its verdict has it.
        remember: calls that can be corrected.
    """

    def __init__(
        self,
        keeping: Keeping,
        writer: Writer,
        policy: Policy,
        view: Callable[[str], RunView | None],
        find: Callable[[str], Directive | None],
        *,
        remember: int = REMEMBERED,
    ) -> None:
        self._keeping = keeping
        self._writer = writer
        self._policy = PolicyMark(policy)
        self._view = view
        self._find = find
        remember = min(remember, WITH_CONTENT) if keeping.capture_bytes else remember
        self._steps = Recorder(remember, charged=not keeping.steps)
        self._answers = Answers()
        self._standing: OrderedDict[str, Standing] = OrderedDict()
        self._wanted: list[Wanted] = []
        self.ended: Callable[[Call, CallEnded], None] = self._steps.ended
        self.amended: Callable[[Amended], None] = self._steps.amended
        self.settle: Callable[..., bool] = self._steps.settle

    def look(self, span: RawSpan) -> None:
        """A span is about to be judged: its contents are kept with its call, where that is asked."""
        if self._keeping.capture_bytes:
            self._steps.content = content_of(span.attributes, self._keeping.capture_bytes)

    def obey(self, policy: Policy) -> None:
        """Another policy is in force."""
        self._policy = PolicyMark(policy)

    def verdict(self, verdict: Verdict, wall: float) -> str:
        """The engine, or an operator through it, has spoken, at `wall`. The id of the event; empty: it is
        none."""
        removal = verdict.removal
        trip = self._standing.pop(removal.id, None) if removal else None
        row = event_of(verdict, self._about(verdict, wall, trip))
        if row is None:
            return ""
        self._writer.events([row])
        if verdict.directive is not None:
            evidence = verdict.directive.evidence
            self._stands(verdict.directive.id, Standing(row, evidence.detector, evidence.rule))
        if row.kind == "trip" and self._keeping.snapshots:
            view = self._view(row.run) if row.run else None
            if view is not None:
                self._wanted.append(snapshots.wanted(row, view, self._policy))
        return row.id

    def order(self, order: Order, who: str, done: bool, wall: float) -> str:
        """An operator, or an alert, ordered something. The id of the event."""
        run = self._view(order.key.id) if order.key.level is Level.RUN else None
        row = order_of(order, who, done, About(wall, run=run, policy=self._policy.version))
        self._writer.events([row])
        return row.id

    def effects(self, instance: Instance, effects: Iterable[Effect], wall: float) -> None:
        """An application says what came of directives."""
        rows = [
            self._answers.row_of(instance, effect, self._standing.get(effect.directive_id), wall)
            for effect in effects
        ]
        self._writer.events([row for row in rows if row is not None])

    def budgets(self, events: Sequence[BudgetEvent]) -> None:
        """Something was told of budgets."""
        self._writer.events([self._note(event) for event in events])

    def keep(self) -> None:
        """Hands on what was gathered. Several times a second."""
        if rows := self._steps.take():
            self._writer.steps(rows)
        if self._wanted:
            wanted, self._wanted = self._wanted, []
            self._writer.snapshots(wanted)

    def _note(self, event: BudgetEvent) -> EventRow:
        step = self._steps.of(event.trace_id, event.span_id) if event.span_id else None
        return note_of(event, step, self._policy.version)

    def _about(self, verdict: Verdict, wall: float, trip: Standing | None) -> About:
        finding, directive = verdict.finding, verdict.directive
        return About(
            wall,
            step=self._steps.of(verdict.trace_id, finding.span_id) if finding else None,
            run=self._view(verdict.run) if verdict.run else None,
            directive=self._find(directive.id) if directive else None,
            policy=self._policy.version,
            mode=self._policy.mode,
            trip=trip,
        )

    def _stands(self, directive: str, standing: Standing) -> None:
        self._standing[directive] = standing
        self._standing.move_to_end(directive)
        if len(self._standing) > STANDING:
            self._standing.popitem(last=False)
