"""The remote host whose spans go by way of a Collector while its orders come from the processor."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.library.examples import key, span, stop
from tests.library.remote_hosts import is_in, remote
from tests.library.stub_processor import StubProcessor, stub_processor
from tests.waiting import until

from spanfuse.board import Board
from spanfuse.errors import SettingsError
from spanfuse.host import HostState
from spanfuse.hosts.remote import RemoteHost
from spanfuse.settings import Settings
from spanfuse_processor.engine import NoPrices


@pytest.fixture
def processor() -> Iterator[StubProcessor]:
    with stub_processor() as running:
        yield running


@pytest.fixture
def collector() -> Iterator[StubProcessor]:
    with stub_processor(collector=True) as running:
        yield running


def test_spans_go_to_the_collector_and_orders_come_from_the_processor(
    processor: StubProcessor, collector: StubProcessor
) -> None:
    with remote(processor.endpoint, spans_endpoint=collector.endpoint) as (host, board):
        until(is_in(host, HostState.CONNECTED))
        host.span_ended(span("execute_tool search"))
        until(lambda: collector.names == ["execute_tool search"])

        processor.publish(stop("r"))

        until(lambda: board.standing([key("r")]))
        assert processor.names == []


def test_while_the_collector_is_gone_calls_are_judged_here(
    processor: StubProcessor, collector: StubProcessor
) -> None:
    with remote(processor.endpoint, spans_endpoint=collector.endpoint) as (host, _):
        until(is_in(host, HostState.CONNECTED))
        collector.stop()

        host.span_ended(span("execute_tool search"))

        until(is_in(host, HostState.LOST))
        assert "UNAVAILABLE" in host.stats().problem


def test_while_the_processor_is_gone_a_collector_that_takes_spans_judges_nothing(
    processor: StubProcessor, collector: StubProcessor
) -> None:
    with remote(processor.endpoint, spans_endpoint=collector.endpoint) as (host, _):
        until(is_in(host, HostState.CONNECTED))

        processor.stop()

        until(is_in(host, HostState.LOST))
        host.span_ended(span("execute_tool search"))
        until(lambda: collector.names == ["execute_tool search"])
        assert host.stats().state is HostState.LOST


def test_spans_in_plaintext_beyond_loopback_have_to_be_allowed() -> None:
    settings = Settings(endpoint="127.0.0.1:4317", spans_endpoint="http://collector.example:4317")

    with pytest.raises(SettingsError, match="collector.example"):
        RemoteHost(settings, Board(), NoPrices())
