"""Sends over OTLP/gRPC: protobuf, as it came or made from JSON.

Rule 1: no serializer: what came over gRPC leaves as the same bytes. Rule 2: trying again is not left to grpc.
It does not know what waits.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import grpc

from spanfuse_processor.config_forward import Compression, Destination
from spanfuse_processor.forwarding.answer import Answer, of_grpc, of_receipt
from spanfuse_processor.forwarding.sender import ToProtobuf
from spanfuse_processor.parcel import Parcel

EXPORT: Final = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
OPTIONS: Final = (
    ("grpc.max_send_message_length", -1),
    ("grpc.enable_retries", 0),
    # How soon a destination that was away may be called again is decided here, and not there.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.use_local_subchannel_pool", 1),
)
PACKED: Final = {Compression.NONE: grpc.Compression.NoCompression, Compression.GZIP: grpc.Compression.Gzip}


class OverGrpc:
    """A channel to one destination.

    Raises:
        OSError: the file of authorities cannot be read.
    """

    def __init__(self, destination: Destination, to_protobuf: ToProtobuf) -> None:
        self._to_protobuf = to_protobuf
        self._headers = tuple((name.lower(), text) for name, text in destination.headers.items())
        self._channel = _channel(destination)
        self._export = self._channel.unary_unary(EXPORT, None, None)
        self._packed = PACKED[destination.compression]

    def send(self, parcel: Parcel, timeout: float) -> Answer:
        """As `Sender`."""
        payload = self._to_protobuf(parcel)
        try:
            body = self._export(payload, timeout, metadata=self._headers, compression=self._packed)
        except grpc.RpcError as error:
            return _refusal(error)
        return of_receipt(body)

    def close(self) -> None:
        """Hangs up."""
        self._channel.close()


def _channel(destination: Destination) -> grpc.Channel:
    parts = urlsplit(destination.endpoint)
    secure = parts.scheme == "https"
    address = parts.netloc if parts.port else f"{parts.netloc}:{443 if secure else 4317}"
    if not secure:
        return grpc.insecure_channel(address, OPTIONS)
    file = destination.ca_file or ssl.get_default_verify_paths().cafile
    authorities = Path(file).read_bytes() if file else None
    return grpc.secure_channel(address, grpc.ssl_channel_credentials(authorities), OPTIONS)


def _refusal(error: grpc.RpcError) -> Answer:
    assert isinstance(error, grpc.Call)
    code, words = error.code(), error.details() or ""
    trailers = {key: value for key, value in error.trailing_metadata() or ()}
    return of_grpc(code.value[0], f"{code.name}: {words}", trailers)
