"""The two hosts behind one handle: a time line goes in; what was said, and what then stands, come out."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from tests.library.examples import Begun
from tests.processes import free_port
from tests.scenarios.playing import begun, written
from tests.scenarios.timeline import Moment, Timeline
from tests.waiting import until

from spanfuse.board import Board
from spanfuse.host import HostState
from spanfuse.hosts.embedded import MOST, EmbeddedHost
from spanfuse.hosts.remote import RemoteHost
from spanfuse.settings import OFF, Settings
from spanfuse.signs import AT_ONCE, Signs
from spanfuse_processor.config import Auth, Config, Listen, Storage
from spanfuse_processor.engine import CallStarted, NoPrices, Order, OrderKind, Verdict
from spanfuse_processor.engine.events import Heartbeat
from spanfuse_processor.service import Service
from spanfuse_processor.store import FOR_EVER, Store
from spanfuse_processor.storing import open_store

Standing = set[tuple[str, str, str, str]]
Recorded = dict[str, tuple[str, ...]]
TELLING = 20.0  # seconds; hosts look oftener


class Rig(Protocol):
    """One host, ready to be played to."""

    def play(self, timeline: Timeline) -> tuple[str, Standing]:
        """What is said, as the golden file has it, and what stands in the application afterwards."""


def standing(board: Board) -> Standing:
    """What an application must obey: key, action, mode and reason of each directive."""
    return {(str(each.key), each.action.value, each.mode.value, each.reason) for each in board.directives()}


class Hands:
    """The clock of a time line: it stands still until the next moment."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        """The moment that is being played."""
        return self.now

    def wall_ns(self) -> int:
        """Real time, for stamps."""
        return time.time_ns()


def on_the_way(now: float, then: float, signs: Signs) -> Iterator[float]:
    """Moments at which a host tells of what is open, before anybody takes it for lost."""
    while len(signs) and now + TELLING < then:
        now += TELLING
        yield now


def recorded(store: Store) -> Recorded:
    """The events of a record that a span made, by id: what they are and what they are about.

    But for the agent: of an agent's start it is its own name, of its end, by then, that of who started it.
    """
    rows = store.events(0.0, FOR_EVER, ("trip", "withheld", "warn"))
    return {row.id: (row.kind, row.key, row.run, row.span_id, row.severity) for row in rows if row.span_id}


class EmbeddedRig:
    """The host that judges in the application. `folder` is where it records, if it does.

    Attributes:
        recorded: what it recorded when it played last.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._journal = str(folder / "record.db") if folder else OFF
        self.recorded: Recorded = {}

    def play(self, timeline: Timeline) -> tuple[str, Standing]:
        """Plays on this thread."""
        hands, said = Hands(), []
        board = Board(hands.monotonic)
        settings = Settings(policy=timeline.policy, journal=self._journal)
        host = EmbeddedHost(settings, board, NoPrices())
        host.judge._on_verdict = lambda verdict: said.append(written(hands.now, verdict))
        host._once.acquire()  # no timer but the time line
        host.start()
        for moment in timeline.moments:
            for now in (*on_the_way(hands.now, moment.at, host._signs), moment.at):
                hands.now = now
                for sign in host._signs.due(hands.now, MOST):
                    host.judge.observe(sign)
            self._tell(host, timeline, moment)
        host.stop()
        if self._journal != OFF:
            with contextlib.closing(open_store(f"sqlite:{self._journal}")) as store:
                self.recorded = recorded(store)
        return "".join(f"{line}\n" for line in said), standing(board)

    def _tell(self, host: EmbeddedHost, timeline: Timeline, moment: Moment) -> None:
        if moment.what == "kill":
            assert moment.key is not None
            host.kill(moment.key, "because")
        elif moment.what == "release":
            assert moment.key is not None
            host.release(moment.key)
        elif moment.what == "start":
            assert moment.span is not None
            host.call_started(Begun(begun(moment.span, timeline), moment.at))
        elif moment.beat is not None:
            host.heartbeat(replace(moment.beat))
        elif moment.span is not None:
            host.span_ended(moment.span)
        else:
            host.tick()


