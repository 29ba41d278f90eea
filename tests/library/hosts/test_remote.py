"""The remote host over real sockets: spans out, orders in, and an orderly end."""

from __future__ import annotations

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.library.examples import begun, failed_tool, key, span, stop
from tests.library.remote_hosts import is_in, remote
from tests.library.stub_processor import StubProcessor, stub_processor
from tests.waiting import until

from spanfuse.board import Board
from spanfuse.errors import SettingsError
from spanfuse.host import HostState
from spanfuse.hosts.remote import RemoteHost
from spanfuse.rereading import PolicyFile
from spanfuse.settings import Settings
from spanfuse_processor.engine import NoPrices
from spanfuse_processor.engine.nouns import BreakerKey, Kind, Level
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.reach import Degrading, Payer, Reach
from spanfuse_processor.engine.verdicts import Action, Directive


@pytest.fixture
def processor() -> Iterator[StubProcessor]:
    with stub_processor() as running:
        yield running


def test_a_span_that_ended_is_at_the_processor_at_once(processor: StubProcessor) -> None:
    with remote(processor.endpoint) as (host, _):
        until(is_in(host, HostState.CONNECTED))

        host.span_ended(span("execute_tool search"))

        until(lambda: processor.names == ["execute_tool search"], timeout=1.0)


def test_an_order_closes_the_gate_and_is_acknowledged(processor: StubProcessor) -> None:
    with remote(processor.endpoint) as (host, board):
        until(is_in(host, HostState.CONNECTED))

        processor.publish(stop("r"))

        until(lambda: board.standing([key("r")]))
        until(lambda: [effect.directive_id for effect in processor.effects] == ["run/r/stop"])
        assert host.stats().directives == 1


def test_an_order_of_a_budget_reaches_calls_over_the_wire_and_what_it_did_comes_back(
    processor: StubProcessor,
) -> None:
    budget = BreakerKey(Level.BUDGET, "daily[ann]")
    wish = Degrading((("gpt-4o*", "gpt-4.1-nano"),), ("web_*",), 64, 0.0)
    reach, pace = Reach(user=("ann",)), (("calls_per_second", 0.5), ("burst", 2.0))
    short = Directive("short", 0, budget, Action.DEGRADE, reach=reach, degrading=wish)
    slow = Directive("slow", 0, budget, Action.THROTTLE, reach=reach, params=pace)
    paused = Directive("paused", 0, budget, Action.PAUSE, reach=reach)
    with remote(processor.endpoint) as (_, board):
        until(lambda: processor.watchers)
        processor.publish(short, slow, paused)
        until(lambda: board.covering(Action.THROTTLE, [], Payer(user="ann")))

        (held,) = board.covering(Action.DEGRADE, [], Payer(user="ann"))
        board.ledger.spare(held, degraded=3)

        assert (held.degrading, held.reach) == (wish, reach)
        assert board.covering(Action.DEGRADE, [], Payer(user="bob")) == []
        until(lambda: 3 in [each.calls_degraded for each in processor.effects])
        assert "paused" not in {each.id for each in board.directives()}


def test_an_order_that_is_taken_back_opens_the_gate(processor: StubProcessor) -> None:
    with remote(processor.endpoint) as (_, board):
        processor.publish(stop("r"))
        until(lambda: board.standing([key("r")]))

        processor.publish(withdraw=("run/r/stop",))

        until(lambda: board.standing([key("r")]) is None)


def test_what_was_published_before_the_start_holds_from_the_first_moment(processor: StubProcessor) -> None:
    processor.publish(stop("r"))

    with remote(processor.endpoint) as (host, board):
        until(is_in(host, HostState.CONNECTED))

        assert board.standing([key("r")]) is not None


def test_an_agent_that_begins_is_told_at_once(processor: StubProcessor) -> None:
    with remote(processor.endpoint) as (host, _):
        until(is_in(host, HostState.CONNECTED))
        agent = begun(Kind.AGENT, began=host._clock())

        host.call_started(agent)

        until(lambda: [call.span_id for call in processor.open_calls] == [agent.span_id], timeout=1.0)
        assert processor.open_calls[0].identity.instance == "i-1"


