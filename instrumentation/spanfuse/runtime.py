"""The parts that are at work in this process, as one value.

Rule 1: there is one, or there is none: whoever is called by the application asks `live()` once and goes by
the answer. Rule 2: it is replaced, never changed: in the child of a fork too. It does not know how the
parts are made: that is `instrument.py`'s.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from opentelemetry.trace import SpanContext

from spanfuse.board import Board
from spanfuse.degrading import Degrader
from spanfuse.expecting import Expecting
from spanfuse.gate import Gate
from spanfuse.guard import fault
from spanfuse.host import Host
from spanfuse.inflight import Inflight
from spanfuse.lineage import Lineage
from spanfuse.payments import Payments
from spanfuse.settings import Settings
from spanfuse.telemetry import Tracing
from spanfuse.throttle import Throttle
from spanfuse.twins import Twins
from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.policy import ToolRule
from spanfuse_processor.engine.pricing import PriceBook


@dataclass(slots=True, eq=False)
class Runtime:
    """Everything that a call needs.

    `tools` is what policy says of tools by name. `origin` is the span under which calls go that have no span
    above them: the root of the process's own run, or the span of the parent process.
    """

    settings: Settings
    board: Board
    gate: Gate
    throttle: Throttle
    degrader: Degrader
    payments: Payments
    inflight: Inflight
    host: Host
    prices: PriceBook
    prints: Fingerprinter
    tracing: Tracing
    expecting: Expecting = field(default_factory=Expecting)
    lineage: Lineage = field(default_factory=Lineage)
    twins: Twins = field(default_factory=Twins)
    tools: Mapping[str, ToolRule] = field(default_factory=dict)
    origin: SpanContext | None = None
    started: bool = False
    _starting: threading.Lock = field(default_factory=threading.Lock, init=False)

    def start(self) -> None:
        """Starts the host, once. The child of a fork does so with its first call."""
        if not self.started and self._starting.acquire(blocking=False):
            self.started = True
            try:
                self.host.start()
            except Exception as error:
                fault("host.start", error)


class _Process:
    """What is installed in this process."""

    runtime: Runtime | None = None


_process = _Process()


def live() -> Runtime | None:
    """The parts at work, or None: not instrumented, or shut down."""
    return _process.runtime


def install(runtime: Runtime | None) -> Runtime | None:
    """Puts `runtime` to work (None: nothing) and returns what was before."""
    before, _process.runtime = _process.runtime, runtime
    return before
