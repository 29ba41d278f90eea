"""OTLP checklist, section "JSON": ids, enums, keys, numbers, defaults, special values; over real sockets."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from tests.receiver.builders import START, TRACE, batch, json_request, json_span, request, span, span_id
from tests.receiver.serving import JSON, PROTOBUF, Running

from spanfuse_processor.engine.events import RawSpan

UNKNOWN = {"newField": 1, "resource_spans": [], "other": {"deep": [None]}}


def taken(receiver: Running, sent: object) -> RawSpan:
    """The span that becomes of one OTLP/JSON span, which must be taken without a complaint."""
    answer = receiver.post(json_request(sent), JSON)
    assert (answer.status, answer.body) == (200, b"{}")
    (found,) = receiver.taker.spans
    return found


def attribute(receiver: Running, value: object) -> object:
    """What is read of one attribute's value."""
    return taken(receiver, json_span(attributes=[{"key": "k", "value": value}])).attributes.get("k")


def test_json_and_protobuf_give_the_same_span(receiver: Running) -> None:
    receiver.post(batch(1), PROTOBUF)
    attributes = [
        {"key": "a", "value": {"stringValue": "text"}},
        {"key": "n", "value": {"intValue": "0"}},
    ]
    resource = [{"key": "service.name", "value": {"stringValue": "tests"}}]

    receiver.post(json_request(json_span(1, kind=3, attributes=attributes), attributes=resource), JSON)

    in_protobuf, in_json = receiver.taker.spans
    assert in_json == in_protobuf


@pytest.mark.parametrize("write", [str.lower, str.upper, str.title])
def test_trace_id_span_id_and_parent_span_id_are_hexadecimal_in_either_case(
    receiver: Running, write: Callable[[str], str]
) -> None:
    found = taken(
        receiver,
        json_span(traceId=write("ab" * 16), spanId=write("cd" * 8), parentSpanId=write("ef" * 8)),
    )

    assert (found.trace_id, found.span_id) == (b"\xab" * 16, b"\xcd" * 8)
    assert found.parent_span_id == b"\xef" * 8


@pytest.mark.parametrize("write", [str.lower, str.upper, str.title])
def test_ids_in_links_are_hexadecimal_in_either_case(receiver: Running, write: Callable[[str], str]) -> None:
    link = {"traceId": write("ef" * 16), "spanId": write("0a" * 8)}

    assert taken(receiver, json_span(links=[link])).links == ((b"\xef" * 16, b"\x0a" * 8),)


def test_ids_in_base64_are_rejected_and_not_taken_for_something_else(receiver: Running) -> None:
    answer = receiver.post(json_request(json_span(traceId="AQIDBAUGBwgJCgsMDQ4PEA=="), json_span(2)), JSON)

    assert json.loads(answer.body)["partialSuccess"]["rejectedSpans"] == "1"
    assert receiver.taker.names == ["span 2"]


@pytest.mark.parametrize("code", [0, 1, 2])
def test_enums_are_integers(receiver: Running, code: int) -> None:
    assert taken(receiver, json_span(kind=3, status={"code": code})).status == code


def test_keys_in_snake_case_are_unknown(receiver: Running) -> None:
    found = taken(receiver, json_span(parent_span_id="ab" * 8, dropped_attributes_count=3))

    assert (found.parent_span_id, found.dropped_attributes) == (b"", 0)


def test_unknown_keys_are_ignored_wherever_they_stand(receiver: Running) -> None:
    value = {"stringValue": "v", "futureValue": 1}
    sent = json_span(
        1,
        attributes=[{"key": "k", "value": value, **UNKNOWN}, {"key": "new", "value": {"futureValue": 1}}],
        status={"code": 2, **UNKNOWN},
        links=[{"traceId": "07" * 16, "spanId": "08" * 8, **UNKNOWN}],
        **UNKNOWN,
    )
    document = json.loads(json_request(sent, **UNKNOWN))
    group = document["resourceSpans"][0]
    for holder in (document, group, group["scopeSpans"][0], group["scopeSpans"][0]["scope"]):
        holder.update({"newField": {"deep": 1}, "schema_url": "x"})

    answer = receiver.post(json.dumps(document).encode(), JSON)

    (found,) = receiver.taker.spans
    assert answer.body == b"{}"
    assert (found.name, found.scope, found.status) == ("span 1", "tests", 2)
    assert found.attributes == {"k": "v"}
    assert found.links == ((b"\x07" * 16, b"\x08" * 8),)


