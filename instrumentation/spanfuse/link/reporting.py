"""Reports: what came of directives, which calls are open, which runs live. The answer may bring directives.

Rule 1: what could not be delivered is kept and goes with the next report; of one directive only the newest
record. Rule 2: reports are spaced: what happens in between goes together. Rule 3: only the processor's own
directives are answered. It imports protobuf, so it is imported by the thread that connects.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty
from typing import Final

from spanfuse.board import Board
from spanfuse.effects import told
from spanfuse.link.channel import Link
from spanfuse.link.local_limits import ISSUER
from spanfuse.link.watch import Watcher
from spanfuse.signs import Signs
from spanfuse_processor.engine.nouns import Instant
from spanfuse_processor.wire import requests
from spanfuse_processor.wire.answers import Answers
from spanfuse_processor.wire.effect import Effect, EffectState, Instance
from spanfuse_processor.wire.messages import SERVICE

REPORT: Final = f"/{SERVICE}/Report"
PATIENCE: Final = 2.0
"""Seconds that a report may take."""
SPACING: Final = 0.02
"""Seconds between two reports, at least."""
AGAIN: Final = 1.0
"""Seconds until the next try after one that failed."""
MOST: Final = 1_000
"""Effects, and open calls, of one report at most."""
KEPT: Final = 10_000
"""Effects that wait for a processor at most; the oldest go first."""


class Reporter:
    """Reports to the processor. One thread uses it."""

    def __init__(
        self,
        link: Link,
        board: Board,
        signs: Signs,
        watcher: Watcher,
        instance: Callable[[], Instance],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._link = link
        self._board = board
        self._signs = signs
        self._watcher = watcher
        self._instance = instance
        self._clock = clock
        self._pending: dict[str, Effect] = {}
        self._answers: Answers | None = None  # as they were sent, until somebody has heard them
        self._seq = 0
        self._not_before: Instant = 0.0

    def tick(self) -> float | None:
        """Reports what there is to report; returns the seconds until it wants to be called again, if it does.

        Call it only while the processor is there: what it finds to report it must be able to deliver.
        """
        left = self._not_before - self._clock()
        if left > 0:
            return left
        return self._not_before - self._clock() if self._report(PATIENCE) else None

    def finish(self, timeout: float) -> None:
        """Reports what is left, within `timeout` seconds."""
        self._report(timeout)

    def _report(self, timeout: float) -> bool:
        """Whether there was anything to report."""
        self._collect()
        effects = list(self._pending.values())[:MOST]
        now = self._board.clock()
        calls, beats = self._signs.due_calls(now, MOST), self._signs.due_beats(now)
        self._answers = self._answers or self._board.ledger.answering.take()
        if not (effects or calls or beats or self._answers):
            return False
        self._seq += 1
        who, cursor = self._instance(), self._watcher.cursor
        request = requests.report(who, cursor, self._seq, effects, calls, beats, self._answers)
        self._send(request.SerializeToString(), effects, timeout)
        return True

    def _send(self, request: bytes, effects: list[Effect], timeout: float) -> None:
        import grpc

        try:
            answer = self._link.unary(REPORT)(request, timeout=timeout)
        except grpc.RpcError:
            self._not_before = self._clock() + AGAIN
            return
        self._not_before = self._clock() + SPACING
        self._answers = None
        for effect in effects:
            if self._pending.get(effect.directive_id) is effect:
                del self._pending[effect.directive_id]
        self._watcher.reported(answer)

    def _collect(self) -> None:
        for record in self._board.drain_effects():
            if record.directive.issuer != ISSUER:
                self._keep(told(record))
        with suppress(Empty):
            while True:
                refused = self._watcher.refused.get_nowait()
                self._keep(Effect(refused.id, refused.revision, EffectState.REJECTED, refused.reason))

    def _keep(self, effect: Effect) -> None:
        self._pending.pop(effect.directive_id, None)
        self._pending[effect.directive_id] = effect
        if len(self._pending) > KEPT:
            del self._pending[next(iter(self._pending))]
