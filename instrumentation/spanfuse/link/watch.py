"""The watch: what the processor orders, brought to the board, over as many streams as it takes.

Rule 1: when to open a stream, to cut it and to poll is the session's to say; here it is done. Rule 2: what
changes is applied in the order in which the session took it, under one lock. Rule 3: a processor that lost
its memory pardons nobody: what stands on the board holds until its time is up or it is withdrawn by name.
It knows no spans. It imports protobuf, so it is imported by the thread that connects.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final

from spanfuse.board import Board
from spanfuse.guard import fault
from spanfuse.link.channel import Link
from spanfuse_processor.engine.verdicts import Directive, Removal
from spanfuse_processor.wire import requests
from spanfuse_processor.wire.backoff import Patience
from spanfuse_processor.wire.directives import Refused
from spanfuse_processor.wire.log import EXPIRED
from spanfuse_processor.wire.messages import SERVICE, Cursor, Instance
from spanfuse_processor.wire.replica import REPLACED, Changes
from spanfuse_processor.wire.session import LinkState, Loss, Step, WatchSession

WATCH: Final = f"/{SERVICE}/Watch"
LIST: Final = f"/{SERVICE}/List"
POLL_PATIENCE: Final = 2.0
"""Seconds that a poll may take."""
DENIED: Final = frozenset({"UNAUTHENTICATED", "PERMISSION_DENIED", "UNIMPLEMENTED"})
"""The codes by which a server says that it will not have us."""


class Watcher:
    """Watches for orders, on a thread of its own that reads one stream after the other.

    `instance` says who we are whenever that is asked. `on_change` is called, on the thread that noticed, when
    a directive came or went or the connection did; then, and when `tick` said so, `tick` wants to be called.
    `on_withdrawal` is told the ids of what the processor takes back before its time, ordered here or not.

    Attributes:
        directives: how many were taken.
        problem: why the last stream ended, for a person.
        refused: what could not be read and is to be reported; whoever reports takes them out.
    """

    def __init__(
        self,
        link: Link,
        board: Board,
        instance: Callable[[], Instance],
        on_change: Callable[[], None],
        on_withdrawal: Callable[[str], None] = lambda directive_id: None,
        patience: Patience | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.directives = 0
        self.problem = ""
        self.refused: SimpleQueue[Refused] = SimpleQueue()
        self._link = link
        self._board = board
        self._instance = instance
        self._on_change = on_change
        self._on_withdrawal = on_withdrawal
        self._clock = clock
        self._session = WatchSession(clock(), patience)
        self._lock = threading.Lock()  # around the session, and the board's changes in their order
        self._epoch = ""
        self._call: Any = None
        self._stopped = False
        self._wanted: SimpleQueue[bool] = SimpleQueue()  # another stream, or (False) the end
        self._thread = threading.Thread(target=self._run, name="spanfuse-watch", daemon=True)

    @property
    def state(self) -> LinkState:
        """Whether the processor speaks to us."""
        return self._session.state

    @property
    def connects(self) -> int:
        """How many streams said something so far."""
        return self._session.connects

    @property
    def cursor(self) -> Cursor | None:
        """How far we know the processor's history."""
        return self._session.resume

    def start(self) -> None:
        """Lets the thread wait for the first stream, which the first `tick` opens."""
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Ends the stream and, within `timeout` seconds, the thread."""
        self._stopped = True
        self._wanted.put(False)
        self._cut()
        self._thread.join(timeout)

    def tick(self) -> float:
        """Does what is due; returns the seconds until something is due again, should nothing happen."""
        with self._lock:
            steps = self._session.due(self._clock())
        for step in steps:
            if step is Step.WATCH:
                self._wanted.put(True)
            elif step is Step.CUT:
                self._cut()
            else:
                self._poll()
        return self._session.next_deadline() - self._clock()

    def hurry(self) -> None:
        """The processor was heard by other means: tries again at once, if it is not connected."""
        with self._lock:
            self._session.hurry(self._clock())

    def reported(self, answer: bytes) -> None:
        """Takes the answer to a report, which may carry directives."""
        with self._lock:
            self._apply(self._session.reported(answer, self._clock()))

    def _run(self) -> None:
        while self._wanted.get() and not self._stopped:
            loss = Loss.BROKEN
            try:
                loss = self._follow()
            except Exception as error:
                fault("watch", error)
            finally:
                with self._lock:
                    self._session.lost(self._clock(), random.random(), loss)
                self._on_change()

    def _follow(self) -> Loss:
        """Opens a stream and reads it to its end."""
        import grpc

        request = requests.watch(self._instance(), self.cursor).SerializeToString()
        try:
            # Until the processor is there the request waits in the channel, which looks for it each second.
            self._call = self._link.stream(WATCH)(request, wait_for_ready=True)
            if self._stopped:  # since before there was something to cut
                self._cut()
            for event in self._call:
                self._heard(event)
        except grpc.RpcError as error:
            self.problem = f"{error.code().name}: {error.details()}"
            return Loss.DENIED if error.code().name in DENIED else Loss.BROKEN
        self.problem = "the processor ended the stream"
        return Loss.BROKEN

    def _heard(self, event: bytes) -> None:
        with self._lock:
            before = self._session.connects
            now = self._clock()
            changes = self._session.receive(event, now)
            self._apply(changes)
            over = self._session.next_deadline() <= now
            connected = self._session.connects > before
        if connected:
            self.problem = ""
        if over:
            self._cut()
        if changes or connected:
            self._on_change()

    def _poll(self) -> None:
        import grpc

        request = requests.poll(self._instance(), self.cursor).SerializeToString()
        try:
            answer = self._link.unary(LIST)(request, timeout=POLL_PATIENCE)
        except grpc.RpcError as error:
            self.problem = f"{error.code().name}: {error.details()}"
            return
        with self._lock:
            self._apply(self._session.listed(answer, self._clock()))

    def _cut(self) -> None:
        call = self._call
        if call is not None:
            call.cancel()

    def _apply(self, changes: Changes) -> None:
        self._notice_epoch()
        for removal in changes.removals:
            self._guarded(self._withdraw, removal)
        for directive in changes.upserts:
            self._guarded(self._post, directive)
        for each in changes.refused:
            self.refused.put(each)

    def _notice_epoch(self) -> None:
        """Revisions of two histories do not compare: with a new one, any revision replaces what stands."""
        cursor = self._session.resume
        if cursor is not None and cursor.epoch != self._epoch:
            if self._epoch:
                self._board.restart()
            self._epoch = cursor.epoch

    def _withdraw(self, removal: Removal) -> None:
        # What is about to be replaced stays until then: between the two the gate would be open.
        if removal.reason == REPLACED:
            return
        self._board.withdraw(removal.id, removal.revision)
        if removal.reason != EXPIRED:
            self._on_withdrawal(removal.id)

    def _post(self, directive: Directive) -> None:
        self.directives += self._board.post(directive)

    def _guarded(self, change: Callable[[Any], None], what: Directive | Removal) -> None:
        """One change that fails must not cost the others."""
        try:
            change(what)
        except Exception as error:
            fault("board", error)
