"""A call that has begun and is watched: its span, its record, and its one end.

Rule 1: exactly one of succeed and fail counts. Rule 2: times are the monotonic clock's, moved to wall time
by one offset: one instant is one time, and a clock that jumps makes no negative durations. Rule 3: the host
hears of an end before the application's own span processors do: they may be slow, a stop may not. It does not
know how the call was admitted.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Final

from opentelemetry import trace
from opentelemetry.trace import Status, StatusCode

from spanfuse.calls import contents, record, settling
from spanfuse.calls.underway import event_of
from spanfuse.calls.unwatched import NOTHING, ActiveCall
from spanfuse.calls.wall import WALL
from spanfuse.context import RunScope, attached, in_call, kept_here, with_run
from spanfuse.degrading import Changed
from spanfuse.errors import BreakerOpen, RunStopped
from spanfuse.gate import Permit, named_key
from spanfuse.guard import guarded
from spanfuse.inflight import Wait
from spanfuse.lineage import Trail
from spanfuse.payment import Payment
from spanfuse.provider import Intent, Outcome
from spanfuse.runtime import Runtime
from spanfuse.telemetry import SCOPE
from spanfuse_processor.engine import names
from spanfuse_processor.engine.events import STATUS_ERROR, CallOpen, RawSpan
from spanfuse_processor.engine.fingerprint import ArgumentPrints, joined
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.engine.verdicts import Directive, Mode

_PROVIDERS_OWN: Final = frozenset({Kind.MODEL, Kind.EMBEDDINGS})
_INSIDE: Final = {Kind.AGENT: RunScope.inside, Kind.TOOL: RunScope.within}


class WatchedCall(ActiveCall):
    """A call that is recorded and judged.

    `begun` is the monotonic instant of its beginning, now when None; `arguments` is what can be compared
    about them, found here when None; `changed` is what became of its request, None when it is as it was;
    `payment` is what it has paid, None when it need not.
    """

    __slots__ = (
        "_alive",
        "_changed",
        "_intent",
        "_known",
        "_live",
        "_open",
        "_payment",
        "_permit",
        "_start_ns",
        "_started",
        "_trail",
        "began",
        "kind",
        "resource",
        "resting",
        "span_id",
    )

    def __init__(
        self,
        live: Runtime,
        intent: Intent,
        trail: Trail,
        permit: Permit,
        begun: float | None = None,
        arguments: ArgumentPrints | None = None,
        changed: Changed | None = None,
        payment: Payment | None = None,
    ) -> None:
        outer = trail.scope
        inside = _INSIDE.get(intent.kind)
        super().__init__(inside(outer, intent.name) if inside else outer)
        now = live.board.clock()
        self._live = live
        self._intent = intent
        self._trail = trail
        self._permit = permit
        self._changed = changed
        self._payment = payment
        self._open = [True]
        self.kind = intent.kind
        self.resting = False
        self.resource = live.tracing.resource
        self.began = self._alive = now if begun is None else begun
        self._start_ns = WALL.at(self.began, now)
        asked = settling.asked(live, intent) if arguments is None else arguments
        self._known = record.of_start(intent, outer) | record.of_prints(joined(asked))
        if live.settings.capture_content:
            self._known |= contents.given(intent)
        if payment is not None and payment.accounts:
            self._known[names.LEASED] = list(payment.accounts)
        self._started = live.tracing.start(
            record.span_name(intent), record.span_kind(intent), self._known, self._start_ns, trail.origin
        )
        self.span_id = self._started.span_id
        if payment is not None:
            payment.named(self._started.trace_id, self.span_id)
        live.twins.note(self.span_id, self._started.parent_span_id, intent.kind)

    def told(self, now: float) -> CallOpen:
        """The call as an event, as it is now; for the host."""
        event = event_of(self._intent, self._trail.scope, self._started, self._start_ns, self.resource)
        event.open_for, event.quiet_for = max(0.0, now - self.began), max(0.0, now - self._alive)
        return event

    @guarded("attached", NOTHING)
    def attached(self) -> AbstractContextManager[None]:
        """Makes the call's span and scope current in this context (for the body of a tool or agent).

        A provider is not told who its customer's user is: around a model call no baggage of ours goes out.
        """
        around = kept_here(self.scope) if self._intent.kind in _PROVIDERS_OWN else with_run(self.scope)
        around = in_call(self._started.trace_id, self.span_id, around)
        return attached(trace.set_span_in_context(self._started.span, around))

    @guarded("waiting", NOTHING)
    def waiting(self) -> Wait | nullcontext[None]:
        """Around the wait for the answer: `async with` where a stop may interrupt it, `with` where not."""
        return self._live.inflight.wait((*self.scope.keys, named_key(self._intent)), self._payer)

    @property
    @guarded("ordered", None)
    def ordered(self) -> Directive | None:
        """The directive that stands for this call's run now: what a stream asks at each chunk. Cheap."""
        if not self._live.board.refusing:
            return None
        directive = self._live.gate.standing(self._intent, self._trail.scope)
        if directive is None or directive.mode is not Mode.ENFORCE or not directive.cancel_in_flight:
            return None
        return directive if self._live.board.grace_is_over(directive) else None

    def rests(self, resting: bool) -> None:
        """Whether nobody waits for it now, as between two pieces of its answer: it is not stuck then."""
        self.resting = resting
        if not resting:
            self._alive = self._live.board.clock()

    @guarded("put back", False)
    def put_back(self, error: BaseException) -> bool:
        """Whether a request that was made cheaper is now again what the application asked for."""
        attributes = None if self._changed is None else self._changed.restores(error)
        if attributes is None:
            return False
        self._known.update(attributes)
        self._known = {name: value for name, value in self._known.items() if value is not None}
        span = self._started.span
        span.update_name(record.span_name(self._intent))
        span.set_attributes({name: value for name, value in attributes.items() if value is not None})
        self._pay_anew()
        return True

    @guarded("succeed", None)
    def succeed(self, outcome: Outcome) -> None:
        """The call ended well (or a stream was dropped: `outcome.complete` False)."""
        if not self._closes():
            return
        ended = self._note_end()
        known: record.Attributes = {}
        try:
            known.update(self._told(outcome))
            known.update(settling.compared(self._live, self._intent, outcome))
            self._remember(outcome, ended)
            if self._changed is not None:
                self._changed.settled()
        finally:
            self._permit.settle(outcome.usage)
            if self._payment is not None:
                used, guess = settling.spent(outcome, known), settling.guessed(known)
                settling.presume(known, self._payment.answered(used, outcome.service, guess))
            self._finish(known, ended)

    @guarded("fail", None)
    def fail(self, error: BaseException, partial: Outcome | None = None) -> None:
        """The call raised; `partial` is what a stream had said before: it is paid for."""
        if not self._closes():
            return
        ended = self._note_end()
        known = record.of_error(error)
        try:
            if partial is not None:
                known.update(self._told(partial))
            known.update(settling.compared_error(self._live, self._intent, error))
            if self._intent.stream and isinstance(error, BreakerOpen | RunStopped):
                self._live.board.ledger.add(error.directive, closed=1)
        finally:
            self._permit.fail(error)
            if self._payment is not None:
                used, guess = partial.usage if partial else None, settling.guessed(known)
                settling.presume(known, self._payment.failed(error, used, guess))
            self._finish(known, ended, STATUS_ERROR)

    def _told(self, outcome: Outcome) -> record.Attributes:
        known = settling.told(self._live, self._intent, outcome, self._start_ns, self._payment)
        if self._live.settings.capture_content:
            known |= contents.answered(self._intent, outcome)
        return known

    def _pay_anew(self) -> None:
        """What was refused cost nothing; what is asked now may cost more, and others may pay for it."""
        payment, self._payment = self._payment, None
        if payment is not None:
            payment.cancel()
        self._payment = payment = self._live.payments.pay_at_once(self._intent, self._trail.scope)
        accounts = [] if payment is None else list(payment.accounts)
        if payment is not None:
            payment.named(self._started.trace_id, self.span_id)
        if accounts or names.LEASED in self._known:
            self._known[names.LEASED] = accounts
            self._started.span.set_attribute(names.LEASED, accounts)

    def _payer(self) -> Payer:
        return self._live.gate.payers.of(self._trail.scope, self._intent)

    def _closes(self) -> bool:
        """True for the first who asks, whatever the thread."""
        with suppress(IndexError):
            return self._open.pop()
        return False

    def _note_end(self) -> float:
        ended = self._live.board.clock()
        self._live.board.ended(self._started.span_id, ended)
        return ended

    def _remember(self, outcome: Outcome, ended: float) -> None:
        """Keeps what the model asked for, so that the next request is known to belong to this run."""
        if self._intent.kind is Kind.MODEL and (outcome.tool_requests or outcome.response_id):
            origin = self._trail.origin or self._started.span.get_span_context()
            settling.remember(self._live, outcome, Trail(self._trail.scope, origin), ended)

    def _finish(self, known: record.Attributes, ended: float, status: int = 0) -> None:
        self._known.update(known)
        if self._intent.resends:
            self._known[names.RESENDS] = self._intent.resends
        end_ns = self._start_ns + max(0, int(ended * 1e9) - int(self.began * 1e9))
        ids = self._started
        try:
            self._live.host.span_ended(
                RawSpan(
                    ids.trace_id,
                    ids.span_id,
                    ids.parent_span_id,
                    record.span_name(self._intent),
                    self._start_ns,
                    end_ns,
                    self._known,
                    self._live.tracing.resource,
                    SCOPE,
                    status,
                )
            )
            settling.correct(self._live, known, ids.span_id)
        finally:
            self._end_span(known, end_ns, status)

    def _end_span(self, known: record.Attributes, end_ns: int, status: int) -> None:
        span = self._started.span
        if span.is_recording():
            span.set_attributes(known)
            if status:
                span.set_status(Status(StatusCode.ERROR))
            span.end(end_ns)
