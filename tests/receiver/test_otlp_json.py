"""OTLP/JSON requests, and lines of the Collector's file exporter, become plain spans."""

from __future__ import annotations

import json

import pytest
from tests.receiver.builders import START, TRACE, json_request, json_span, span_id

from spanfuse_processor.receiver.decoded import SLICE, Undecodable
from spanfuse_processor.receiver.otlp_json import decode_json, raw_spans_from_json


def test_every_field_of_a_span_is_read() -> None:
    sent = json_span(
        1,
        parentSpanId=span_id(9).hex(),
        attributes=[{"key": "k", "value": {"stringValue": "v"}}],
        status={"code": 2, "message": "it broke"},
        links=[{"traceId": "07" * 16, "spanId": "08" * 8}, {"traceId": "07"}, "nonsense"],
        droppedAttributesCount=4,
    )

    (found,) = raw_spans_from_json(
        json_request(sent, attributes=[{"key": "r", "value": {"intValue": 1}}])
    ).spans

    assert (found.trace_id, found.span_id, found.parent_span_id) == (TRACE, span_id(1), span_id(9))
    assert (found.name, found.scope) == ("span 1", "tests")
    assert (found.start_ns, found.end_ns) == (START + 1, START + 1_000_001)
    assert (found.status, found.status_message) == (2, "it broke")
    assert found.links == ((b"\x07" * 16, b"\x08" * 8),)
    assert found.dropped_attributes == 4
    assert found.attributes == {"k": "v"}
    assert found.resource == {"r": 1}


def test_spans_of_one_resource_share_its_dict() -> None:
    first, second = raw_spans_from_json(json_request(json_span(1), json_span(2))).spans

    assert first.resource is second.resource


@pytest.mark.parametrize(
    ("code", "status"),
    [(None, 0), (1, 1), ("2", 2), ("STATUS_CODE_ERROR", 2), ("STATUS_CODE_OK", 1), ("nonsense", 0), ([], 0)],
)
def test_a_status_is_a_number_and_its_name_is_tolerated(code: object, status: int) -> None:
    (found,) = raw_spans_from_json(json_request(json_span(status={"code": code}))).spans

    assert found.status == status


@pytest.mark.parametrize(
    "bad",
    [
        "nonsense",
        None,
        {},
        json_span(traceId="xx" * 16),
        json_span(traceId=TRACE.hex() * 2),
        json_span(spanId=None),
        json_span(startTimeUnixNano="soon"),
        json_span(endTimeUnixNano=-1),
    ],
    ids=lambda bad: str(bad)[:40],
)
def test_a_bad_span_is_rejected_alone(bad: object) -> None:
    found = raw_spans_from_json(json_request(json_span(1), bad, json_span(3)))

    assert [each.name for each in found.spans] == ["span 1", "span 3"]
    assert found.rejected == 1
    assert found.message


def test_a_misshapen_resource_or_scope_is_rejected_alone() -> None:
    sound = json.loads(json_request(json_span(1)))["resourceSpans"][0]
    groups = [5, {"scopeSpans": 5}, {"scopeSpans": [5, {"spans": 5}, *sound["scopeSpans"]]}, {}, sound]

    found = raw_spans_from_json(json.dumps({"resourceSpans": groups}).encode())

    assert len(found.spans) == 2
    assert found.rejected == 4


@pytest.mark.parametrize("line", [b"{}", b'{"resourceSpans":null}', b'{"resourceSpans":[]}', b' {"new":1} '])
def test_a_request_without_spans_is_empty(line: bytes) -> None:
    assert len(raw_spans_from_json(line)) == 0


@pytest.mark.parametrize(
    "line", [b"", b"[]", b"5", b"{", b'{"resourceSpans":{}}', b"[" * 100_000, b'{"a":' * 5000, b"\x80"]
)
def test_what_is_no_request_is_undecodable_at_once(line: bytes) -> None:
    with pytest.raises(Undecodable):
        decode_json(line)


def test_half_of_a_surrogate_pair_costs_one_character() -> None:
    """JavaScript cuts text between the halves of a pair and writes the half as an escape."""
    data = json_request(json_span(1), json_span(2, name="NAME"))

    found = raw_spans_from_json(data.replace(b"NAME", rb"\ud83d\ude00 cut \ud83d"))

    assert [each.name for each in found.spans] == ["span 1", "\U0001f600 cut \ufffd"]
    assert found.spans[1].name.encode()


def test_a_byte_that_is_not_utf8_costs_one_character() -> None:
    data = json_request(json_span(1, name="NAME"))

    assert raw_spans_from_json(data.replace(b"NAME", b"a\xffb")).spans[0].name == "a\ufffdb"


def test_a_bare_nan_as_python_writes_it_is_read() -> None:
    attribute = {"key": "score", "value": {"doubleValue": float("nan")}}

    (found,) = raw_spans_from_json(json_request(json_span(attributes=[attribute]))).spans

    assert str(found.attributes.get("score")) == "nan"


def test_slices_are_of_bounded_size() -> None:
    data = json_request(*(json_span(each + 1) for each in range(SLICE + 1)))

    assert [len(each) for each in decode_json(data)] == [SLICE, 1]
