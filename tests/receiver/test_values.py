"""Attributes decode what is asked for, tolerate what cannot be read, and behave as a mapping."""

from __future__ import annotations

import math

import pytest
from tests.receiver.builders import deep, field, value

from spanfuse_processor.receiver.decoded import MAX_DEPTH
from spanfuse_processor.receiver.spans_pb2 import Span
from spanfuse_processor.receiver.values import Attributes, plain, read_all


def attributes(**values: object) -> Attributes:
    """Attributes of a parsed span with these values."""
    span = Span()
    for key, each in values.items():
        span.attributes[key] = value(each).SerializeToString()
    return Attributes(Span.FromString(span.SerializeToString()).attributes)


def raw(**values: bytes) -> Attributes:
    """The same from AnyValues that are given as bytes."""
    return Attributes(Span(attributes=values).attributes)


@pytest.mark.parametrize(
    "each",
    ["", "a", "x" * 126, "x" * 127, "x" * 128, "x" * 129, "x" * 20_000, "é😀", "é" * 64]
    + [0, 1, 127, 128, 255, 16_383, 16_384, 2**31, 2**63 - 1, -1, -(2**63)]
    + [0.0, -1.5, 1e300, math.inf, True, False, b"", b"\x00\xff"]
    + [[], ["a", 1, [2.5, None]], {}, {"a": {"b": [1]}, "c": "d"}],
    ids=lambda each: repr(each)[:20],
)
def test_a_value_comes_back_as_it_was_sent(each: object) -> None:
    found = attributes(key=each).get("key")

    assert found == each
    assert type(found) is type(each)


def test_nan_comes_back() -> None:
    assert math.isnan(float(str(attributes(key=math.nan).get("key"))))


def test_what_is_absent_is_the_default() -> None:
    assert attributes(key=1).get("other") is None
    assert attributes(key=1).get("other", "x") == "x"


def test_an_empty_value_is_absent() -> None:
    given = attributes(empty=None, full=1)

    assert given.get("empty", "x") == "x"
    assert "empty" not in given
    assert dict(given) == {"full": 1}


@pytest.mark.parametrize(
    "each", [b"\xff", b"\x0a", b"\x0a\x05ab", b"\x18", b"\x18\x80", b"\x2a\x03\x0a\x05a"]
)
def test_a_value_that_cannot_be_read_is_absent(each: bytes) -> None:
    given = raw(bad=each, good=value("x").SerializeToString())

    assert given.get("bad", "default") == "default"
    assert dict(given) == {"good": "x"}


def test_text_that_is_not_utf8_gets_replacement_characters() -> None:
    short, long = field(1, b"ab\xff"), field(1, b"x" * 200 + b"\xc3")

    assert raw(key=short).get("key") == "ab\ufffd"
    assert raw(key=long).get("key") == "x" * 200 + "\ufffd"


def test_a_key_that_is_not_utf8_is_left_out() -> None:
    wire = Span(attributes={"XX": b"\x18\x01", "good": b"\x18\x02"}).SerializeToString()

    given = Attributes(Span.FromString(wire.replace(b"XX", b"\xff\xc3")).attributes)

    assert dict(given) == {"good": 2}
    assert given.get("good") == 2


def test_attributes_are_a_mapping() -> None:
    given = attributes(a=1, b="two")

    assert set(given) == {"a", "b"}
    assert len(given) == 2
    assert given["a"] == 1
    assert ("a" in given, "c" in given, 1 in given) == (True, False, False)
    assert given == {"a": 1, "b": "two"}
    assert sorted(given.items()) == [("a", 1), ("b", "two")]
    assert "two" in repr(given)
    with pytest.raises(KeyError):
        given["c"]


def test_nesting_is_read_to_its_bound_and_no_deeper() -> None:
    def innermost(levels: int) -> object:
        found = plain(deep(levels))
        while isinstance(found, list):
            (found,) = found
        return found

    assert innermost(MAX_DEPTH) == "bottom"
    assert innermost(MAX_DEPTH + 1) is None
    assert innermost(5000) is None


def test_a_map_that_repeats_a_key_keeps_the_last() -> None:
    entries = [field(1, field(1, b"k") + field(2, value(each).SerializeToString())) for each in (1, 2)]

    assert plain(field(6, b"".join(entries))) == {"k": 2}


def test_read_all_gives_a_dict_that_holds_nothing_of_the_batch() -> None:
    found = read_all({"a": value("x").SerializeToString(), "b": b""})

    assert type(found) is dict
    assert found == {"a": "x"}
