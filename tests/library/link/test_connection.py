"""The connection over real sockets: lost, found, refused; and somebody always judges."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from tests.library.examples import begun, failed_tool, key, span, stop
from tests.library.remote_hosts import is_in, remote
from tests.library.stub_processor import StubProcessor, stub_processor
from tests.waiting import until

from spanfuse.host import HostState
from spanfuse_processor.auth import Tokens


@pytest.fixture
def processor() -> Iterator[StubProcessor]:
    with stub_processor() as running:
        yield running


def test_without_a_processor_the_application_neither_waits_nor_fails() -> None:
    with remote("127.0.0.1:1") as (host, _):
        until(lambda: "no answer" in host.stats().problem)
        slowest = 0.0

        for _ in range(1_000):
            began = time.perf_counter()
            host.call_started(begun())
            host.span_ended(span())
            slowest = max(slowest, time.perf_counter() - began)

        assert slowest < 0.1
        assert host.stats().state is HostState.CONNECTING
        assert host.stats().faults == 0


def test_without_a_processor_a_loop_is_stopped_here() -> None:
    with remote("127.0.0.1:1") as (host, board):
        for _ in range(8):
            host.span_ended(failed_tool("loop"))

        directive = board.standing([key("loop")])
        assert directive is not None
        assert directive.issuer == "local"


def test_the_application_may_take_back_what_was_stopped_here() -> None:
    with remote("127.0.0.1:1") as (host, board):
        for _ in range(8):
            host.span_ended(failed_tool("loop"))

        assert host.release(key("loop"))

        assert board.standing([key("loop")]) is None
        assert not host.release(key("loop"))


def test_a_processor_that_comes_late_gets_what_was_queued_and_judges_from_then_on() -> None:
    stub = StubProcessor()
    stub.start()
    stub.stop()
    with remote(stub.endpoint) as (host, board):
        host.span_ended(span("early"))
        until(lambda: "UNAVAILABLE" in host.stats().problem)

        stub.start()

        until(is_in(host, HostState.CONNECTED), timeout=3.0)
        assert stub.names == ["early"]
        for _ in range(8):
            host.span_ended(failed_tool("loop"))
        until(lambda: len(stub.spans) == 9)
        assert board.standing([key("loop")]) is None  # the stub judges nothing, and nobody else does
    stub.close()


def test_orders_hold_while_the_processor_is_gone_and_after_it_lost_its_memory(
    processor: StubProcessor,
) -> None:
    with remote(processor.endpoint) as (host, board):
        processor.publish(stop("held"))
        until(lambda: board.standing([key("held")]))

        processor.stop()
        until(is_in(host, HostState.LOST))
        assert board.standing([key("held")]) is not None
        processor.forget()
        processor.start()
        until(is_in(host, HostState.CONNECTED))

        assert host.stats().reconnects == 1
        assert board.standing([key("held")]) is not None


def test_a_processor_without_memory_can_still_take_back_what_it_ordered_before(
    processor: StubProcessor,
) -> None:
    with remote(processor.endpoint) as (host, board):
        processor.publish(stop("other"), stop("held"))
        until(lambda: board.standing([key("held")]))
        processor.stop()
        until(is_in(host, HostState.LOST))
        processor.forget()
        processor.start()
        until(is_in(host, HostState.CONNECTED))

        processor.publish(withdraw=("run/held/stop",))

        until(lambda: board.standing([key("held")]) is None)
        assert board.standing([key("other")]) is not None


def test_the_gate_never_opens_while_a_new_history_replaces_the_old(processor: StubProcessor) -> None:
    with remote(processor.endpoint) as (host, board):
        processor.publish(stop("a"), stop("b"), stop("held"))
        until(lambda: board.standing([key("held")]))
        processor.stop()
        until(is_in(host, HostState.LOST))
        processor.forget()
        processor.publish(stop("held", message="anew"))
        opened = threading.Event()
        seen = threading.Event()

        def watch() -> None:
            while not seen.is_set():
                directive = board.standing([key("held")])
                if directive is None:
                    opened.set()
                elif directive.message == "anew":
                    seen.set()

        watching = threading.Thread(target=watch)
        watching.start()
        processor.start()
        watching.join(5.0)

        assert seen.is_set()
        assert not opened.is_set()


def test_calls_that_the_processor_may_not_have_seen_count_for_the_local_limits(
    processor: StubProcessor,
) -> None:
    with remote(processor.endpoint) as (host, board):
        until(is_in(host, HostState.CONNECTED))
        processor.held = True  # it takes requests and does not answer
        for _ in range(8):
            host.span_ended(failed_tool("loop"))
        assert board.standing([key("loop")]) is None

        processor.stop()

        until(lambda: board.standing([key("loop")]))


def test_what_was_stopped_here_stays_stopped_when_the_processor_is_back(processor: StubProcessor) -> None:
    processor.stop()
    with remote(processor.endpoint) as (host, board):
        for _ in range(8):
            host.span_ended(failed_tool("loop"))

        processor.start()
        until(is_in(host, HostState.CONNECTED), timeout=3.0)

        assert board.standing([key("loop")]) is not None
        assert processor.effects == []  # what was not its order is not its business


def test_an_operator_may_take_back_what_was_stopped_here(processor: StubProcessor) -> None:
    processor.stop()
    with remote(processor.endpoint) as (host, board):
        for _ in range(8):
            host.span_ended(failed_tool("loop"))
        processor.start()
        until(is_in(host, HostState.CONNECTED), timeout=3.0)

        processor.publish(withdraw=("run/loop/stop",))

        until(lambda: board.standing([key("loop")]) is None)


def test_a_wrong_token_is_said_and_harms_nobody() -> None:
    with (
        stub_processor(tokens=Tokens(clients=["right"])) as processor,
        remote(processor.endpoint, token="wrong") as (host, board),
    ):
        host.span_ended(span("kept"))

        until(lambda: "UNAUTHENTICATED" in host.stats().problem)
        assert host.stats().state is HostState.CONNECTING
        assert processor.spans == []
        assert board.empty


def test_a_collector_takes_spans_and_judges_nothing_so_calls_are_judged_here() -> None:
    with stub_processor(collector=True) as collector, remote(collector.endpoint) as (host, board):
        for _ in range(8):
            host.span_ended(failed_tool("loop"))

        until(lambda: len(collector.spans) == 8)
        until(lambda: "UNIMPLEMENTED" in host.stats().problem)
        assert host.stats().state is HostState.CONNECTING
        assert board.standing([key("loop")]) is not None


def test_the_right_token_opens_the_door() -> None:
    with (
        stub_processor(tokens=Tokens(clients=["right"])) as processor,
        remote(processor.endpoint, token="right") as (host, _),
    ):
        until(is_in(host, HostState.CONNECTED))


def test_a_token_that_becomes_right_is_found_out() -> None:
    with (
        stub_processor(tokens=Tokens(clients=["other"])) as processor,
        remote(processor.endpoint, token="mine") as (host, _),
    ):
        host.span_ended(span("kept"))
        until(lambda: "UNAUTHENTICATED" in host.stats().problem)

        processor.stop()
        processor.tokens = Tokens(clients=["mine"])
        processor.start()

        until(is_in(host, HostState.CONNECTED), timeout=8.0)
        assert processor.names == ["kept"]
