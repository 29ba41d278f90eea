"""What a service passes on by OTLP: spans as they came in, and spans about what its breaker does.

Rule 1: it introduces the receiver to the destinations, and knows nothing else of either. Rule 2: nobody waits
for it, and nothing of it is a reason not to judge. Without a destination there is nobody to pass anything on
to, and it does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from spanfuse_processor.clock import Clock
from spanfuse_processor.config import Config
from spanfuse_processor.engine.alerts import BudgetEvent
from spanfuse_processor.engine.breaker_span import of_budget, of_verdict
from spanfuse_processor.engine.verdicts import Verdict
from spanfuse_processor.forwarding import Forwarding, Standing
from spanfuse_processor.forwarding.encoding import request_of
from spanfuse_processor.receiver.conversion import unpacked
from spanfuse_processor.receiver.onward import Onward
from spanfuse_processor.serving import StartError

TraceOf = Callable[[str], bytes]
"""The trace of a run, by the run's id; empty: it is not known."""


class Passing:
    """Of one service, from `start` to `close`.

    Attributes:
        onward: what intakes hand requests on by; None: there is no destination.

    Raises:
        StartError: a file of authorities cannot be used.
    """

    def __init__(
        self,
        config: Config,
        clock: Clock,
        on_fault: Callable[[str, BaseException], None],
        trace_of: TraceOf,
    ) -> None:
        self._trace_of = trace_of
        self._forwarding: Forwarding | None = None
        self.onward: Onward | None = None
        self._tells = config.forward.events
        if not config.forward.everywhere():
            return
        unpack = partial(unpacked, limit=config.intake.max_request_bytes)
        try:
            self._forwarding = forwarding = Forwarding(config.forward, clock, unpack, on_fault)
        except (OSError, ValueError) as error:
            raise StartError(f"forward: a ca_file cannot be used: {error}") from None
        self.onward = Onward(forwarding.offer, forwarding.instance)

    def start(self) -> None:
        """Begins to send."""
        if self._forwarding is not None:
            self._forwarding.start()

    def verdicts(self, verdicts: Iterable[Verdict], wall_ns: int) -> None:
        """The engine has spoken, at that moment."""
        if self._forwarding is None or not self._tells:
            return
        told = [of_verdict(each, wall_ns, self._trace(each)) for each in verdicts]
        spans = [each for each in told if each is not None]
        if spans:
            self._forwarding.tell(request_of(spans, self._forwarding.instance))

    def budget(self, event: BudgetEvent) -> None:
        """Something is told of a budget."""
        if self._forwarding is not None and self._tells:
            self._forwarding.tell(request_of([of_budget(event)], self._forwarding.instance))

    def standings(self) -> Mapping[str, Standing]:
        """How every destination is, by name. It only reads: another thread may ask."""
        return {} if self._forwarding is None else self._forwarding.standings()

    async def close(self) -> None:
        """Sends what waits, as far as that goes in time."""
        if self._forwarding is not None:
            await self._forwarding.close()

    def _trace(self, verdict: Verdict) -> bytes:
        return verdict.trace_id or (self._trace_of(verdict.run) if verdict.run else b"")
