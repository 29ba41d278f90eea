"""The attributes of a span: short ones at once, long ones when asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest
from tests.receiver.builders import field, value

from spanfuse_processor.receiver.attributes import PER_NAME, SHORT, LazyAttributes, _Entries, attributes
from spanfuse_processor.receiver.spans_pb2 import KeyValue


def given(**values: object) -> Mapping[str, object]:
    """Attributes as they are read from what a sender sent."""
    return raw(**{key: value(each).SerializeToString() for key, each in values.items()})


def raw(**values: bytes) -> Mapping[str, object]:
    """The same from AnyValues that are given as bytes."""
    return attributes([entry(key, each) for key, each in values.items()])


def entry(key: str, each: bytes) -> bytes:
    """One attribute on the wire."""
    return KeyValue(key=key.encode(), value=each).SerializeToString()


@pytest.mark.parametrize(
    "each",
    ["", "a", "x" * 126, "x" * 127, "x" * 128, "x" * 129, "x" * 20_000, "é😀", "é" * 64]
    + [0, 1, 127, 128, 255, 16_383, 16_384, 2**31, 2**63 - 1, -1, -(2**63)]
    + [0.0, -1.5, 1e300, math.inf, True, False, b"", b"\x00\xff"]
    + [[], ["a", 1, [2.5, None]], {}, {"a": {"b": [1]}, "c": "d"}],
    ids=lambda each: repr(each)[:20],
)
def test_a_value_comes_back_as_it_was_sent(each: object) -> None:
    found = given(key=each).get("key")

    assert found == each
    assert type(found) is type(each)


def test_nan_comes_back() -> None:
    assert math.isnan(float(str(given(key=math.nan).get("key"))))


def test_what_is_absent_is_the_default() -> None:
    assert given(key=1).get("other") is None
    assert given(key=1).get("other", "x") == "x"


def test_an_empty_value_is_absent() -> None:
    found = given(empty=None, full=1)

    assert found.get("empty", "x") == "x"
    assert "empty" not in found
    assert dict(found) == {"full": 1}


@pytest.mark.parametrize(
    "each", [b"\xff", b"\x0a", b"\x0a\x05ab", b"\x18", b"\x18\x80", b"\x2a\x03\x0a\x05a"]
)
def test_a_value_that_cannot_be_read_is_absent(each: bytes) -> None:
    found = raw(bad=each, good=value("x").SerializeToString())

    assert found.get("bad", "default") == "default"
    assert dict(found) == {"good": "x"}


def test_text_that_is_not_utf8_gets_replacement_characters() -> None:
    short, long = field(1, b"ab\xff"), field(1, b"x" * 200 + b"\xc3")

    assert raw(key=short).get("key") == "ab\ufffd"
    assert raw(key=long).get("key") == "x" * 200 + "\ufffd"


def test_a_key_that_is_not_utf8_is_left_out() -> None:
    broken = entry("XX", b"\x18\x01").replace(b"XX", b"\xff\xc3")

    found = attributes([broken, entry("good", b"\x18\x02")])

    assert found == {"good": 2}


@pytest.mark.parametrize("broken", [b"", b"\x0a", b"\x0a\x7fk", b"\x0a\x01k", b"\x0a\x01k\x12", b"\xff\xff"])
def test_an_attribute_that_cannot_be_parsed_costs_itself_alone(broken: bytes) -> None:
    found = attributes([entry("before", b"\x18\x01"), broken, entry("after", b"\x18\x02")])

    assert (found.get("before"), found.get("after"), found.get("k")) == (1, 2, None)


def test_fields_in_another_order_are_read_by_a_parser() -> None:
    turned = field(2, b"\x18\x05") + field(1, b"key")

    assert attributes([turned]).get("key") == 5


@pytest.mark.parametrize("first", ["short", "x" * 500])
@pytest.mark.parametrize("last", ["brief", "y" * 500])
def test_an_attribute_that_comes_twice_has_its_last_value(first: str, last: str) -> None:
    both = [entry("key", value(each).SerializeToString()) for each in (first, last)]

    assert attributes(both).get("key") == last


def test_short_attributes_are_a_plain_dict() -> None:
    assert type(given(a=1, b="two", c=["stop"])) is dict


def test_long_attributes_are_a_mapping_all_the_same() -> None:
    long = "x" * SHORT
    found = given(a=1, b=long)

    assert isinstance(found, LazyAttributes)
    assert set(found) == {"a", "b"}
    assert len(found) == 2
    assert (found["a"], found["b"]) == (1, long)
    assert ("a" in found, "b" in found, "c" in found, 1 in found) == (True, True, False, False)
    assert found == {"a": 1, "b": long}
    assert long in repr(found)
    with pytest.raises(KeyError):
        found["c"]


def test_what_is_remembered_is_bounded() -> None:
    seen = _Entries()

    for number in range(2 * PER_NAME):
        assert seen[entry("id", value(f"call_{number}").SerializeToString())] == ("id", f"call_{number}")

    assert len(seen) == PER_NAME
