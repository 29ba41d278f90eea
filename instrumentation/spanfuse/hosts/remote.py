"""The host that has its calls judged by a processor in another process.

Rule 1: the threads that make calls only leave things behind: a span in a queue, a start in a table. Rule 2:
everything that may wait happens on three threads of our own: one sends, one watches, one keeps the
connection. Rule 3: while no processor judges, calls are judged here: the application never waits for one, nor
runs without limits for want of one. It does not know what the board's directives do.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from spanfuse import prices
from spanfuse.board import Board
from spanfuse.errors import SettingsError
from spanfuse.guard import fault
from spanfuse.host import HostState, HostStats, OnPolicy, Underway, Witness
from spanfuse.link.bell import Bell
from spanfuse.link.channel import Link, parse_target
from spanfuse.link.export import Sender
from spanfuse.link.leases import LeaseKeeper
from spanfuse.link.local_limits import LocalLimits
from spanfuse.purse import Purse
from spanfuse.rereading import PolicyFile
from spanfuse.settings import Settings, policy_of
from spanfuse.signs import Signs
from spanfuse.telemetry import library_version
from spanfuse_processor.engine import names
from spanfuse_processor.engine.events import Heartbeat, RawSpan
from spanfuse_processor.engine.nouns import BreakerKey, Identity
from spanfuse_processor.engine.policy import PolicyError
from spanfuse_processor.engine.pricing import PriceBook

if TYPE_CHECKING:
    from spanfuse.link.connection import Connection

LONGEST: Final = 1.0
"""Seconds between two looks at the connection, at most."""
SHORTEST: Final = 0.005
"""The least of them."""
NEEDED: Final = ("grpc", "google.protobuf", "opentelemetry.proto")
"""What the threads import that is not installed with the library itself."""
UNKNOWN: Final = "unknown_service:python"
"""What OTel calls a service that has no name."""
FAREWELL: Final = 0.5
"""Seconds that the connection gets to end, at most."""

_log = logging.getLogger("spanfuse")


class RemoteHost:
    """Sends spans to a processor and takes its orders. Starts and stops once.

    Raises:
        SettingsError: the endpoint is no address or not allowed, the policy cannot be read, or what it takes
            to talk to a processor is not installed.
    """

    def __init__(self, settings: Settings, board: Board, book: PriceBook | None = None) -> None:
        _check_installed()
        target = parse_target(settings.endpoint, settings.insecure)
        self._link = Link(target, settings.token, settings.ca_file)
        self._spans = _way_of_spans(settings, self._link)
        self._board = board
        self._clock = board.clock
        self._resource = _resource(settings.service or UNKNOWN, settings.instance)
        self._bell = Bell()
        self._signs = Signs()
        self._sender = Sender(self._spans, self._resource, self._bell.ring)
        self._limits = LocalLimits(board, policy_of(settings), book or prices.shared())
        self.followers: list[OnPolicy] = []  # of our own file: the processor's is the processor's affair
        self.witnesses: list[Witness] = []  # nobody is shown anything: the processor tells of it
        self._file = PolicyFile(settings, board.clock)
        self._leases = LeaseKeeper(self._link, board, self._who)
        self.purse: Purse = self._leases.purse
        self._stats = HostStats()
        self._connection: Connection | None = None
        self._stopping = False
        self._keeper = threading.Thread(target=self._keep, name="spanfuse-keeper", daemon=True)

    def start(self) -> None:
        """Begins to connect, behind. Until somebody judges, calls are judged here."""
        self._stats.state = HostState.CONNECTING
        self._limits.begin((), ())
        self._sender.start()
        self._keeper.start()

    def stop(self, timeout: float = 2.0) -> None:
        """Sends what is queued, for at most `timeout` seconds, reports, and ends."""
        if self._stats.state is HostState.IDLE:
            return
        self._sender.stop(timeout)
        self._stopping = True
        self._bell.ring()
        self._keeper.join(FAREWELL)
        self._leases.stop(FAREWELL)
        self._link.close()
        self._spans.close()
        self._limits.end()
        self._stats.state = HostState.IDLE

    def call_started(self, call: Underway) -> None:
        """A call began: noted, so that it can be told should it stay open; an agent is told at once."""
        try:
            self._resource = call.resource
            if self._signs.began(call):
                self._bell.ring()
                judge = self._limits.judge
                if judge is not None:
                    judge.observe(call.told(self._clock()))
        except Exception as error:
            self._failed("call_started", error)

    def heartbeat(self, beat: Heartbeat) -> None:
        """A run lives: noted."""
        self._signs.beat(beat, self._clock())

    def span_ended(self, span: RawSpan) -> None:
        """A call ended: queued."""
        try:
            self._signs.ended(span.span_id)
            self._sender.put(span)
            judge = self._limits.judge
            if judge is not None:
                judge.span_ended(span)
        except Exception as error:
            self._failed("span_ended", error)

    def kill(self, key: BreakerKey, reason: str) -> bool:
        """Only the processor may stop a run from outside it: False."""
        return False

    def release(self, key: BreakerKey) -> bool:
        """Takes back stops that were given here; the processor's own only the processor may take back."""
        return self._limits.release(key)

    def stats(self) -> HostStats:
        """What happened so far."""
        stats, sender, connection = self._stats, self._sender, self._connection
        stats.queued = len(sender)
        stats.dropped = sender.dropped
        stats.spans = sender.sent + stats.dropped + stats.queued
        stats.problem = sender.problem
        if connection is not None and stats.state is not HostState.IDLE:
            watcher = connection.watcher
            stats.state = connection.state
            stats.directives = watcher.directives
            stats.reconnects = max(0, watcher.connects - 1)
            stats.problem = watcher.problem or sender.problem or self._silence()
        return stats

    def _connect(self) -> Connection:
        # Here, because grpc and protobuf take long to import and nobody should wait for them.
        from spanfuse.link.connection import Connection

        connection = Connection(
            self._link,
            self._board,
            self._signs,
            self._sender,
            self._limits,
            self._who,
            self._bell.ring,
            self._leases.purse.announce,
        )
        self._connection = connection
        return connection

    def _who(self) -> Identity:
        """Who this process is, as its spans say."""
        known = self._resource
        return Identity(
            service=str(known.get(names.SERVICE_NAME, UNKNOWN)),
            instance=str(known.get(names.SERVICE_INSTANCE, "")),
        )

    def _silence(self) -> str:
        """Nothing has failed, but nobody has answered either."""
        connected = self._stats.state is HostState.CONNECTED
        return "" if connected else f"no answer from {self._link.target.address} yet"

    def _keep(self) -> None:
        """Keeps the connection, until the host stops."""
        try:
            connection = self._connect()
        except Exception as error:  # packages that do not fit together; the local limits hold
            self._failed("connection", error)
            return
        connection.start()
        while not self._stopping:
            pause = LONGEST
            try:
                pause = connection.look()
                self._reread()
            except Exception as error:
                self._failed("connection", error)
            self._bell.wait(min(max(pause, SHORTEST), LONGEST))
        connection.stop(FAREWELL)

    def _reread(self) -> None:
        """Our own file may say something else by now: of prices, of tools, of limits while nobody judges."""
        policy = self._file.changed()
        if policy is None:
            return
        try:
            self._limits.renew(policy)
        except PolicyError as error:
            _log.error("%s; the policy before stays", error)
            return
        for follower in self.followers:
            follower(policy)
        _log.info("the policy has changed and is obeyed")

    def _failed(self, where: str, error: Exception) -> None:
        self._stats.faults += 1
        self._stats.last_fault = f"{where}: {error}"
        fault(where, error)


def _way_of_spans(settings: Settings, link: Link) -> Link:
    """Where spans go: to the processor, over the channel that is there, or to a Collector in front of it."""
    if not settings.spans_endpoint:
        return link
    target = parse_target(settings.spans_endpoint, settings.insecure)
    return Link(target, settings.token, settings.ca_file)


def _check_installed() -> None:
    """Now, because a thread that cannot import what it needs has nobody to tell."""
    for name in NEEDED:
        try:
            found = find_spec(name) is not None
        except ModuleNotFoundError:  # its parent is not there either
            found = False
        if not found:
            raise SettingsError(f"endpoint needs {name}: pip install 'spanfuse[remote]'")


def _resource(service: str, instance: str) -> Mapping[str, object]:
    """What is sent about this process where the application's own resource says nothing."""
    return {
        names.SERVICE_NAME: service,
        names.SERVICE_INSTANCE: instance,
        "telemetry.sdk.language": "python",
        "telemetry.sdk.name": "spanfuse",
        "telemetry.sdk.version": library_version(),
    }