class HeardService(Service):
    """The service, and what it says. `signs` are those of life that it was told of."""

    said: list[str]
    hands: Hands
    signs = 0

    def _open_calls(self, events: Sequence[CallStarted | Heartbeat]) -> None:
        super()._open_calls(events)
        self.signs += len(events)

    def _publish(self, verdicts: tuple[Verdict, ...]) -> None:
        self.said += [written(self.hands.now, verdict) for verdict in verdicts]
        super()._publish(verdicts)


class RemoteRig:
    """The service behind its real doors, and the remote host that talks to it over loopback."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.recorded: Recorded = {}

    def play(self, timeline: Timeline) -> tuple[str, Standing]:
        """Plays through sockets; the service's clock is the time line's."""
        hands = Hands()
        listen = Listen(grpc_port=free_port(), http_port=free_port(), metrics_port=free_port())
        config = Config(
            listen=listen,
            policy=timeline.policy,
            auth=Auth(admin_token_file=str(self._folder / "token")),
            store=Storage(url="memory:"),
        )
        service = HeardService(config, hands)
        service.said, service.hands = [], hands
        board = Board(hands.monotonic)
        with served(service) as loop:
            host = RemoteHost(
                Settings(endpoint=f"127.0.0.1:{listen.grpc_port}", policy=timeline.policy), board, NoPrices()
            )
            host.start()
            until(lambda: host.stats().state is HostState.CONNECTED, 10)
            for moment in timeline.moments:
                for now in (*on_the_way(hands.now, moment.at, host._signs), moment.at):
                    self._turn_to(now, hands, service, host)
                self._tell(service, loop, host, timeline, moment)
            expected = set(_stops(service))
            with contextlib.suppress(AssertionError):  # the comparison says what is missing
                until(lambda: {row[0] for row in standing(board)} == expected, 5)
            host.stop()
        self.recorded = recorded(service._money.books._shared["memory:"])
        return "".join(f"{line}\n" for line in service.said), standing(board)

    def _turn_to(self, now: float, hands: Hands, service: HeardService, host: RemoteHost) -> None:
        """Lets time pass, and the host tell of what is open by then."""
        signs, before = host._signs, service.signs
        due = sum(signs._due(call) <= now for call in signs._open.values())
        due += len(signs._beats) if signs._beats_due <= now else 0
        hands.now = now
        host._bell.ring()
        until(lambda: service.signs >= before + due, 5)

    def _tell(
        self,
        service: HeardService,
        loop: asyncio.AbstractEventLoop,
        host: RemoteHost,
        timeline: Timeline,
        moment: Moment,
    ) -> None:
        if moment.key is not None:
            order = Order(OrderKind(moment.what), moment.key, "because", "an operator")
            asyncio.run_coroutine_threadsafe(_call(lambda: service.order(order)), loop).result(5)
        elif moment.what == "advance":
            advance = lambda: service._publish(service._engine.advance(moment.at))  # noqa: E731
            asyncio.run_coroutine_threadsafe(_call(advance), loop).result(5)
        elif moment.what == "start":
            assert moment.span is not None
            call, before = Begun(begun(moment.span, timeline), moment.at), service.signs
            host.call_started(call)
            until(lambda: service.signs > before or call.kind not in AT_ONCE, 5)
        elif moment.beat is not None:
            host.heartbeat(replace(moment.beat))
        else:
            assert moment.span is not None
            spans = service._engine.stats().spans
            host.span_ended(moment.span)
            until(lambda: service._engine.stats().spans > spans, 5)
            # It is counted when its turn begins: what is said of it comes before the loop does anything else.
            asyncio.run_coroutine_threadsafe(_call(lambda: None), loop).result(5)


async def _call(what: object) -> None:
    assert callable(what)
    what()


def _stops(service: HeardService) -> Iterator[str]:
    for directive in service._hub._log.snapshot(service.hands.now):
        yield str(directive.key)


@contextlib.contextmanager
def served(service: Service) -> Iterator[asyncio.AbstractEventLoop]:
    """The service on a loop of its own, in a thread of its own."""
    loop = asyncio.new_event_loop()

    def serve() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(service.run())

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        until(lambda: service._health.ready, 10)
        yield loop
    finally:
        loop.call_soon_threadsafe(service.stop)
        thread.join(10)
        loop.close()
