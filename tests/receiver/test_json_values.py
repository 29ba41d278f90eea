"""The scalars and attributes of OTLP/JSON, as proto3 JSON allows them and as senders write them."""

from __future__ import annotations

import math

import pytest

from spanfuse_processor.receiver.decoded import MAX_DEPTH
from spanfuse_processor.receiver.json_values import (
    any_value,
    attributes,
    identifier,
    integer,
    text,
    unsigned,
)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("0aFF", b"\x0a\xff"),
        ("", b""),
        (None, b""),
        (5, b""),
        ("abc", b""),
        ("zz", b""),
        ("é" * 2, b""),
    ],
)
def test_an_id_is_hexadecimal_or_empty(given: object, read: bytes) -> None:
    assert identifier(given) == read


@pytest.mark.parametrize(("given", "read"), [("7", 7), (7, 7), (7.0, 7), ("-7", -7), (str(2**63), 2**63)])
def test_an_integer_is_a_number_or_text(given: object, read: int) -> None:
    assert integer(given) == read


@pytest.mark.parametrize("given", [None, True, "", "x", 7.5, math.nan, math.inf, [], {}, "9" * 5000])
def test_what_is_no_integer_is_none(given: object) -> None:
    assert integer(given) is None


@pytest.mark.parametrize("given", ["x", -1, "-1", 2**64, 1.5, [], True])
def test_a_time_that_cannot_be_one_is_an_error(given: object) -> None:
    with pytest.raises(ValueError, match="time"):
        unsigned(given)


def test_an_absent_time_is_zero() -> None:
    assert unsigned(None) == 0


def test_text_is_text_or_empty() -> None:
    assert (text("x"), text(None), text(5)) == ("x", "", "")


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"stringValue": "x"}, "x"),
        ({"stringValue": ""}, ""),
        ({"boolValue": False}, False),
        ({"intValue": "12"}, 12),
        ({"intValue": 12}, 12),
        ({"doubleValue": 1}, 1.0),
        ({"doubleValue": "2.5"}, 2.5),
        ({"doubleValue": "Infinity"}, math.inf),
        ({"bytesValue": "AP8="}, b"\x00\xff"),
        ({"bytesValue": "_-8"}, b"\xff\xef"),
        ({"bytesValue": ""}, b""),
        ({"arrayValue": {"values": [{"intValue": 1}, {}, {"stringValue": "x"}]}}, [1, None, "x"]),
        ({"arrayValue": {}}, []),
        ({"kvlistValue": {"values": [{"key": "k", "value": {"arrayValue": {}}}]}}, {"k": []}),
        ({"kvlistValue": {}}, {}),
        ({"stringValue": None, "intValue": 1}, 1),
    ],
    ids=str,
)
def test_a_value_is_read(given: object, read: object) -> None:
    found = any_value(given)

    assert found == read
    assert type(found) is type(read)


@pytest.mark.parametrize(
    "given",
    [
        None,
        5,
        {},
        {"string_value": "x"},
        {"stringValue": 5},
        {"boolValue": "true"},
        {"intValue": "x"},
        {"intValue": 2**63},
        {"doubleValue": "x"},
        {"doubleValue": True},
        {"doubleValue": 10**400},
        {"bytesValue": "*"},
        {"bytesValue": 5},
        {"bytesValue": "é"},
    ],
    ids=lambda given: str(given)[:30],
)
def test_a_value_that_cannot_be_read_is_none(given: object) -> None:
    assert any_value(given) is None


def test_attributes_without_key_or_value_are_left_out() -> None:
    entries = [{"key": "a", "value": {"intValue": 1}}, {"key": 5, "value": {"intValue": 1}}, {"key": "b"}, 7]

    assert attributes(entries) == {"a": 1}
    assert attributes("nonsense") == attributes(None) == {}


@pytest.mark.parametrize(("levels", "found"), [(MAX_DEPTH, "bottom"), (MAX_DEPTH + 1, None), (300, None)])
def test_nesting_is_read_to_its_bound_and_no_deeper(levels: int, found: object) -> None:
    value: object = {"stringValue": "bottom"}
    for _ in range(levels):
        value = {"arrayValue": {"values": [value]}}

    inner = any_value(value)
    while isinstance(inner, list):
        (inner,) = inner

    assert inner == found
