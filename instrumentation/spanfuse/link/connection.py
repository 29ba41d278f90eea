"""The connection to the processor, kept: orders watched for, reports made, and somebody always judging.

Rule 1: a processor judges when it speaks to us and takes our spans, not before; while either is missing,
calls are judged here. Rule 2: whichever of the two is there again first tells the other to try. Rule 3: one
thread calls `look`, and soon after each change. It imports protobuf, so that thread imports it.
"""

from __future__ import annotations

from collections.abc import Callable

from spanfuse.board import SUPPORTED, Board
from spanfuse.host import HostState
from spanfuse.link.channel import Link
from spanfuse.link.export import Sender
from spanfuse.link.local_limits import LocalLimits
from spanfuse.link.reporting import MOST, Reporter
from spanfuse.link.watch import Watcher
from spanfuse.signs import Signs
from spanfuse.telemetry import library_version
from spanfuse_processor.engine.nouns import Identity
from spanfuse_processor.wire.messages import Instance
from spanfuse_processor.wire.session import LinkState


class Connection:
    """One application's connection. `who` says who we are, whenever that is asked; `on_connect` is called
    each time that a processor speaks to us anew.

    Attributes:
        state: CONNECTING, CONNECTED or LOST, as of the last look.
        watcher: where orders come from.
    """

    def __init__(
        self,
        link: Link,
        board: Board,
        signs: Signs,
        sender: Sender,
        limits: LocalLimits,
        who: Callable[[], Identity],
        on_change: Callable[[], None],
        on_connect: Callable[[], None] = lambda: None,
    ) -> None:
        def instance() -> Instance:
            identity = who()
            return Instance(identity.service, identity.instance, library_version(), supported=SUPPORTED)

        self.state = HostState.CONNECTING
        self.watcher = Watcher(link, board, instance, on_change, limits.withdraw)
        self._reporter = Reporter(link, board, signs, self.watcher, instance)
        self._signs = signs
        self._clock = board.clock
        self._sender = sender
        self._limits = limits
        self._on_connect = on_connect
        self._connects = 0
        self._heard = True

    def start(self) -> None:
        """Begins to watch with the first look."""
        self.watcher.start()

    def look(self) -> float:
        """Does what is due; returns the seconds until the next look, should nothing happen before."""
        pause = self.watcher.tick()
        heard = self._compare_notes()
        connected = self.watcher.state is LinkState.CONNECTED
        if connected and heard:
            self._limits.end()
            self.state = HostState.CONNECTED
            wanted = self._reporter.tick()
        else:
            now = self._clock()
            if self._limits.judge is None:
                self._limits.begin(self._signs.calls(now), self._sender.unsent())
            self.state = HostState.LOST if self.watcher.connects else HostState.CONNECTING
            wanted = self._limits.advance(self._signs.due(now, MOST))
        return pause if wanted is None else min(pause, wanted)

    def stop(self, timeout: float) -> None:
        """Reports what is left and ends; each gets at most `timeout` seconds."""
        if self.state is HostState.CONNECTED:
            self._reporter.finish(timeout)
        self.watcher.stop(timeout)

    def _compare_notes(self) -> bool:
        """Tells sender and watcher of each other's luck; returns whether the processor takes spans."""
        heard, connects = self._sender.is_heard(), self.watcher.connects
        if connects != self._connects:
            self._sender.nudge()
            self._on_connect()
        if heard and not self._heard:
            self.watcher.hurry()
        self._heard, self._connects = heard, connects
        return heard
