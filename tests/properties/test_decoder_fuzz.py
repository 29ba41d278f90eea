"""Decoders under attack: no bytes make them fail, and damage to one span never reaches another."""

from __future__ import annotations

import contextlib
import gzip
import json
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.receiver.builders import batch, json_request, json_span, request, span, value

from spanfuse_processor.engine.events import RawSpan
from spanfuse_processor.receiver.compression import DECOMPRESSORS
from spanfuse_processor.receiver.decode import decode
from spanfuse_processor.receiver.decoded import Decoded, Undecodable, whole
from spanfuse_processor.receiver.otlp_json import decode_json
from spanfuse_processor.receiver.values import plain
from spanfuse_processor.web import BodyTooLarge

SPANS = [span(each, {"text": "x" * 20, "n": each, "list": ["a", 1]}) for each in range(1, 6)]
PROTOBUF = request(*SPANS).SerializeToString()
JSON_SPANS = [
    json_span(each, attributes=[{"key": "n", "value": {"intValue": str(each)}}], status={"code": 2})
    for each in range(1, 6)
]
JSON = json_request(*JSON_SPANS)

fuzz = settings(max_examples=300, deadline=None)
junk_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
plain_values = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def as_bytes(document: object) -> bytes:
    """A document as JSON, NaN and Infinity included."""
    return json.dumps(document).encode()


@st.composite
def damaged(draw: st.DrawFn, sound: bytes) -> bytes:
    """The bytes with some of them changed, put in, taken out or cut off."""
    data = bytearray(sound)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        data[at : at + draw(st.integers(0, 8))] = draw(st.binary(max_size=8))
    return bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data)


def read(decoder: Callable[[bytes], Iterator[Decoded]], payload: bytes) -> Decoded:
    """Everything that can be read of a payload, every attribute looked at; empty when undecodable."""
    try:
        found = whole(decoder(payload))
    except Undecodable:
        return Decoded()
    for each in found.spans:
        assert len(each.trace_id) == 16 and any(each.trace_id)
        assert len(each.span_id) == 8 and any(each.span_id)
        assert len(each.parent_span_id) in {0, 8}
        assert each.end_ns >= each.start_ns
        assert len(each.attributes) == len(dict(each.attributes))
        str(each).encode()
    return found


def by_id(spans: list[RawSpan]) -> dict[bytes, RawSpan]:
    return {each.span_id: each for each in spans}


ORIGINAL = by_id(whole(decode(PROTOBUF)).spans)
JSON_ORIGINAL = by_id(whole(decode_json(JSON)).spans)


@fuzz
@given(st.binary(max_size=200))
def test_no_bytes_make_the_protobuf_decoder_fail(payload: bytes) -> None:
    read(decode, payload)


@fuzz
@given(damaged(PROTOBUF))
def test_no_damage_makes_the_protobuf_decoder_fail(payload: bytes) -> None:
    read(decode, payload)


@fuzz
@given(st.data(), st.integers(0, len(SPANS) - 1))
def test_damage_inside_one_span_never_reaches_another(data: st.DataObject, victim: int) -> None:
    body = SPANS[victim].SerializeToString()
    start = PROTOBUF.index(body)
    broken = data.draw(st.binary(min_size=len(body), max_size=len(body)) | st.just(b"\xff" * len(body)))
    at = data.draw(st.integers(0, len(body) - 1))
    partly = body[:at] + broken[at:]

    found = read(decode, PROTOBUF[:start] + partly + PROTOBUF[start + len(body) :])

    others = {key: each for key, each in ORIGINAL.items() if key != SPANS[victim].span_id}
    assert by_id([each for each in found.spans if each.span_id in others]).items() >= others.items()


@fuzz
@given(st.integers(0, len(PROTOBUF)))
def test_a_cut_loses_only_what_it_touches(end: int) -> None:
    before = [each for each in SPANS if PROTOBUF.index(each.SerializeToString()) + each.ByteSize() <= end]

    found = read(decode, PROTOBUF[:end])

    assert [each.span_id for each in found.spans] == [each.span_id for each in before]
    assert all(ORIGINAL[each.span_id].attributes == each.attributes for each in found.spans)


@fuzz
@given(damaged(batch(70)))
def test_damage_never_makes_more_spans_than_were_sent(payload: bytes) -> None:
    found = read(decode, payload)

    assert len(found.spans) <= len(payload) // 26  # two ids and their tags


@fuzz
@given(
    st.binary(max_size=200)
    | st.text(max_size=100).map(str.encode)
    | junk_json.map(json.dumps).map(str.encode)
)
def test_no_bytes_make_the_json_decoder_fail(payload: bytes) -> None:
    read(decode_json, payload)


@fuzz
@given(damaged(JSON))
def test_no_damage_makes_the_json_decoder_fail(payload: bytes) -> None:
    read(decode_json, payload)


@fuzz
@given(st.data(), st.integers(0, len(JSON_SPANS) - 1), junk_json)
def test_junk_inside_one_json_span_never_reaches_another(data: st.DataObject, victim: int, junk: Any) -> None:
    key = data.draw(st.sampled_from([*JSON_SPANS[victim], "links", "events"]))
    spans: list[Any] = [dict(each) for each in JSON_SPANS]
    spans[victim] = data.draw(st.just({**spans[victim], key: junk}) | st.just(junk))

    found = read(decode_json, json_request(*spans))

    others = {key: each for key, each in JSON_ORIGINAL.items() if int.from_bytes(key) != victim + 1}
    assert by_id([each for each in found.spans if each.span_id in others]).items() >= others.items()


@fuzz
@given(st.sampled_from(sorted(DECOMPRESSORS)), st.binary(max_size=100) | damaged(gzip.compress(PROTOBUF)))
def test_no_bytes_make_decompression_fail(encoding: str, body: bytes) -> None:
    with contextlib.suppress(Undecodable, BodyTooLarge):
        assert len(DECOMPRESSORS[encoding](body, 10_000)) <= 10_000


@fuzz
@given(plain_values)
def test_every_value_comes_back_as_it_was_sent(sent: object) -> None:
    found = plain(value(sent).SerializeToString())

    assert found == sent
    assert type(found) is type(sent)