def test_stopping_sends_what_is_queued(processor: StubProcessor) -> None:
    with remote(processor.endpoint) as (host, _):
        until(is_in(host, HostState.CONNECTED))
        for _ in range(700):
            host.span_ended(span())

    assert len(processor.spans) == 700
    assert host.stats().state is HostState.IDLE


def test_stopping_waits_no_longer_than_it_was_told() -> None:
    with stub_processor() as processor, remote(processor.endpoint) as (host, _):
        until(is_in(host, HostState.CONNECTED))
        processor.held = True
        host.span_ended(span())

        began = time.perf_counter()
        host.stop(timeout=0.1)

        assert time.perf_counter() - began < 2.0


def test_no_thread_outlives_the_host(processor: StubProcessor) -> None:
    with remote(processor.endpoint) as (host, _):
        until(is_in(host, HostState.CONNECTED))

    ours = ("spanfuse-send", "spanfuse-watch", "spanfuse-keeper")
    until(lambda: not [each for each in threading.enumerate() if each.name in ours])


FORKING = """
import os, sys
from tests.library.examples import span
from tests.library.remote_hosts import is_in, remote
from tests.waiting import until
from spanfuse.host import HostState

with remote(sys.argv[1]) as (host, _):
    until(is_in(host, HostState.CONNECTED))
    child = os.fork()
    if child == 0:
        with remote(sys.argv[1]) as (own, _):
            own.span_ended(span("from the child"))
            until(is_in(own, HostState.CONNECTED))
        os._exit(0)
    host.span_ended(span("from the parent"))
    sys.exit(os.waitpid(child, 0)[1])
"""


def test_its_own_file_may_change_while_it_runs(
    processor: StubProcessor,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(PolicyFile.__init__, "__defaults__", (0.0,))
    file = tmp_path / "spanfuse.yaml"
    file.write_text("policy: {prices: {mine: {input: 1, output: 0}}}")
    with remote(processor.endpoint, config=str(file)) as (host, _):
        followed: list[Policy] = []
        host.followers.append(followed.append)
        until(is_in(host, HostState.CONNECTED))

        with caplog.at_level(logging.ERROR, "spanfuse"):
            file.write_text("policy: {detectors: {repeat: {no_such_limit: 1}}}")
            until(lambda: caplog.records, 10.0)
        assert not followed
        file.write_text("policy: {prices: {mine: {input: 2, output: 0}}}")
        until(lambda: followed, 10.0)

    assert followed[0].prices["mine"].input == 2


def test_the_child_of_a_fork_connects_on_its_own(processor: StubProcessor) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKING, processor.endpoint], capture_output=True, timeout=30, check=False
    )

    assert done.returncode == 0, done.stderr.decode()
    assert sorted(processor.names) == ["from the child", "from the parent"]


@pytest.mark.parametrize("endpoint", ["http://example.com:4317", "ftp://x", "host:port", ":4317"])
def test_an_endpoint_that_cannot_be_used_is_a_settings_error(endpoint: str) -> None:
    with pytest.raises(SettingsError, match="endpoint"):
        RemoteHost(Settings(endpoint=endpoint), Board(), NoPrices())


@pytest.mark.parametrize("name", ["grpc", "google.protobuf", "opentelemetry.proto"])
def test_what_is_not_installed_is_a_settings_error(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)  # type: ignore[arg-type]

    with pytest.raises(SettingsError, match=f"{name}.*spanfuse.remote"):
        RemoteHost(Settings(endpoint="127.0.0.1:4317"), Board(), NoPrices())


def test_packages_that_do_not_fit_together_leave_the_local_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPANFUSE_RERAISE", "0")
    monkeypatch.setitem(sys.modules, "spanfuse.link.connection", None)  # type: ignore[arg-type]
    with remote("127.0.0.1:1") as (host, board):
        for _ in range(8):
            host.span_ended(failed_tool("loop"))

        until(lambda: "spanfuse.link.connection" in host.stats().last_fault)
        assert board.standing([key("loop")]) is not None
