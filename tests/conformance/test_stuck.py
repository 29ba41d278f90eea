"""A call that never returns is stopped while it is open, whoever judges: in real time, over real sockets."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.conformance.rigs import served
from tests.processes import free_port
from tests.waiting import until

import spanfuse
from spanfuse import assembly, runtime, signs
from spanfuse.board import Board
from spanfuse.errors import BreakerOpen
from spanfuse.host import HostState
from spanfuse.hosts import embedded, remote
from spanfuse.runtime import Runtime
from spanfuse.settings import Settings
from spanfuse_processor import service
from spanfuse_processor.clock import SystemClock
from spanfuse_processor.config import Auth, Config, Listen, Storage
from spanfuse_processor.engine import Policy

HASTY = Policy(detectors={"stuck": {"open": 0.5, "heartbeat": 0.3, "grace": 0.1}})


@contextmanager
def embedded_host(_: Path) -> Iterator[Runtime]:
    with at_work(Settings(policy=HASTY)) as live:
        yield live


@contextmanager
def remote_host(folder: Path) -> Iterator[Runtime]:
    """A processor behind its real doors, and the library connected to it. Only the processor is hasty."""
    listen = Listen(grpc_port=free_port(), http_port=free_port(), metrics_port=free_port())
    token = Auth(admin_token_file=str(folder / "token"))
    config = Config(listen=listen, policy=HASTY, auth=token, store=Storage(url="memory:"))
    processor = service.Service(config, SystemClock())
    with served(processor), at_work(Settings(endpoint=f"127.0.0.1:{listen.grpc_port}")) as live:
        until(lambda: live.host.stats().state is HostState.CONNECTED, 10)
        yield live


@contextmanager
def remote_host_alone(_: Path) -> Iterator[Runtime]:
    """The library with a processor that is not there: it judges by the limits that it knows itself."""
    with at_work(Settings(endpoint=f"127.0.0.1:{free_port()}", policy=HASTY)) as live:
        yield live


@contextmanager
def at_work(settings: Settings) -> Iterator[Runtime]:
    """The library at work in this process."""
    live = assembly.assemble(settings, Board())
    before = runtime.install(live)
    live.start()
    try:
        yield live
    finally:
        runtime.install(before)
        live.host.stop()


@pytest.fixture(
    params=[embedded_host, remote_host, remote_host_alone], ids=["embedded", "remote", "remote, alone"]
)
def live(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Runtime]:
    monkeypatch.setattr(signs, "SETTLED", 0.0)
    monkeypatch.setattr(signs, "SPACING", 0.0)
    for host in (embedded, remote):
        monkeypatch.setattr(host, "LONGEST", 0.02)
    monkeypatch.setattr(service, "LONGEST_WAIT", 0.02)
    with request.param(tmp_path) as live:
        yield live


@spanfuse.tool
async def never_comes_back() -> None:
    await asyncio.Event().wait()


@spanfuse.tool
def helpless(done: threading.Event) -> None:
    done.wait(10.0)


async def test_the_task_that_waits_for_it_is_cancelled(live: Runtime) -> None:
    with pytest.raises(BreakerOpen) as stop:
        async with spanfuse.run(), asyncio.timeout(10):
            await never_comes_back()

    assert stop.value.reason == "STUCK"
    assert "never_comes_back has shown no sign of life" in str(stop.value)


def test_what_cannot_be_interrupted_is_stopped_at_its_next_call_and_reported(live: Runtime) -> None:
    done = threading.Event()

    def release() -> None:
        until(lambda: not live.board.empty, 10)
        done.set()

    waiting = threading.Thread(target=release)
    waiting.start()
    with spanfuse.run():
        helpless(done)
        with pytest.raises(BreakerOpen):
            helpless(done)
    waiting.join()

    (directive,) = live.board.directives()
    assert live.board.effects(directive).not_interruptible >= 1


def test_a_tool_that_says_that_it_lives_is_left_alone(live: Runtime) -> None:
    @spanfuse.tool
    def compute(seconds: float) -> str:
        end = live.board.clock() + seconds
        until(lambda: spanfuse.heartbeat() or live.board.clock() > end)  # type: ignore[func-returns-value]
        return "done"

    with spanfuse.run():
        assert compute(1.2) == "done"

    assert live.board.empty


def test_a_run_that_stops_sending_heartbeats_learns_of_its_stop_at_the_next(live: Runtime) -> None:
    with spanfuse.run():
        spanfuse.heartbeat()
        until(lambda: not live.board.empty, 10)

        with pytest.raises(BreakerOpen, match="no heartbeat"):
            spanfuse.heartbeat()


def test_a_run_that_never_sent_one_may_think_as_long_as_it_likes(live: Runtime) -> None:
    with spanfuse.run():
        end = live.board.clock() + 1.0
        until(lambda: live.board.clock() > end)

    assert live.board.empty
