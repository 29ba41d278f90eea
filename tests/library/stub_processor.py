"""A processor that judges nothing: the real control service over a real socket, and a sink for spans.

It may be stopped and started again on its port, with the same history or (`forget`) with a new one.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from spanfuse_processor.auth import Tokens
from spanfuse_processor.clock import SystemClock
from spanfuse_processor.control.hub import Hub
from spanfuse_processor.control.leasing import OnLease
from spanfuse_processor.control.stream import ControlService
from spanfuse_processor.engine.events import CallOpen, CallStarted, Heartbeat
from spanfuse_processor.engine.verdicts import Directive, Removal
from spanfuse_processor.wire.answers import Answers
from spanfuse_processor.wire.effects import Effect
from spanfuse_processor.wire.log import DirectiveLog
from spanfuse_processor.wire.messages import SERVICE, Instance

T = TypeVar("T")
BOUND = 10.0  # seconds that anything here may take
EXPORT = "opentelemetry.proto.collector.trace.v1.TraceService"


@cache
def shared_loop() -> asyncio.AbstractEventLoop:
    """One running loop for all of them, never closed: grpc.aio's poller does not survive that."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


@dataclass
class StubProcessor:
    """`codes` are answered to the next exports, one each; while `held`, exports wait for their answer.

    `mute`: its streams say nothing, as behind a proxy that holds them back. `collector`: it takes spans and
    orders nothing. `on_lease` answers who asks for a lease, from the next start on.
    """

    tokens: Tokens = field(default_factory=Tokens)
    bookmark_every: float = 10.0
    credentials: grpc.ServerCredentials | None = None
    port: int = 0
    requests: list[ExportTraceServiceRequest] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    open_calls: list[CallOpen] = field(default_factory=list)
    heartbeats: list[Heartbeat] = field(default_factory=list)
    answers: list[Answers] = field(default_factory=list)
    instances: list[Instance] = field(default_factory=list)
    codes: list[grpc.StatusCode] = field(default_factory=list)
    rejected: int = 0
    exports: int = 0  # that arrived, answered or not
    held: bool = False
    mute: bool = False
    collector: bool = False
    on_lease: OnLease | None = None

    def __post_init__(self) -> None:
        self._epochs = 0
        self._loop = shared_loop()
        self._server: grpc.aio.Server | None = None
        self._release = asyncio.Event()
        self.forget()

    @property
    def endpoint(self) -> str:
        """Where it listens."""
        return f"127.0.0.1:{self.port}"

    @property
    def spans(self) -> list[Any]:
        """Every span that arrived, in order."""
        return [
            span
            for request in list(self.requests)
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def names(self) -> list[str]:
        """The names of the spans that arrived, in order."""
        return [span.name for span in self.spans]

    @property
    def watchers(self) -> int:
        """How many watch now."""
        return self.hub.watchers

    def forget(self) -> None:
        """Begins a new history, as a processor does that starts anew."""
        self._epochs += 1
        log = DirectiveLog(f"epoch-{self._epochs}")
        self.hub = self._call(lambda: Hub(log, SystemClock(), self.bookmark_every))

    def start(self) -> None:
        """Listens, on the port that it had before if there was one."""
        self._run(self._start())

    def stop(self) -> None:
        """Hangs up on everyone."""
        if self._server is not None:
            self._run(self._server.stop(None))
            self._server = None

    def close(self) -> None:
        """Ends for good."""
        self.let_go()
        self.stop()

    def publish(self, *upserts: Directive, withdraw: tuple[str, ...] = ()) -> None:
        """Puts directives up and takes others down."""
        removals = [Removal(each, 0) for each in withdraw]
        self._call(lambda: self.hub.publish(upserts, removals))

    def let_go(self) -> None:
        """Answers the exports that were held."""
        self.held = False
        self._call(self._release.set)

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """It lives and does nothing, as under SIGSTOP."""
        thaw = threading.Event()
        self._loop.call_soon_threadsafe(thaw.wait, BOUND)
        try:
            yield
        finally:
            thaw.set()

    async def _start(self) -> None:
        server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        control = ControlService(
            self.hub,
            self.tokens,
            self._on_effects,
            self._on_signs,
            lambda *fault: None,
            self.on_lease,
            lambda instance, answers: self.answers.append(answers),
        )
        export = grpc.unary_unary_rpc_method_handler(self._export)
        sink = grpc.method_handlers_generic_handler(EXPORT, {"Export": export})
        if self.mute:
            silence = grpc.unary_stream_rpc_method_handler(self._say_nothing)
            server.add_generic_rpc_handlers(
                (grpc.method_handlers_generic_handler(SERVICE, {"Watch": silence}),)
            )
        server.add_generic_rpc_handlers((sink,) if self.collector else (control.handler(), sink))
        address = f"127.0.0.1:{self.port}"
        if self.credentials is None:
            self.port = server.add_insecure_port(address)
        else:
            self.port = server.add_secure_port(address, self.credentials)
        await server.start()
        self._server = server

    async def _export(self, payload: bytes, context: Any) -> bytes:
        metadata = dict(context.invocation_metadata())
        if self.tokens.role(metadata.get("authorization")) is None:
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "who are you?")
        self.exports += 1
        if self.held:
            await self._release.wait()
        if self.codes:
            await context.abort(self.codes.pop(0), "as told")
        self.requests.append(ExportTraceServiceRequest.FromString(payload))
        if not self.rejected:
            return b""
        answer = ExportTraceServiceResponse()
        answer.partial_success.rejected_spans, self.rejected = self.rejected, 0
        return answer.SerializeToString()

    async def _say_nothing(self, payload: bytes, context: Any) -> None:
        await asyncio.Event().wait()

    def _on_effects(self, instance: Instance, effects: list[Effect]) -> None:
        self.instances.append(instance)
        self.effects.extend(effects)

    def _on_signs(self, signs: Sequence[CallStarted | Heartbeat]) -> None:
        self.open_calls += [each for each in signs if isinstance(each, CallOpen)]
        self.heartbeats += [each for each in signs if isinstance(each, Heartbeat)]

    def _call(self, function: Callable[[], T]) -> T:
        async def inside() -> T:
            return function()

        return self._run(inside())

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(BOUND)


@contextmanager
def stub_processor(**options: Any) -> Iterator[StubProcessor]:
    """A running one."""
    stub = StubProcessor(**options)
    stub.start()
    try:
        yield stub
    finally:
        stub.close()
