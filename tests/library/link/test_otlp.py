"""Spans as OTLP: read back with the schema's own classes."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from tests.library.examples import RESOURCE, span

from spanfuse.link.otlp import encode, read_rejected
from spanfuse_processor.engine.events import RawSpan


def request(*spans: RawSpan, **resource: object) -> ExportTraceServiceRequest:
    """What is sent for `spans`."""
    return ExportTraceServiceRequest.FromString(encode(spans, resource)[0])


def only_span(raw: RawSpan) -> Any:
    """The one span of a request."""
    return request(raw).resource_spans[0].scope_spans[0].spans[0]


def plain(value: Any) -> object:
    """An AnyValue as plain data."""
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [plain(each) for each in value.array_value.values]
    if kind == "kvlist_value":
        return {each.key: plain(each.value) for each in value.kvlist_value.values}
    return getattr(value, kind) if kind else None


def attributes(entries: Any) -> dict[str, object]:
    """Key-values as a dict."""
    return {each.key: plain(each.value) for each in entries}


def test_everything_that_a_span_says_is_on_the_wire() -> None:
    raw = span(
        "execute_tool search",
        parent_span_id=b"p" * 8,
        attributes={"gen_ai.tool.name": "search"},
        status=2,
        status_message="no",
        links=((b"l" * 16, b"m" * 8),),
        dropped_attributes=3,
    )

    sent = only_span(raw)

    assert (sent.trace_id, sent.span_id, sent.parent_span_id) == (raw.trace_id, raw.span_id, b"p" * 8)
    assert (sent.start_time_unix_nano, sent.end_time_unix_nano) == (raw.start_ns, raw.end_ns)
    assert (sent.name, sent.status.code, sent.status.message) == ("execute_tool search", 2, "no")
    assert [(link.trace_id, link.span_id) for link in sent.links] == [(b"l" * 16, b"m" * 8)]
    assert sent.dropped_attributes_count == 3
    assert attributes(sent.attributes) == {"gen_ai.tool.name": "search"}


@pytest.mark.parametrize(
    ("value", "sent"),
    [
        ("text", "text"),
        (True, True),
        (0, 0),
        (-(2**63), -(2**63)),
        (2**63, str(2**63)),
        (1.5, 1.5),
        (b"\xff", b"\xff"),
        (("stop", 1, None), ["stop", 1, None]),
        ([], []),
        ({"a": [1, {"b": False}]}, {"a": [1, {"b": False}]}),
        ({}, {}),
        (None, None),
        ("lone \ud800", "lone ?"),
        (math, str(math)),
    ],
)
def test_every_value_has_a_place(value: object, sent: object) -> None:
    assert attributes(only_span(span(attributes={"x": value})).attributes) == {"x": sent}


def test_nesting_without_end_is_sent_as_text() -> None:
    endless: list[object] = []
    endless.append(endless)

    assert only_span(span(attributes={"x": endless})).attributes[0].key == "x"


def test_spans_of_one_resource_and_scope_go_together_and_ours_fills_the_gaps() -> None:
    made = request(span(), span(), span(scope="other"), service="ignored", extra=1)

    assert len(made.resource_spans) == 2
    first = made.resource_spans[0]
    assert attributes(first.resource.attributes) == {"service": "ignored", "extra": 1, **RESOURCE}
    assert [len(each.spans) for each in first.scope_spans] == [2]
    assert made.resource_spans[1].scope_spans[0].scope.name == "other"


def test_a_span_without_a_resource_gets_ours() -> None:
    made = request(span(resource={}), span(resource={}), **{"service.name": "app"})

    assert attributes(made.resource_spans[0].resource.attributes) == {"service.name": "app"}
    assert len(made.resource_spans) == 1


def test_a_span_that_cannot_be_written_does_not_cost_the_others() -> None:
    broken: Any = "no bytes"

    payload, unwritten = encode([span("a"), span("b", trace_id=broken), span("c")], {})

    sent = ExportTraceServiceRequest.FromString(payload).resource_spans[0].scope_spans[0].spans
    assert [each.name for each in sent] == ["a", "c"]
    assert unwritten == 1


def test_the_answer_says_what_was_rejected() -> None:
    answer = ExportTraceServiceResponse()
    answer.partial_success.rejected_spans = 2

    assert read_rejected(b"") == 0
    assert read_rejected(answer.SerializeToString()) == 2


SCALARS = st.one_of(
    st.text(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), st.binary()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), VALUES, max_size=8))
def test_whatever_is_sent_is_read_back_equal(given: dict[str, object]) -> None:
    assert attributes(only_span(span(attributes=given)).attributes) == given
