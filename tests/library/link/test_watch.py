"""The watch over real sockets: every end of a stream leads to another, and nothing falls silently."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.library.examples import key, stop
from tests.library.stub_processor import StubProcessor, stub_processor
from tests.waiting import until

from spanfuse.board import Board
from spanfuse.link.bell import Bell
from spanfuse.link.channel import Link, parse_target
from spanfuse.link.watch import Watcher
from spanfuse_processor.auth import Tokens
from spanfuse_processor.engine.verdicts import Action, Directive
from spanfuse_processor.wire.backoff import Patience
from spanfuse_processor.wire.messages import Instance
from spanfuse_processor.wire.session import LinkState

QUICK = Patience(first=0.02, quick=0.05, poll_every=0.1, denied=0.2, bookmark=0.2)


@contextmanager
def watching(
    endpoint: str, token: str = "", board: Board | None = None, **options: Any
) -> Iterator[tuple[Watcher, Board]]:
    """A watcher, kept as a host keeps it, and its board."""
    board = board or Board()
    link, bell, over = Link(parse_target(endpoint), token), Bell(), threading.Event()
    watcher = Watcher(link, board, lambda: Instance("app", "i-1"), bell.ring, patience=QUICK, **options)

    def keep() -> None:
        while not over.is_set():
            bell.wait(min(max(watcher.tick(), 0.005), 0.2))

    keeper = threading.Thread(target=keep)
    watcher.start()
    keeper.start()
    try:
        yield watcher, board
    finally:
        over.set()
        bell.ring()
        keeper.join(5.0)
        watcher.stop(1.0)
        link.close()


def holds(board: Board, run: str) -> Callable[[], Directive | None]:
    """A predicate for `until`."""
    return lambda: board.standing([key(run)])


@pytest.fixture
def processor() -> Iterator[StubProcessor]:
    with stub_processor() as running:
        yield running


def test_what_stands_is_on_the_board_with_the_first_event(processor: StubProcessor) -> None:
    processor.publish(stop("a"), stop("b"))

    with watching(processor.endpoint) as (watcher, board):
        until(lambda: watcher.state is LinkState.CONNECTED)

        assert holds(board, "a")()
        assert holds(board, "b")()
        assert watcher.directives == 2


def test_news_comes_within_milliseconds_not_with_the_next_bookmark(processor: StubProcessor) -> None:
    with watching(processor.endpoint) as (watcher, board):
        until(lambda: watcher.state is LinkState.CONNECTED)

        processor.publish(stop("r"))

        until(holds(board, "r"), timeout=1.0, every=0.001)


def test_a_withdrawal_takes_down(processor: StubProcessor) -> None:
    processor.publish(stop("r"))
    with watching(processor.endpoint) as (_, board):
        until(holds(board, "r"))

        processor.publish(withdraw=("run/r/stop",))

        until(lambda: holds(board, "r")() is None)


def test_only_what_is_taken_back_before_its_time_counts_as_taken_back(processor: StubProcessor) -> None:
    taken_back: list[str] = []
    with watching(processor.endpoint, on_withdrawal=taken_back.append) as (_, board):
        processor.publish(stop("brief", ttl=0.1))
        until(holds(board, "brief"))
        until(lambda: holds(board, "brief")() is None)
        processor.publish(withdraw=("run/never-ordered-here/stop",))

        until(lambda: taken_back == ["run/never-ordered-here/stop"])


def test_a_stream_that_breaks_is_opened_again_and_resumed(processor: StubProcessor) -> None:
    processor.publish(stop("before"))
    with watching(processor.endpoint) as (watcher, board):
        until(holds(board, "before"))

        processor.stop()
        until(lambda: watcher.state is LinkState.LOST)
        assert holds(board, "before")()
        processor.publish(stop("meanwhile"), withdraw=("run/before/stop",))
        processor.start()

        until(holds(board, "meanwhile"))
        assert holds(board, "before")() is None
        assert watcher.connects == 2
        assert processor.hub.stats.resyncs == 0


def test_a_new_history_takes_nothing_down_by_not_knowing_it(processor: StubProcessor) -> None:
    processor.publish(stop("old"))
    with watching(processor.endpoint) as (watcher, board):
        until(holds(board, "old"))
        processor.stop()
        until(lambda: watcher.state is LinkState.LOST)

        processor.forget()
        processor.publish(stop("new"))
        processor.start()

        until(holds(board, "new"))
        assert holds(board, "old")()


def test_a_revision_of_a_new_history_replaces_a_higher_one_of_the_old(processor: StubProcessor) -> None:
    for _ in range(5):
        processor.publish(stop("r", message="old"))
    with watching(processor.endpoint) as (watcher, board):
        until(holds(board, "r"))
        processor.stop()
        until(lambda: watcher.state is LinkState.LOST)

        processor.forget()
        processor.publish(stop("r", message="new"))
        processor.start()

        def message() -> str:
            directive = board.standing([key("r")])
            assert directive is not None  # not for a moment
            return directive.message

        until(lambda: message() == "new", every=0.0001)


def test_silence_is_noticed_and_the_return_too() -> None:
    with (
        stub_processor(bookmark_every=0.05) as processor,
        watching(processor.endpoint) as (watcher, board),
    ):
        processor.publish(stop("r"))
        until(holds(board, "r"))

        with processor.frozen():
            until(lambda: watcher.state is LinkState.LOST)
            assert holds(board, "r")()

        until(lambda: watcher.state is LinkState.CONNECTED)


def test_being_denied_is_said_and_tried_again() -> None:
    with (
        stub_processor(tokens=Tokens(clients=["right"])) as processor,
        watching(processor.endpoint, token="wrong") as (watcher, board),
    ):
        until(lambda: "UNAUTHENTICATED" in watcher.problem)
        assert watcher.state is LinkState.CONNECTING

        processor.stop()
        processor.tokens = Tokens(clients=["wrong"])
        processor.start()
        processor.publish(stop("r"))

        until(holds(board, "r"))
        assert watcher.problem == ""


def test_nobody_there_is_no_error_and_whoever_comes_is_found() -> None:
    processor = StubProcessor()
    processor.start()
    processor.stop()
    with watching(processor.endpoint) as (watcher, _):
        assert watcher.state is LinkState.CONNECTING

        processor.start()

        until(lambda: watcher.state is LinkState.CONNECTED)
    processor.close()


def test_a_server_that_talks_nonsense_harms_nobody() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        over = threading.Event()

        def babble() -> None:
            while not over.is_set():
                try:
                    guest, _ = server.accept()
                except TimeoutError:
                    continue
                with guest:
                    guest.sendall(b"SSH-2.0-what\r\n" * 3)

        talking = threading.Thread(target=babble)
        talking.start()
        with watching(f"127.0.0.1:{server.getsockname()[1]}") as (watcher, board):
            until(lambda: watcher.problem)  # a poll says it

            assert watcher.state is LinkState.CONNECTING
            assert board.empty
        over.set()
        talking.join(5.0)


def test_while_a_stream_cannot_be_had_a_poll_brings_the_orders() -> None:
    with stub_processor(mute=True) as processor, watching(processor.endpoint) as (watcher, board):
        processor.publish(stop("r"))

        until(holds(board, "r"))

        assert watcher.state is LinkState.CONNECTING


def test_what_cannot_be_read_is_refused_by_name(processor: StubProcessor) -> None:
    with watching(processor.endpoint) as (watcher, board):
        until(lambda: watcher.state is LinkState.CONNECTED)

        processor.publish(stop("r", id="throttle", action=Action.THROTTLE))

        until(lambda: [each.rejected for each in board.drain_effects()])
        assert watcher.directives == 0
        assert holds(board, "r")() is None


def test_a_listener_that_fails_does_not_cost_the_next_order(
    processor: StubProcessor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPANFUSE_RERAISE", "0")
    board = Board()

    def fail(directive: Directive) -> None:
        raise RuntimeError("a listener's fault")

    board.on_change(fail)
    with watching(processor.endpoint, board=board):
        processor.publish(stop("a"), stop("b"))

        until(holds(board, "a"))
        until(holds(board, "b"))


def test_the_thread_ends_with_the_watch(processor: StubProcessor) -> None:
    with watching(processor.endpoint) as (watcher, _):
        until(lambda: watcher.state is LinkState.CONNECTED)

    until(lambda: not [each for each in threading.enumerate() if each.name == "spanfuse-watch"])
