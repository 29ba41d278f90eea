"""OTLP over HTTP: protobuf and JSON at one path, told apart by Content-Type and answered in kind.

Rule 1: every refusal is a google.rpc.Status in the encoding of the request. Rule 2: a body is read and
decompressed with a limit. Rule 3: what has no place here (metrics, logs) is refused for good, not retried.
This file does not know the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from spanfuse_processor.parcel import Parcel
from spanfuse_processor.receiver import answers
from spanfuse_processor.receiver.answers import Reason, Receipt, Refused
from spanfuse_processor.receiver.compression import DECOMPRESSORS
from spanfuse_processor.receiver.decode import count_spans, decode
from spanfuse_processor.receiver.decoded import Undecodable
from spanfuse_processor.receiver.intake import Count, Decode, Intake
from spanfuse_processor.receiver.otlp_json import count_json_spans, decode_json
from spanfuse_processor.web import BodyTooLarge, Request, Response, Route

MAX_REQUEST: Final = 64 * 1024 * 1024
INLINE: Final = 64 * 1024  # bytes that are decompressed on the loop; more goes to a thread


@dataclass(frozen=True, slots=True)
class Encoding:
    """How requests of one Content-Type are read and answered."""

    content_type: str
    decode: Decode
    count: Count
    receipt: Callable[[Receipt], bytes]
    status: Callable[[Refused], bytes]


PROTOBUF: Final = Encoding(
    "application/x-protobuf", decode, count_spans, answers.receipt_bytes, answers.status_bytes
)
JSON: Final = Encoding(
    "application/json", decode_json, count_json_spans, answers.receipt_json, answers.status_json
)
ENCODINGS: Final = {each.content_type: each for each in (PROTOBUF, JSON)}
HEADERS: Final[dict[Reason, dict[str, str]]] = {
    answers.WRONG_METHOD: {"allow": "POST"},
    answers.NOBODY: {"www-authenticate": "Bearer"},
}


class HttpReceiver:
    """The OTLP paths over one intake."""

    def __init__(self, intake: Intake, max_request: int = MAX_REQUEST) -> None:
        self._intake = intake
        self._max_request = max_request

    def routes(self) -> list[Route]:
        """What the HTTP server should serve."""
        return [
            Route("*", "/v1/traces", self._traces),
            Route("*", "/v1/metrics", self._not_served),
            Route("*", "/v1/logs", self._not_served),
        ]

    async def _traces(self, request: Request) -> Response:
        try:
            self._admit(request)
            encoding = _encoding(request)
            packed = await self._packed(request)
            body = await self._unpacked(packed, request)
            parcel = Parcel(packed, _header(request, "content-type"), _header(request, "content-encoding"))
            take = self._intake.take
            receipt = await take(body, encoding.decode, parcel, encoding.count) if body else Receipt()
        except Refused as refused:
            return _refusal(refused, request)
        return Response(200, encoding.receipt(receipt), encoding.content_type)

    async def _not_served(self, request: Request) -> Response:
        message = f"{request.path} is not served: spanfuse takes traces only"
        return _refusal(Refused(answers.NOT_SERVED, message), request)

    def _admit(self, request: Request) -> None:
        if request.method != "POST":
            raise Refused(answers.WRONG_METHOD, f"{request.method} is not allowed, only POST")
        self._intake.admit(request.headers.get("authorization"))

    async def _packed(self, request: Request) -> bytes:
        """The body as it came."""
        if _header(request, "content-encoding").lower() not in DECOMPRESSORS:
            known = ", ".join(filter(None, DECOMPRESSORS))
            raise Refused(answers.WRONG_TYPE, f"Content-Encoding must be one of {known}")
        try:
            return await request.read(self._max_request)
        except BodyTooLarge:
            raise self._too_large() from None

    async def _unpacked(self, body: bytes, request: Request) -> bytes:
        decompress = DECOMPRESSORS[_header(request, "content-encoding").lower()]
        try:
            if len(body) <= INLINE:
                return decompress(body, self._max_request)
            return await asyncio.to_thread(decompress, body, self._max_request)
        except BodyTooLarge:
            raise self._too_large() from None
        except Undecodable as error:
            raise Refused(answers.BAD_DATA, str(error)) from error

    def _too_large(self) -> Refused:
        return Refused(answers.TOO_LARGE, f"a request has at most {self._max_request} bytes")


def _encoding(request: Request) -> Encoding:
    encoding = ENCODINGS.get(_media_type(request))
    if encoding is None:
        raise Refused(answers.WRONG_TYPE, f"Content-Type must be one of {', '.join(ENCODINGS)}")
    return encoding


def _header(request: Request, name: str) -> str:
    return request.headers.get(name, "").strip()


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _refusal(refused: Refused, request: Request) -> Response:
    encoding = ENCODINGS.get(_media_type(request), JSON)
    headers = HEADERS.get(refused.reason, {})
    if refused.retry_after:
        headers = {"retry-after": str(refused.retry_after)}
    return Response(refused.reason.http, encoding.status(refused), encoding.content_type, headers)
