"""The control service over gRPC: Watch, List, Report and Lease, on raw bytes.

Rule 1: events are serialised by the hub once and written as they are; no serializer is registered.
Rule 2: every method asks who calls before it reads what is asked. Rule 3: a fault of ours is reported and
answered with INTERNAL; it never ends the server, and a callback that fails never costs an application its
answer.
It does not know what a directive means, nor what becomes of effects.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

import grpc

from spanfuse_processor.auth import Tokens
from spanfuse_processor.control.hub import Hub
from spanfuse_processor.control.leasing import LeaseDesk, OnLease
from spanfuse_processor.control.view import View, view_of
from spanfuse_processor.engine.events import CallStarted, Heartbeat
from spanfuse_processor.wire import calls, effects, gate, messages
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire.answers import Answers
from spanfuse_processor.wire.effects import Effect
from spanfuse_processor.wire.messages import SERVICE, Instance, decode_cursor, decode_instance
from spanfuse_processor.wire.plain import parsed

MAX_REQUEST: Final = 4 * 1024 * 1024  # bytes; what is larger is no report

M = TypeVar("M")
Context = grpc.aio.ServicerContext[bytes, bytes]
OnEffects = Callable[[Instance, list[Effect]], None]
OnAnswers = Callable[[Instance, Answers], None]
OnOpenCalls = Callable[[Sequence[CallStarted | Heartbeat]], None]
OnFault = Callable[[str, BaseException], None]


class ControlService:
    """The service over one hub; `handler` goes to `add_generic_rpc_handlers` of a grpc.aio server.

    Args:
        hub: where directives come from.
        tokens: who may watch and report; operators may, too.
        on_effects: is told what came of directives in one application.
        on_open_calls: is told of calls that have begun, and after them of runs that say that they live.
        on_fault: is told of internal errors, with the place.
        on_lease: answers who asks for a lease; None: leases are not offered.
        on_answers: is told how the gate of one application answered; None: nobody is.
    """

    def __init__(
        self,
        hub: Hub,
        tokens: Tokens,
        on_effects: OnEffects,
        on_open_calls: OnOpenCalls,
        on_fault: OnFault,
        on_lease: OnLease | None = None,
        on_answers: OnAnswers | None = None,
    ) -> None:
        self._hub = hub
        self._tokens = tokens
        self._on_effects = on_effects
        self._on_open_calls = on_open_calls
        self._on_fault = on_fault
        self._on_answers = on_answers
        self._leases = LeaseDesk(on_lease)

    def handler(self) -> grpc.GenericRpcHandler[bytes, bytes]:
        """The handler of every method of the service."""
        unary = grpc.unary_unary_rpc_method_handler
        methods = {
            "Watch": grpc.unary_stream_rpc_method_handler(self._guarded("watch", self._watch)),
            "List": unary(self._guarded("list", self._list)),
            "Report": unary(self._guarded("report", self._report)),
            "Lease": unary(self._guarded("lease", self._lease)),
        }
        return grpc.method_handlers_generic_handler(SERVICE, methods)

    async def _watch(self, payload: bytes, context: Context) -> None:
        request = await self._read(pb.WatchRequest, payload, context)
        with self._hub.subscribe(view_of(request), decode_cursor(request.resume)) as subscription:
            while events := await subscription.next():
                for event in events:
                    await context.write(event)

    async def _list(self, payload: bytes, context: Context) -> bytes:
        request = await self._read(pb.ListRequest, payload, context)
        self._hub.advance()
        answer = pb.Snapshot(cursor=messages.encode_cursor(self._hub.cursor))
        if decode_cursor(request.resume) != self._hub.cursor:
            part, answer.more = messages.newest(self._hub.standing(view_of(request)))
            answer.directives.extend(part)
        return answer.SerializeToString()

    async def _report(self, payload: bytes, context: Context) -> bytes:
        request = await self._read(pb.ReportRequest, payload, context)
        instance = decode_instance(request.instance)
        self._tell("effects", self._hand_on_effects, instance, request)
        self._tell("open calls", self._hand_on_calls, instance, request)
        self._tell("answers", self._hand_on_answers, instance, request)
        news = self._hub.news(decode_cursor(request.cursor), View(instance.supported))
        answer = pb.ReportResponse(cursor=messages.encode_cursor(self._hub.cursor))
        answer.directives.extend(messages.newest(news)[0])
        return answer.SerializeToString()

    async def _lease(self, payload: bytes, context: Context) -> bytes:
        request = await self._read(pb.LeaseRequest, payload, context)
        return await self._leases.answer(request, context)

    def _hand_on_effects(self, instance: Instance, request: pb.ReportRequest) -> None:
        read = [effects.decode(message) for message in request.effects]
        if known := [effect for effect in read if effect is not None]:
            self._on_effects(instance, known)

    def _hand_on_calls(self, instance: Instance, request: pb.ReportRequest) -> None:
        read = [calls.decode(message, instance.service, instance.id) for message in request.open_calls]
        known: list[CallStarted | Heartbeat] = [event for event in read if event is not None]
        known += [calls.decode_heartbeat(message) for message in request.heartbeats]
        if known:
            self._on_open_calls(known)

    def _hand_on_answers(self, instance: Instance, request: pb.ReportRequest) -> None:
        answers = gate.decode(request.gate)
        if answers is not None and self._on_answers is not None:
            self._on_answers(instance, answers)

    def _tell(
        self,
        what: str,
        hand_on: Callable[[Instance, pb.ReportRequest], None],
        instance: Instance,
        request: pb.ReportRequest,
    ) -> None:
        try:
            hand_on(instance, request)
        except Exception as error:
            self._on_fault(what, error)

    async def _read(self, kind: type[M], payload: bytes, context: Context) -> M:
        """The request, once its sender is let in; aborts the call otherwise."""
        await self._admit(context)
        if len(payload) > MAX_REQUEST:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"more than {MAX_REQUEST} bytes")
        message = parsed(kind, payload)
        if message is None:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"not a {kind.__name__}")
        return message

    async def _admit(self, context: Context) -> None:
        if self._tokens.role(_authorization(context)) is None:
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "a valid bearer token is needed")

    def _guarded(self, name: str, method: Callable[[bytes, Context], Awaitable[Any]]) -> Any:
        """`method`, whose internal errors are reported and answered."""

        async def call(payload: bytes, context: Context) -> Any:
            try:
                return await method(payload, context)
            except grpc.aio.AbortError:
                raise
            except Exception as error:
                if context.done():  # who asked has gone
                    return None
                self._on_fault(f"control {name}", error)
                await context.abort(grpc.StatusCode.INTERNAL, "a fault of the processor")

        return call


def _authorization(context: Context) -> str | None:
    for key, value in context.invocation_metadata() or ():
        if key == "authorization":
            return value if isinstance(value, str) else None
    return None
