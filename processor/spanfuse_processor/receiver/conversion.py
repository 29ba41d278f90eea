"""OTLP/JSON to OTLP's own protobuf, for those who take nothing else; and any parcel as such.

Rule 1: nothing is lost: every field that OTLP has is read by its descriptor, also those that we have no use
for. Rule 2: what is misshapen is left out alone. Rule 3: it runs beside others, on a thread of its own, and
gives way to them now and then. It does not know who sends, nor what a span means.
"""

from __future__ import annotations

import base64
import contextlib
import time
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from spanfuse_processor.parcel import Parcel
from spanfuse_processor.receiver.compression import DECOMPRESSORS
from spanfuse_processor.receiver.json_values import integer
from spanfuse_processor.receiver.otlp_json import load
from spanfuse_processor.web import BodyTooLarge

DEEPEST: Final = 90
"""Messages inside each other; protobuf itself reads no more than 100."""
HEXADECIMAL: Final = frozenset({"trace_id", "span_id", "parent_span_id"})
"""The fields of bytes that OTLP/JSON does not write in base64."""
GIVE_WAY: Final = 16
"""Spans between two moments in which others may go first."""
A_MOMENT: Final = 0.000_05  # seconds

Convert = Callable[[Any], Any]
"""A value as JSON has it to one that a field takes; raises ValueError or TypeError."""


def unpacked(parcel: Parcel, limit: int) -> bytes:
    """The export request of a parcel as protobuf, without compression.

    Raises:
        ValueError: it is none, or longer than `limit` bytes.
    """
    try:
        body = DECOMPRESSORS[parcel.encoding.strip().lower()](parcel.body, limit)
    except BodyTooLarge:
        raise ValueError(f"more than {limit} bytes") from None
    if "json" not in parcel.content_type.lower():
        return body
    return request_of(body).SerializeToString()


def request_of(data: bytes) -> ExportTraceServiceRequest:
    """An OTLP/JSON export request as OTLP's message. Raises ValueError: it is no JSON object."""
    document = load(data)
    if not isinstance(document, dict):
        raise ValueError("no JSON object")
    request = ExportTraceServiceRequest()
    _fill(request, document, 0)
    return request


def _fill(message: Any, values: dict[str, Any], depth: int) -> None:
    fields = _fields(message.DESCRIPTOR)
    for key, value in values.items():
        field = fields.get(key)
        if field is None or value is None:
            continue
        name, is_list, convert = field
        if convert is None:
            _nest(message, name, value if is_list else [value], is_list, depth + 1)
            continue
        with contextlib.suppress(ValueError, TypeError):
            if is_list:
                getattr(message, name).extend([convert(each) for each in value])
            else:
                setattr(message, name, convert(value))


def _nest(message: Any, name: str, values: Any, is_list: bool, depth: int) -> None:
    if depth > DEEPEST or not isinstance(values, list):
        return
    place = getattr(message, name)
    for number, each in enumerate(values):
        if not isinstance(each, dict):
            continue
        inner = place.add() if is_list else place
        inner.SetInParent()
        _fill(inner, each, depth)
        if name == "spans" and number % GIVE_WAY == GIVE_WAY - 1:
            time.sleep(A_MOMENT)


@cache
def _fields(message: Descriptor) -> dict[str, tuple[str, bool, Convert | None]]:
    """By the name in JSON: the field's own, whether it is a list, how values are read (None: a message)."""
    return {each.json_name: (each.name, each.is_repeated, _convert(each)) for each in message.fields}


def _convert(field: FieldDescriptor) -> Convert | None:
    if field.message_type is not None:
        return None
    if field.enum_type is not None:
        names = {each.name: each.number for each in field.enum_type.values}
        return lambda value: names[value] if value in names else _whole(value)
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        if field.type == FieldDescriptor.TYPE_STRING:
            return _same
        return bytes.fromhex if field.name in HEXADECIMAL else _from_base64
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return _same
    return float if field.cpp_type == FieldDescriptor.CPPTYPE_DOUBLE else _whole


def _same(value: Any) -> Any:
    return value


def _whole(value: Any) -> int:
    number = integer(value)
    if number is None:
        raise ValueError(value)
    return number


def _from_base64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text.replace("+", "-").replace("/", "_") + "=" * (-len(text) % 4))
