"""A control service on a port of its own, a clock that tests move, and what the service handed on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import grpc

from spanfuse_processor.auth import Tokens
from spanfuse_processor.control.hub import Hub
from spanfuse_processor.control.leasing import OnLease
from spanfuse_processor.control.stream import ControlService
from spanfuse_processor.engine.events import CallStarted
from spanfuse_processor.receiver.otlp_grpc import server_options
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire.control_pb2_grpc import ControlStub
from spanfuse_processor.wire.effects import Effect
from spanfuse_processor.wire.log import DirectiveLog
from spanfuse_processor.wire.messages import Instance

BOUND = 10.0  # seconds that anything here may take
WALL = 1_700_000_000_000_000_000
OPERATOR, CLIENT = "operator-token", "client-token"
TOKENS = Tokens([CLIENT], [OPERATOR])


@dataclass
class FakeClock:
    """Both clocks, moved by hand."""

    now: float = 1000.0

    def monotonic(self) -> float:
        return self.now

    def wall_ns(self) -> int:
        return WALL + int(self.now * 1e9)


def make_hub(epoch: str = "e1", retained: int = 1024, bookmark_every: float = BOUND) -> tuple[Hub, FakeClock]:
    """A hub whose clock stands still."""
    clock = FakeClock()
    return Hub(DirectiveLog(epoch, retained=retained), clock, bookmark_every), clock


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    """The metadata of who has this token."""
    return (("authorization", f"Bearer {token}"),)


@dataclass
class Running:
    """A running service, and what came back through it."""

    hub: Hub
    clock: FakeClock
    address: str = ""
    effects: list[tuple[Instance, list[Effect]]] = field(default_factory=list)
    calls: list[list[CallStarted]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    on_effects: Callable[[Instance, list[Effect]], None] | None = None
    stub: Any = None  # the generated client: an implementation of its own, which keeps ours honest
    channel: Any = None

    def take_effects(self, instance: Instance, effects: list[Effect]) -> None:
        if self.on_effects is not None:
            self.on_effects(instance, effects)
        self.effects.append((instance, effects))


@contextlib.asynccontextmanager
async def controlling(
    tokens: Tokens | None = None,
    bookmark_every: float = BOUND,
    retained: int = 1024,
    on_lease: OnLease | None = None,
) -> AsyncIterator[Running]:
    """A control service and a client of it, for the length of a block."""
    running = Running(*make_hub(retained=retained, bookmark_every=bookmark_every))
    service = ControlService(
        running.hub,
        tokens or Tokens(),
        running.take_effects,
        running.calls.append,
        lambda where, error: running.faults.append(f"{where}: {error!r}"),
        on_lease,
    )
    server = grpc.aio.server(options=server_options())
    server.add_generic_rpc_handlers((service.handler(),))
    running.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    async with grpc.aio.insecure_channel(running.address) as running.channel:
        running.stub = ControlStub(running.channel)
        try:
            async with asyncio.timeout(BOUND):
                yield running
        finally:
            await server.stop(None)


async def reaches(condition: Callable[[], object]) -> None:
    """Returns when `condition` holds; bounded by whoever calls."""
    while not condition():
        await asyncio.sleep(0.002)


async def refusal(call: Any) -> grpc.StatusCode:
    """The code with which a call fails."""
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return error.code()
    raise AssertionError("it was accepted")


async def events(call: Any, count: int) -> list[pb.WatchEvent]:
    """The next events of a stream."""
    return [await call.read() for _ in range(count)]