@pytest.mark.parametrize("number", [0, -42, 2**53 + 1, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("write", [str, int])
def test_a_64_bit_integer_is_text_or_a_number(
    receiver: Running, number: int, write: Callable[[int], object]
) -> None:
    assert attribute(receiver, {"intValue": write(number)}) == number


@pytest.mark.parametrize("write", [str, int])
def test_a_time_is_text_or_a_number(receiver: Running, write: Callable[[int], object]) -> None:
    found = taken(receiver, json_span(startTimeUnixNano=write(START), endTimeUnixNano=write(START + 9)))

    assert (found.start_ns, found.end_ns) == (START, START + 9)


def test_a_64_bit_integer_of_an_answer_is_text(receiver: Running) -> None:
    answer = receiver.post(json_request(json_span(1), json_span(2, traceId="")), JSON)

    partial = json.loads(answer.body)["partialSuccess"]
    assert partial["rejectedSpans"] == "1"
    assert partial["errorMessage"].startswith("1 of 2 spans rejected")
    assert receiver.taker.names == ["span 1"]


def test_a_warning_has_no_rejected_spans(receiver: Running) -> None:
    answer = receiver.post(json_request(json_span(endTimeUnixNano="1")), JSON)

    partial = json.loads(answer.body)["partialSuccess"]
    assert partial["rejectedSpans"] == "0"
    assert partial["errorMessage"].startswith("1 of 1 spans end before they start")


def test_an_absent_kind_is_unspecified_and_loses_nothing(receiver: Running) -> None:
    sent = json_span(1)

    assert "kind" not in sent
    assert taken(receiver, sent).name == "span 1"


def test_missing_fields_take_the_defaults_of_proto3(receiver: Running) -> None:
    found = taken(receiver, {"traceId": TRACE.hex(), "spanId": "01" * 8})

    assert (found.name, found.parent_span_id, found.status, found.links) == ("", b"", 0, ())
    assert (found.start_ns, found.end_ns, dict(found.attributes)) == (0, 0, {})


def test_null_is_the_same_as_missing(receiver: Running) -> None:
    keys = ("parentSpanId", "name", "kind", "startTimeUnixNano", "attributes", "links", "status", "flags")

    found = taken(receiver, {"traceId": TRACE.hex(), "spanId": span_id(1).hex(), **dict.fromkeys(keys)})

    assert (found.name, found.parent_span_id, found.status, found.start_ns) == ("", b"", 0, 0)


@pytest.mark.parametrize(("written", "read"), [("AP8=", b"\x00\xff"), ("AP8", b"\x00\xff"), ("", b"")])
def test_bytes_value_stays_base64(receiver: Running, written: str, read: bytes) -> None:
    assert attribute(receiver, {"bytesValue": written}) == read


@pytest.mark.parametrize("written", ["NaN", "Infinity", "-Infinity"])
def test_nan_and_infinity_are_text(receiver: Running, written: str) -> None:
    found = attribute(receiver, {"doubleValue": written})

    assert isinstance(found, float)
    assert str(found) == str(float(written))


def test_lists_and_maps_are_read_by_the_same_rules(receiver: Running) -> None:
    inner = {"key": "n", "value": {"intValue": "7"}}
    values = [{"kvlistValue": {"values": [inner]}}, {"bytesValue": "AP8="}, {"doubleValue": "-Infinity"}]

    found = attribute(receiver, {"arrayValue": {"values": values}})

    assert found == [{"n": 7}, b"\x00\xff", float("-inf")]


def test_the_same_bad_span_is_rejected_for_the_same_reason_in_both_encodings(receiver: Running) -> None:
    in_json = receiver.post(json_request(json_span(traceId="")), JSON)
    in_protobuf = receiver.post(request(span(1, trace_id=b"")).SerializeToString(), PROTOBUF)

    reason = json.loads(in_json.body)["partialSuccess"]["errorMessage"]
    assert reason.encode() in in_protobuf.body
