"""Spans on their way out: queued by the application's threads, sent by one of our own.

Rule 1: `put` never waits: what the queue cannot hold costs its oldest span, which is counted. Rule 2: one
request at a time, and all that waits goes with it, so that a lone span leaves at once and a flood leaves in
batches. Rule 3: what the processor may take later is kept and tried again, for ever; what it refuses is
dropped and counted. It knows no directives.
"""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from spanfuse.guard import fault
from spanfuse.link.bell import Bell
from spanfuse.link.channel import Link
from spanfuse_processor.engine.events import RawSpan

LIMIT: Final = 8_192
"""Spans that wait at most."""
BATCH: Final = 512
"""Spans of one request at most."""
PATIENCE: Final = 5.0
"""Seconds that one request may take."""
STALLED: Final = 2.0
"""Seconds after which a request that is under way counts as a processor that does not answer."""
FIRST, LONGEST = 0.1, 5.0
"""Seconds of back-off: its first ceiling and its last. Whoever hears of the processor calls `nudge`."""
REFUSED: Final = frozenset({"INVALID_ARGUMENT", "RESOURCE_EXHAUSTED", "INTERNAL", "UNKNOWN"})
"""The codes that no repetition heals (OTLP, "Failures"); a request that is too large is cut in two before."""


def _ignore() -> None:
    """Nobody listens."""


class Sender:
    """Sends spans in the order in which they ended.

    Attributes:
        sent: spans that the processor took.
        dropped: spans that it will never see: overflow, refused, unwritable.
        problem: why the last request failed, empty after a success.
    """

    def __init__(
        self,
        link: Link,
        resource: Mapping[str, object],
        on_change: Callable[[], None] = _ignore,
        limit: int = LIMIT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.sent = 0
        self.dropped = 0
        self.problem = ""
        self._link = link
        self._resource = resource
        self._on_change = on_change
        self._clock = clock
        self._waiting: deque[RawSpan] = deque(maxlen=limit)
        self._batch: list[RawSpan] = []
        self._size = BATCH
        self._bell = Bell()
        self._failures = 0
        self._not_before = 0.0
        self._busy_since: float | None = None
        self._ends_at: float | None = None  # set by `stop`
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begins to send, on a thread of its own."""
        self._thread = threading.Thread(target=self._run, name="spanfuse-send", daemon=True)
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Sends what waits, for at most `timeout` seconds, and ends."""
        self._failures = 0
        self._ends_at = self._clock() + timeout
        self._bell.ring()
        if self._thread is not None:
            self._thread.join(timeout)

    def put(self, span: RawSpan) -> None:
        """Queues a span. Any thread, at any point; costs about a microsecond."""
        waiting = self._waiting
        if len(waiting) == waiting.maxlen:
            self.dropped += 1
        waiting.append(span)
        self._bell.ring()

    def nudge(self) -> None:
        """The processor was heard of: what waits is tried now."""
        self._not_before = 0.0
        self._bell.ring()

    def __len__(self) -> int:
        """Spans that have not left yet."""
        return len(self._waiting) + len(self._batch)

    def unsent(self) -> list[RawSpan]:
        """Copies the queue: spans that the processor may not have seen, oldest first."""
        return [*self._batch, *self._waiting]

    def is_heard(self) -> bool:
        """Whether the processor takes spans, for all we know: not after a failure, nor in a long silence."""
        since = self._busy_since
        return not self.problem and (since is None or self._clock() - since < STALLED)

    def _run(self) -> None:
        while not self._is_over():
            self._bell.wait(self._pause())
            try:
                while len(self) and self._may_send():
                    self._send()
            except Exception as error:  # a fault of ours, which the same spans would cause again
                self._discard(len(self._batch), str(error))
                fault("export", error)

    def _pause(self) -> float | None:
        """Until when to sleep: a ring, or the end of the back-off if there is something to send."""
        if self._ends_at is not None:
            return 0.0
        return self._not_before - self._clock() if len(self) else None

    def _may_send(self) -> bool:
        return not self._is_over() and (self._ends_at is not None or self._clock() >= self._not_before)

    def _is_over(self) -> bool:
        """Stopped, and nothing waits any more, or time is up, or the processor does not take it."""
        if self._ends_at is None:
            return False
        return not len(self) or self._failures > 0 or self._clock() >= self._ends_at

    def _send(self) -> None:
        import grpc

        from spanfuse.link import otlp

        while self._waiting and len(self._batch) < self._size:
            self._batch.append(self._waiting.popleft())
        part = self._batch[: self._size]
        request, unwritten = otlp.encode(part, self._resource)
        try:
            answer = self._request(otlp.METHOD, request)
        except grpc.RpcError as error:
            self._failed(len(part), error.code().name, error.details() or "")
        else:
            self._succeeded(len(part), unwritten + otlp.read_rejected(answer))

    def _request(self, method: str, request: bytes) -> bytes:
        self._busy_since = since = self._clock()
        left = PATIENCE if self._ends_at is None else max(0.0, self._ends_at - since)
        try:
            return self._link.unary(method)(request, timeout=min(PATIENCE, left))
        finally:
            self._busy_since = None
            if self._clock() - since >= STALLED:  # who thought that it would not answer may think again
                self._on_change()

    def _succeeded(self, count: int, lost: int) -> None:
        lost = min(count, lost)
        self.sent += count - lost
        self.dropped += lost
        del self._batch[:count]
        self._size = min(BATCH, self._size * 2)
        self._failures = 0
        self._changed("")

    def _failed(self, count: int, code: str, details: str) -> None:
        if code == "RESOURCE_EXHAUSTED" and count > 1:
            self._size = count // 2
            return
        problem = f"{code}: {details}"
        if code in REFUSED:
            self._discard(count, problem)
            return
        self._failures += 1
        ceiling = min(LONGEST, FIRST * 2 ** min(self._failures, 10))
        self._not_before = self._clock() + random.uniform(0, ceiling)
        self._changed(problem)

    def _discard(self, count: int, problem: str) -> None:
        self.dropped += count
        del self._batch[:count]
        self._changed(problem)

    def _changed(self, problem: str) -> None:
        before, self.problem = self.problem, problem
        if bool(before) != bool(problem):
            self._on_change()
