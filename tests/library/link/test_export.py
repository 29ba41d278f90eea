"""The sender over a real socket: at once, in batches under load, never lost without being counted."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from tests.library.examples import span
from tests.library.stub_processor import StubProcessor, stub_processor
from tests.waiting import until

from spanfuse.link.channel import Link, parse_target
from spanfuse.link.export import BATCH, Sender


@pytest.fixture
def processor() -> Iterator[StubProcessor]:
    with stub_processor() as running:
        yield running


@contextmanager
def sending(endpoint: str, **options: Any) -> Iterator[Sender]:
    """A started sender."""
    link = Link(parse_target(endpoint))
    sender = Sender(link, {"service.name": "app"}, **options)
    sender.start()
    try:
        yield sender
    finally:
        sender.stop(0.2)
        link.close()


def test_a_lone_span_leaves_at_once(processor: StubProcessor) -> None:
    with sending(processor.endpoint) as sender:
        sender.put(span("warm-up"))
        until(lambda: sender.sent == 1)
        began = time.perf_counter()

        sender.put(span("alone"))

        until(lambda: "alone" in processor.names, every=0.001)
        assert time.perf_counter() - began < 0.5  # 1 ms as a rule; the machine may be busy


def test_under_load_everything_that_waits_goes_together_and_in_order(processor: StubProcessor) -> None:
    spans = [span(f"{number}") for number in range(3 * BATCH)]
    with sending(processor.endpoint) as sender:
        processor.held = True
        for each in spans:
            sender.put(each)
        processor.let_go()

        until(lambda: sender.sent == len(spans))
        assert processor.names == [each.name for each in spans]
        assert len(processor.requests) <= 5
        assert len(sender) == 0


def test_what_waits_is_bounded_the_oldest_goes_and_is_counted() -> None:
    sender = Sender(Link(parse_target("127.0.0.1:1")), {}, limit=3)  # not started

    for number in range(5):
        sender.put(span(f"{number}"))

    assert [each.name for each in sender.unsent()] == ["2", "3", "4"]
    assert sender.dropped == 2


@pytest.mark.parametrize("code", ["UNAVAILABLE", "DEADLINE_EXCEEDED", "ABORTED", "UNAUTHENTICATED"])
def test_what_may_pass_is_tried_again_and_nothing_is_lost(processor: StubProcessor, code: str) -> None:
    processor.codes = [grpc.StatusCode[code]]
    with sending(processor.endpoint) as sender:
        sender.put(span("patient"))

        until(lambda: processor.names == ["patient"])
        until(lambda: sender.sent == 1)
        assert sender.dropped == 0
        assert sender.problem == ""


@pytest.mark.parametrize("code", ["INVALID_ARGUMENT", "INTERNAL", "UNKNOWN"])
def test_what_is_refused_is_dropped_counted_and_in_nobodys_way(processor: StubProcessor, code: str) -> None:
    processor.codes = [grpc.StatusCode[code]]
    with sending(processor.endpoint) as sender:
        sender.put(span("refused"))
        until(lambda: sender.dropped == 1)
        assert sender.problem.startswith(code)

        sender.put(span("taken"))

        until(lambda: processor.names == ["taken"])


def test_a_request_that_is_too_large_is_cut_until_it_fits(processor: StubProcessor) -> None:
    processor.codes = [grpc.StatusCode.RESOURCE_EXHAUSTED] * 2
    link = Link(parse_target(processor.endpoint))
    sender = Sender(link, {})
    for number in range(4):
        sender.put(span(f"{number}"))

    sender.start()

    until(lambda: sender.sent == 4)
    assert processor.names == ["0", "1", "2", "3"]
    assert len(processor.requests[0].resource_spans[0].scope_spans[0].spans) == 1
    sender.stop(1.0)
    link.close()


def test_a_span_that_is_too_large_by_itself_is_dropped(processor: StubProcessor) -> None:
    processor.codes = [grpc.StatusCode.RESOURCE_EXHAUSTED]
    with sending(processor.endpoint) as sender:
        sender.put(span("giant"))

        until(lambda: sender.dropped == 1)


def test_what_the_processor_rejected_is_counted(processor: StubProcessor) -> None:
    processor.rejected = 1
    with sending(processor.endpoint) as sender:
        sender.put(span())

        until(lambda: sender.dropped == 1)
        assert sender.sent == 0
        assert sender.is_heard()


def test_a_failure_and_its_end_are_told(processor: StubProcessor) -> None:
    changes: list[bool] = []
    processor.codes = [grpc.StatusCode.UNAVAILABLE]
    link = Link(parse_target(processor.endpoint))
    sender = Sender(link, {}, lambda: changes.append(sender.is_heard()))
    sender.start()

    sender.put(span())

    until(lambda: changes == [False, True])
    sender.stop(1.0)
    link.close()


def test_a_processor_that_does_not_answer_is_not_heard_and_its_late_answer_is_told(
    processor: StubProcessor,
) -> None:
    clock = [0.0]
    told: list[bool] = []
    processor.held = True
    with sending(processor.endpoint, on_change=lambda: told.append(True), clock=lambda: clock[0]) as sender:
        sender.put(span())
        until(lambda: processor.exports == 1)
        assert sender.is_heard()

        clock[0] = 10.0

        assert not sender.is_heard()
        processor.let_go()
        until(lambda: told)
        until(sender.is_heard)


def test_a_nudge_ends_the_back_off(processor: StubProcessor) -> None:
    clock = [0.0]  # it stands still, so no back-off ever ends by itself
    processor.codes = [grpc.StatusCode.UNAVAILABLE]
    with sending(processor.endpoint, clock=lambda: clock[0]) as sender:
        sender.put(span("waiting"))
        until(lambda: sender.problem)

        sender.nudge()

        until(lambda: processor.names == ["waiting"])


def test_stopping_gives_up_on_a_processor_that_is_not_there() -> None:
    link = Link(parse_target("127.0.0.1:1"))
    sender = Sender(link, {})
    sender.start()
    sender.put(span())
    began = time.perf_counter()

    sender.stop(5.0)

    assert time.perf_counter() - began < 4.0
    assert len(sender) == 1
    link.close()


def test_a_fault_of_ours_costs_its_batch_and_nothing_else(
    processor: StubProcessor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPANFUSE_RERAISE", "0")
    broken: Any = None
    with sending(processor.endpoint) as sender:
        sender.put(broken)
        until(lambda: sender.dropped == 1)

        sender.put(span("next"))

        until(lambda: processor.names == ["next"])


def test_many_threads_lose_nothing(processor: StubProcessor) -> None:
    with sending(processor.endpoint) as sender:
        threads = [
            threading.Thread(target=lambda: [sender.put(span()) for _ in range(200)]) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10.0)

        until(lambda: len({each.span_id for each in processor.spans}) == 1_600)
