"""The whole service passes on what it receives, and tells of its breaker in the same traces."""

from __future__ import annotations

import contextlib
import threading
import time
import urllib.request
from collections.abc import Iterator

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from tests.benchmarks.payloads import batch
from tests.conformance.rigs import served
from tests.forwarding.backends import Backend, Mood, over_grpc
from tests.library.examples import RESOURCE, failed_tool
from tests.processes import free_port
from tests.waiting import until

from spanfuse.link.otlp import encode
from spanfuse_processor import passing
from spanfuse_processor.clock import SystemClock
from spanfuse_processor.config import Auth, Config, Listen, Storage
from spanfuse_processor.config_forward import Destination, Forward
from spanfuse_processor.control.hub import Hub
from spanfuse_processor.engine.budget import Budget
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.forwarding.over_grpc import EXPORT
from spanfuse_processor.service import Service, StartError

TOKEN = "an operator's"
LOOP = 4  # equal failing calls that are a loop


class Running:
    """A service that runs, and a way to send it spans."""

    def __init__(self, service: Service, channel: grpc.Channel, http_port: int) -> None:
        self.service = service
        self._http = f"http://127.0.0.1:{http_port}"
        self._export = channel.unary_unary(EXPORT, None, None)

    def send(self, payload: bytes) -> None:
        self._export(payload, 5.0)

    def loop(self, run: str = "run") -> list[bytes]:
        """Sends the spans of a loop; returns the requests."""
        sent = [encode([failed_tool(run)], RESOURCE)[0] for _ in range(LOOP)]
        for payload in sent:
            self.send(payload)
        return sent

    def order(self, name: str, body: bytes) -> None:
        """What an operator does."""
        headers = {"content-type": "application/json", "authorization": f"Bearer {TOKEN}"}
        request = urllib.request.Request(f"{self._http}/v1/{name}", body, headers)
        with urllib.request.urlopen(request, timeout=5):
            return

    @property
    def hub(self) -> Hub:
        return self.service._hub


@contextlib.contextmanager
def running(forward: Forward, policy: Policy | None = None) -> Iterator[Running]:
    listen = Listen(grpc_port=free_port(), http_port=free_port(), metrics_port=free_port())
    config = Config(
        listen=listen,
        auth=Auth(admin_token=TOKEN),
        store=Storage(url="memory:"),
        forward=forward,
        policy=policy or Policy(),
    )
    service = Service(config, SystemClock())
    with served(service), grpc.insecure_channel(f"127.0.0.1:{listen.grpc_port}") as channel:
        yield Running(service, channel, listen.http_port)


def breaker_spans(backend: Backend) -> list[Span]:
    """Those that a destination got."""
    requests = map(ExportTraceServiceRequest.FromString, list(backend.taken))
    spans = [
        span for each in requests for group in each.resource_spans for scope in group.scope_spans
        for span in scope.spans
    ]  # fmt: skip
    return [span for span in spans if span.name == "spanfuse.breaker"]


def kinds(backend: Backend) -> list[str]:
    return [span.events[0].name.rpartition(".")[2] for span in breaker_spans(backend)]


def test_a_loop_is_passed_on_and_its_stop_is_told_in_its_trace() -> None:
    with (
        over_grpc() as backend,
        running(Forward(endpoint=backend.endpoint)) as made,
    ):
        sent = made.loop()
        until(lambda: "trip" in kinds(backend))

    assert sorted(each for each in backend.taken if each in sent) == sorted(sent)
    trip = next(each for each in breaker_spans(backend) if each.status.code == 2)
    offending = ExportTraceServiceRequest.FromString(sent[-1]).resource_spans[0].scope_spans[0].spans[0]
    assert (trip.trace_id, trip.parent_span_id) == (offending.trace_id, offending.span_id)
    assert trip.start_time_unix_nano == min(offending.end_time_unix_nano, trip.end_time_unix_nano)
    others = [ExportTraceServiceRequest.FromString(each) for each in sent[:-1]]
    assert [each.span_id for each in trip.links] == [
        each.resource_spans[0].scope_spans[0].spans[0].span_id for each in others
    ]


def test_where_nobody_wants_to_be_told_only_what_came_is_passed_on() -> None:
    with (
        over_grpc() as backend,
        running(Forward(endpoint=backend.endpoint, events=False)) as made,
    ):
        sent = made.loop()

    assert sorted(backend.taken) == sorted(sent)


