"""OTLP/JSON to plain spans, without protobuf in between.

Rule 1: keys are lowerCamelCase, ids hexadecimal, unknown keys ignored. Rule 2: what is misshapen costs
only itself: a span, a scope or a resource is refused alone. Rule 3: text that strict JSON refuses (a bare
NaN, half of a surrogate pair, a byte that is not UTF-8) is read leniently before it is given up.
This file does not know the transport.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import orjson

from spanfuse_processor.engine.events import RawSpan
from spanfuse_processor.receiver.decoded import (
    Decoded,
    Undecodable,
    in_slices,
    names_a_trace,
    parent_or_none,
    whole,
)
from spanfuse_processor.receiver.json_values import attributes, identifier, integer, text, unsigned

STATUS_NAMES = {"STATUS_CODE_OK": 1, "STATUS_CODE_ERROR": 2}
"""Names that some senders write where the specification wants the number."""


def raw_spans_from_json(data: bytes) -> Decoded:
    """All spans of one export request or of one line of a file exporter; raises Undecodable."""
    return whole(decode_json(data))


def decode_json(data: bytes) -> Iterator[Decoded]:
    """The spans of a request in slices, made as they are asked for; raises Undecodable at once."""
    resources = _entries(load(data), "resourceSpans")
    return in_slices(_of_resources(resources))


def count_json_spans(data: bytes) -> int:
    """How many spans a request has; 0 where it is none."""
    try:
        resources = _entries(load(data), "resourceSpans")
        scopes = [scope for each in resources for scope in _entries(each, "scopeSpans")]
        return sum(len(_entries(each, "spans")) for each in scopes)
    except Undecodable:
        return 0


def load(data: bytes) -> object:
    """A JSON document, read leniently where strict reading fails; raises Undecodable."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        return _load_leniently(data, str(error))


def _load_leniently(data: bytes, reason: str) -> object:
    try:
        return _without_surrogates(json.loads(data.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        raise Undecodable(f"not JSON: {reason}") from None


def _without_surrogates(value: object) -> object:
    """The same document with U+FFFD for halves of surrogate pairs, which no digest could encode."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_surrogates(each) for each in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(each) for key, each in value.items()}
    return value


def _entries(holder: object, key: str) -> list[object]:
    """The list under `key`, empty when absent; Undecodable when the shapes are wrong."""
    if not isinstance(holder, dict):
        raise Undecodable(f"the holder of {key} is not an object")
    entries = holder.get(key)
    if entries is None:
        return []
    if not isinstance(entries, list):
        raise Undecodable(f"{key} is not a list")
    return entries


def _of_resources(resources: list[object]) -> Iterator[RawSpan | str]:
    for each in resources:
        yield from _shielded(_of_resource(each))


def _of_resource(holder: object) -> Iterator[RawSpan | str]:
    scopes = _entries(holder, "scopeSpans")
    resource = attributes(_member(holder, "resource", "attributes"))
    for each in scopes:
        yield from _shielded(_of_scope(each, resource))


def _of_scope(holder: object, resource: dict[str, object]) -> Iterator[RawSpan | str]:
    spans = _entries(holder, "spans")
    scope = text(_member(holder, "scope", "name"))
    for each in spans:
        yield _span(each, resource, scope)


def _shielded(outcomes: Iterator[RawSpan | str]) -> Iterator[RawSpan | str]:
    try:
        yield from outcomes
    except Undecodable as error:
        yield str(error)


def _span(span: object, resource: dict[str, object], scope: str) -> RawSpan | str:
    """The span as plain data, or why it is not one."""
    if not isinstance(span, dict):
        return "a span is not an object"
    try:
        return RawSpan(
            trace_id=identifier(span.get("traceId")),
            span_id=identifier(span.get("spanId")),
            parent_span_id=parent_or_none(identifier(span.get("parentSpanId"))),
            name=text(span.get("name")),
            start_ns=unsigned(span.get("startTimeUnixNano")),
            end_ns=unsigned(span.get("endTimeUnixNano")),
            attributes=attributes(span.get("attributes")),
            resource=resource,
            scope=scope,
            status=_status_code(_member(span, "status", "code")),
            status_message=text(_member(span, "status", "message")),
            links=_links(span.get("links")),
            dropped_attributes=integer(span.get("droppedAttributesCount")) or 0,
        )
    except ValueError as error:
        return str(error)


def _member(holder: object, name: str, key: str) -> object:
    inner = holder.get(name) if isinstance(holder, dict) else None
    return inner.get(key) if isinstance(inner, dict) else None


def _status_code(code: object) -> int:
    named = STATUS_NAMES.get(code) if isinstance(code, str) else None
    return named or integer(code) or 0


def _links(entries: object) -> tuple[tuple[bytes, bytes], ...]:
    links = [
        (identifier(entry.get("traceId")), identifier(entry.get("spanId")))
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
    ]
    return tuple(link for link in links if names_a_trace(link[0]))
