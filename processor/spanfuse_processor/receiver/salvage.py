"""What can be saved of a payload that does not parse as a whole.

Rule 1: the wire format is walked by hand, message by message, down to single spans; a span that parses is
kept, whatever is wrong beside it. Rule 2: where a length runs past the end the payload was cut: what lies
inside is walked up to the cut, and the span that is cut is lost. Rule 3: after a broken tag nothing is
guessed. Rule 4: the walk is bounded. This file does not know what a span means.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from google.protobuf.message import DecodeError

from spanfuse_processor.receiver.decoded import Undecodable
from spanfuse_processor.receiver.spans_pb2 import (
    ExportRequest,
    Resource,
    ResourceSpans,
    Scope,
    ScopeSpans,
    Span,
)

MAX_PIECES: Final = 100_000
"""Fields that one salvage looks at; the rest of a hostile payload is given up."""

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5  # the wire types that are in use
_FIXED_SIZES: Final = {_FIXED64: 8, _FIXED32: 4}

# The fields to walk into or to parse: by message, by field number.
_PARTS: Final[dict[type, dict[int, tuple[str, type]]]] = {
    ExportRequest: {1: ("resource_spans", ResourceSpans)},
    ResourceSpans: {1: ("resource", Resource), 2: ("scope_spans", ScopeSpans)},
    ScopeSpans: {1: ("scope", Scope), 2: ("spans", Span)},
}


class _Piece(NamedTuple):
    number: int
    data: bytes
    whole: bool  # False: the payload ends before the piece does


def salvage(payload: bytes) -> tuple[ExportRequest, int]:
    """A request with every span that can be read, and how many were lost (at least one).

    Raises Undecodable when no span can be read.
    """
    request = ExportRequest()
    lost = _Walk().fill(request, payload)
    if not any(scope.spans for each in request.resource_spans for scope in each.scope_spans):
        raise Undecodable("not an OTLP export request: no span in it can be read")
    return request, max(lost, 1)


class _Walk:
    """One salvage: how much of the payload may still be looked at."""

    def __init__(self) -> None:
        self._left = MAX_PIECES

    def fill(self, holder: Any, data: bytes) -> int:
        """Reads into an empty message what can be read; returns how many spans are lost."""
        parts = _PARTS[type(holder)]
        lost = 0
        for piece in self._pieces(data):
            name, kind = parts.get(piece.number, ("", None))
            if kind in _PARTS:
                lost += self.fill(getattr(holder, name).add(), piece.data)
            elif kind is Span:
                lost += not (piece.whole and _parses(holder.spans, piece.data))
            elif kind is not None and piece.whole:
                _merge(getattr(holder, name), piece.data)
        return lost

    def _pieces(self, data: bytes) -> Iterator[_Piece]:
        """The length-delimited fields of a message, up to its end or to the first broken tag."""
        at = 0
        while at < len(data) and self._left > 0:
            self._left -= 1
            tag, at = _varint(data, at)
            wire_type = tag & 7
            if wire_type == _LENGTH:
                size, at = _varint(data, at)
                yield _Piece(tag >> 3, data[at : at + size], at + size <= len(data))
                at += size
            elif wire_type == _VARINT:
                _, at = _varint(data, at)
            elif wire_type in _FIXED_SIZES:
                at += _FIXED_SIZES[wire_type]
            else:
                return


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The number that starts at `at`, and where it ends; a broken one reaches to the end of the data."""
    value = 0
    for index in range(at, min(at + 10, len(data))):
        value |= (data[index] & 0x7F) << 7 * (index - at)
        if data[index] < 0x80:
            return value, index + 1
    return 0, len(data)


def _parses(spans: Any, data: bytes) -> bool:
    """Adds the span, if it is one."""
    try:
        spans.append(Span.FromString(data))
    except DecodeError:
        return False
    return True


def _merge(part: Any, data: bytes) -> None:
    try:
        part.MergeFromString(data)
    except DecodeError:
        part.Clear()
