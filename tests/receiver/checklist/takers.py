"""Takers of spans with a mind of their own: one that judges, one that keeps a sender waiting."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field

from tests.receiver.serving import BOUND, Taker

from spanfuse_processor.engine import Engine, NoPrices, Policy
from spanfuse_processor.receiver.decoded import Decoded
from spanfuse_processor.receiver.intake import Overloaded


@dataclass
class JudgingTaker(Taker):
    """The engine behind the receiver. The slice with the number `refuse_slice` is refused, once."""

    engine: Engine = field(default_factory=lambda: Engine(Policy(), NoPrices()))
    slices: int = 0
    refuse_slice: int = 0

    async def ingest(self, part: Decoded) -> None:
        """Judges a slice."""
        if self.slices + 1 == self.refuse_slice:
            self.refuse_slice = 0
            raise Overloaded(1)
        for span in part.spans:
            self.engine.ingest(span, 0.0)
        self.slices += 1


@dataclass
class HeldTaker(Taker):
    """Takes nothing before `go_on` is set."""

    go_on: threading.Event = field(default_factory=threading.Event)

    async def ingest(self, part: Decoded) -> None:
        """Waits, then takes."""
        await asyncio.to_thread(self.go_on.wait, BOUND)
        await super().ingest(part)
