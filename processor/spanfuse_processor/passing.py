"""What a service passes on by OTLP: spans as they came in, and spans about what its breaker does.

Rule 1: it introduces the receiver to the destinations, and knows nothing else of either. Rule 2: nobody waits
for it, and nothing of it is a reason not to judge. Without a destination there is nobody to pass anything on
to, and it does nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain, repeat
from typing import Final

from spanfuse_processor.clock import Clock
from spanfuse_processor.config import Config
from spanfuse_processor.engine.alerts import BudgetEvent
from spanfuse_processor.engine.breaker_span import BreakerSpan, of_budget, of_order, of_verdict
from spanfuse_processor.engine.nouns import Level
from spanfuse_processor.engine.orders import Order
from spanfuse_processor.engine.runs.run import RunView
from spanfuse_processor.engine.verdicts import Verdict
from spanfuse_processor.forwarding import Forwarding, Standing
from spanfuse_processor.forwarding.encoding import request_of
from spanfuse_processor.receiver.conversion import unpacked
from spanfuse_processor.receiver.onward import Onward
from spanfuse_processor.serving import StartError

GATHER: Final = 0.1
"""Seconds for which spans about the breaker are gathered."""
MOST: Final = 512
"""Spans about the breaker in one request."""

View = Callable[[str], RunView | None]
"""What is known of a run, by its id."""


class Passing:
    """Of one service, from `start` to `close`.

    Attributes:
        onward: what intakes hand requests on by; None: there is no destination for them.

    Raises:
        StartError: a file of authorities cannot be used.
    """

    def __init__(
        self,
        config: Config,
        clock: Clock,
        on_fault: Callable[[str, BaseException], None],
        view: View,
    ) -> None:
        self._view, self._on_fault = view, on_fault
        self._told: list[BreakerSpan] = []
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
        if config.forward.spans:
            self.onward = Onward(forwarding.offer, forwarding.instance)

    def start(self) -> None:
        """Begins to send."""
        if self._forwarding is not None:
            self._forwarding.start()

    def verdicts(self, verdicts: Iterable[Verdict], wall_ns: int, ids: Iterable[str] = ()) -> None:
        """The engine has spoken, at that moment. `ids` are those of the events for the record, one each."""
        if self._wanted:
            named = zip(verdicts, chain(ids, repeat("")), strict=False)
            self._tell(of_verdict(each, wall_ns, self._trace_of(each.run), name) for each, name in named)

    def order(self, order: Order, who: str, done: bool, wall_ns: int, event_id: str = "") -> None:
        """Somebody has ordered something, at that moment; it changed something or not (`done`)."""
        if self._wanted:
            run = order.key.id if order.key.level is Level.RUN else ""
            self._tell([of_order(order, who, done, wall_ns, self._trace_of(run), event_id)])

    def budget(self, event: BudgetEvent) -> None:
        """Something is told of a budget."""
        if self._wanted:
            self._tell([of_budget(event)])

    def standings(self) -> Mapping[str, Standing]:
        """How every destination is, by name. It only reads: another thread may ask."""
        return {} if self._forwarding is None else self._forwarding.standings()

    async def close(self) -> None:
        """Sends what waits, as far as that goes in time."""
        self._flush()
        if self._forwarding is not None:
            await self._forwarding.close()

    def _tell(self, told: Iterable[BreakerSpan | None]) -> None:
        """Gathers for a moment: many stops at once are few requests."""
        waits = bool(self._told)
        self._told += [each for each in told if each is not None]
        if self._told and not waits:
            asyncio.get_running_loop().call_later(GATHER, self._flush)

    def _flush(self) -> None:
        told, self._told = self._told, []
        forwarding = self._forwarding
        if forwarding is None:
            return
        try:
            for first in range(0, len(told), MOST):
                forwarding.tell(request_of(told[first : first + MOST], forwarding.instance))
        except Exception as error:
            self._on_fault("forwarding", error)

    @property
    def _wanted(self) -> bool:
        """Whether there is anybody to tell."""
        return self._tells and self._forwarding is not None

    def _trace_of(self, run: str) -> bytes:
        view = self._view(run) if run else None
        return view.trace_id if view is not None else b""
