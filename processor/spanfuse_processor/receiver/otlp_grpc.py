"""OTLP over gRPC: the trace service, on raw bytes.

Rule 1: no deserializer is registered, so that a batch is parsed by our slim schema and not by grpc. Rule 2:
nothing leaves the handler as an exception: grpc would say UNKNOWN, and the sender would drop the batch.
Limits, gzip and deflate are grpc's own, given as options; metrics and logs are not served, and grpc says so.
"""

from __future__ import annotations

from typing import Any

import grpc

from spanfuse_processor.receiver.answers import Refused, receipt_bytes, trailers
from spanfuse_processor.receiver.decode import decode
from spanfuse_processor.receiver.intake import Intake

SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService"
MAX_REQUEST = 64 * 1024 * 1024
CODES = {code.value[0]: code for code in grpc.StatusCode}


class GrpcReceiver:
    """The trace service over one intake, for a grpc.aio server."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake

    def handler(self) -> grpc.GenericRpcHandler[bytes, bytes]:
        """What `add_generic_rpc_handlers` of the server takes."""
        export = grpc.unary_unary_rpc_method_handler(self._export)
        return grpc.method_handlers_generic_handler(SERVICE, {"Export": export})

    async def _export(self, payload: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        try:
            self._intake.admit(_authorization(context))
            return receipt_bytes(await self._intake.take(payload, decode))
        except Refused as refused:
            await context.abort(CODES[refused.reason.code], refused.message, trailers(refused))


def server_options(max_request: int = MAX_REQUEST) -> list[tuple[str, Any]]:
    """Options for the server: the limit of a request after decompression, liveness, rebalancing."""
    return [
        ("grpc.max_receive_message_length", max_request),
        # Clients may ping every 10 s; by default grpc calls that too many and hangs up.
        ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.keepalive_time_ms", 20_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        # Connections are renewed now and then, so that a new replica gets its share.
        ("grpc.max_connection_age_ms", 600_000),
        ("grpc.max_connection_age_grace_ms", 30_000),
    ]


def _authorization(context: grpc.aio.ServicerContext[bytes, bytes]) -> str | None:
    for key, value in context.invocation_metadata() or ():
        if key == "authorization":
            return value if isinstance(value, str) else None
    return None
