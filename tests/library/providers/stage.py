"""A stage for tests of provider adapters: the library with a board, and a host that only remembers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.waiting import until

from spanfuse import context, runtime
from spanfuse.assembly import assemble
from spanfuse.board import Board
from spanfuse.context import RunScope
from spanfuse.host import HostStats, OnPolicy, Underway, Witness
from spanfuse.provider import ProviderAdapter
from spanfuse.purse import FreePurse, Purse
from spanfuse.settings import Settings
from spanfuse_processor.engine import names
from spanfuse_processor.engine.events import CallStarted, Heartbeat, RawSpan
from spanfuse_processor.engine.nouns import BreakerKey, Identity, Level
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.verdicts import Directive

RUN = "run-1"


class Memory:
    """A host that judges nothing."""

    def __init__(self) -> None:
        self.begun: list[CallStarted] = []
        self.ended: list[RawSpan] = []
        self.purse: Purse = FreePurse()
        self.followers: list[OnPolicy] = []
        self.witnesses: list[Witness] = []

    def start(self) -> None: ...

    def stop(self, timeout: float = 2.0) -> None: ...

    def call_started(self, call: Underway) -> None:
        self.begun.append(call.told(call.began))

    def heartbeat(self, beat: Heartbeat) -> None: ...

    def span_ended(self, span: RawSpan) -> None:
        self.ended.append(span)

    def kill(self, key: BreakerKey, reason: str) -> bool:
        return False

    def release(self, key: BreakerKey) -> bool:
        return False

    def stats(self) -> HostStats:
        return HostStats()


class Stage:
    """What a test sees and does: the spans that ended, and the order to stop."""

    def __init__(self, board: Board, memory: Memory) -> None:
        self.board = board
        self.memory = memory
        self._revision = 0

    def stop(self, run: str = RUN) -> Directive:
        """Orders the run to stop."""
        self._revision += 1
        directive = Directive(f"run/{run}/stop", self._revision, BreakerKey(Level.RUN, run), reason="LOOP")
        self.board.post(directive)
        return directive

    @property
    def spans(self) -> list[dict[str, Any]]:
        """The attributes of the spans that have ended."""
        return [dict(span.attributes) for span in self.memory.ended]

    def only(self) -> dict[str, Any]:
        """The attributes of the one call that was made; waits for its end."""
        until(lambda: self.memory.ended)
        assert len(self.memory.begun) == len(self.memory.ended) == 1
        return self.spans[0]

    def tools(self) -> list[dict[str, Any]]:
        """The attributes of the tool spans that have ended."""
        return [span for span in self.spans if span[names.OPERATION] == "execute_tool"]


@contextmanager
def staged(adapter: ProviderAdapter, purse: Purse | None = None) -> Iterator[Stage]:
    """The library at work with `adapter`, in the run `RUN`; calls pay from `purse`."""
    board, memory = Board(), Memory()
    memory.purse = purse or memory.purse
    before = runtime.install(assemble(Settings(policy=Policy()), board, memory))
    context.set_process_run(RunScope(RUN, Identity(feature="test")))
    adapter.patch()
    try:
        yield Stage(board, memory)
    finally:
        adapter.unpatch()
        context.set_process_run(None)
        runtime.install(before)