def test_where_somebody_else_sends_the_spans_only_what_the_breaker_does_is_passed_on() -> None:
    with (
        over_grpc() as backend,
        running(Forward(endpoint=backend.endpoint, spans=False)) as made,
    ):
        sent = made.loop()
        until(lambda: "trip" in kinds(backend))

    assert [each for each in backend.taken if each in sent] == []


def test_our_own_span_that_comes_back_is_neither_judged_nor_passed_on_again() -> None:
    with (
        over_grpc() as backend,
        running(Forward(endpoint=backend.endpoint)) as made,
    ):
        sent = made.loop()
        until(lambda: "trip" in kinds(backend))
        told = [each for each in backend.taken if each not in sent]
        before, back = made.service._engine.stats(), 3 * len(breaker_spans(backend))
        for payload in told * 3:
            made.send(payload)
        after = made.service._engine.stats()

    assert (after.spans - before.spans, after.unread) == (back, before.unread)
    assert len(backend.taken) == len(sent) + len(told)


def test_what_happens_to_a_budget_is_told() -> None:
    policy = Policy(budgets=(Budget("tiny", 1),))
    with (
        over_grpc() as backend,
        running(Forward(endpoint=backend.endpoint), policy) as made,
    ):
        made.send(batch(64))
        until(lambda: "budget" in kinds(backend))

    told = next(each for each in breaker_spans(backend) if each.events[0].name.endswith(".budget"))
    values = {each.key: each.value.string_value for each in told.attributes}
    assert values["spanfuse.breaker.budget"] == "tiny"


def test_a_destination_that_hangs_delays_no_stop() -> None:
    """Nothing is taken, from the first request to the last; stops are as quick as ever."""
    hold = threading.Event()
    backend = Backend(always=Mood(hold=hold))
    with (
        over_grpc(backend),
        running(Forward(endpoint=backend.endpoint)) as made,
    ):
        made.loop("warm-up")
        waits = []
        for number in range(10):
            before, start = made.hub.stats.published, time.monotonic()
            made.loop(f"run-{number}")
            until(lambda before=before: made.hub.stats.published > before, every=0.0005)  # type: ignore[misc]
            waits.append(time.monotonic() - start)
        assert backend.taken == []
        hold.set()

    assert sorted(waits)[5] < 0.25  # of a hung call's ten seconds nothing is felt


@pytest.mark.parametrize("broken", ["of_verdict", "request_of"])
def test_a_fault_of_telling_stops_nothing(monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(passing, broken, fail)
    with (
        over_grpc() as backend,
        running(Forward(endpoint=backend.endpoint)) as made,
    ):
        sent = made.loop()
        until(lambda: made.hub.stats.published == 1)
        until(lambda: made.service._faults.counts.get("forwarding"))

    assert sorted(backend.taken) == sorted(sent)


def test_without_destinations_nothing_is_there() -> None:
    with running(Forward()) as made:
        made.loop()
        assert made.service._passing.onward is None
        assert made.service._passing.standings() == {}


def test_a_file_of_authorities_that_cannot_be_read_is_told_at_the_start() -> None:
    there = Destination("https://127.0.0.1:1", ca_file="/no/such.pem")

    with pytest.raises(StartError, match="forward: a ca_file cannot be used"):
        Service(
            Config(store=Storage(url="memory:"), forward=Forward(destinations={"x": there})), SystemClock()
        )


def test_an_operators_order_and_what_comes_of_it_are_told_in_the_runs_trace() -> None:
    with (
        over_grpc() as backend,
        running(Forward(endpoint=backend.endpoint)) as made,
    ):
        made.send(encode([failed_tool("run")], RESOURCE)[0])
        for name in ("kill", "release"):
            made.order(name, b'{"key": "run/run", "reason": "why not"}')
        until(lambda: sorted(kinds(backend)) == ["order", "order", "release", "trip"])

    assert len({span.trace_id for span in breaker_spans(backend)}) == 1


def test_many_stops_at_once_are_few_requests() -> None:
    with (
        over_grpc() as backend,
        running(Forward(endpoint=backend.endpoint)) as made,
    ):
        sent = [made.loop(f"run-{number}") for number in range(20)]
        until(lambda: kinds(backend).count("trip") == 20)

    assert len(backend.taken) < sum(map(len, sent)) + 20
