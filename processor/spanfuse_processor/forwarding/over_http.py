"""Sends over OTLP/HTTP: the body as it came, with its Content-Type and Content-Encoding.

Rule 1: what came over gRPC is packed here, where the destination is to have it packed; nothing else is.
Rule 2: a connection is kept; one that the other side has closed meanwhile is opened anew, at once and once.
Rule 3: redirects are not followed. It does not know what waits.
"""

from __future__ import annotations

import contextlib
import http.client
import ssl
import zlib
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlsplit

from spanfuse_processor.config_forward import Compression, Destination
from spanfuse_processor.forwarding.answer import Answer, of_http, of_receipt, unreached
from spanfuse_processor.parcel import Parcel

PATH: Final = "/v1/traces"
PROTOBUF: Final = "application/x-protobuf"
MOST: Final = 4 * 1024 * 1024
"""Bytes of an answer that are read."""
_GZIP: Final = 31  # window bits, as zlib wants them
_FAST: Final = 1


class OverHttp:
    """A connection to one destination, opened when it is needed.

    `wall` is the time of day in seconds, for a destination that says until when to wait.

    Raises:
        OSError: the file of authorities cannot be read.
    """

    def __init__(self, destination: Destination, wall: Callable[[], float]) -> None:
        parts = urlsplit(destination.endpoint)
        base = parts.path.rstrip("/")
        self._path = base if base.endswith(PATH) else f"{base}{PATH}"
        self._headers = {"user-agent": "spanfuse", **destination.headers}
        self._packs = destination.compression is Compression.GZIP
        self._wall = wall
        self._connection = _connection(parts.scheme, parts.hostname or "", parts.port, destination.ca_file)

    def send(self, parcel: Parcel, timeout: float) -> Answer:
        """As `Sender`."""
        body, headers = self._packed(parcel)
        for fresh in (self._connection.sock is None, True):
            try:
                return self._post(body, headers, timeout)
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                if fresh or isinstance(error, TimeoutError):
                    return unreached(str(error) or type(error).__name__)
        raise AssertionError("the second connection is fresh")

    def close(self) -> None:
        """Hangs up."""
        self._connection.close()

    def _post(self, body: bytes, headers: Mapping[str, str], timeout: float) -> Answer:
        connection = self._connection
        connection.timeout = timeout
        if connection.sock is None:
            connection.connect()
        connection.sock.settimeout(timeout)
        with contextlib.suppress(ConnectionError):  # it may have answered before it had read all
            connection.request("POST", self._path, body, headers)
        with connection.getresponse() as answer:
            said = answer.read(MOST)
            if not answer.isclosed():  # longer than anybody needs: the rest is not waited for
                connection.close()
            if 200 <= answer.status < 300:
                return of_receipt(said, answer.getheader("content-type", ""))
            return of_http(answer.status, answer.getheader("retry-after", ""), self._wall())

    def _packed(self, parcel: Parcel) -> tuple[bytes, Mapping[str, str]]:
        body, encoding = parcel.body, parcel.encoding
        if self._packs and not parcel.content_type:
            packer = zlib.compressobj(_FAST, wbits=_GZIP)
            body, encoding = packer.compress(body) + packer.flush(), "gzip"
        named = {"content-encoding": encoding} if encoding else {}
        return body, {**self._headers, "content-type": parcel.content_type or PROTOBUF, **named}


def _connection(scheme: str, host: str, port: int | None, ca_file: str) -> http.client.HTTPConnection:
    if scheme == "http":
        return http.client.HTTPConnection(host, port)
    context = ssl.create_default_context(cafile=ca_file or None)
    return http.client.HTTPSConnection(host, port, context=context)
