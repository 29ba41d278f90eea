"""One text for one value, whatever the value and however large."""

from __future__ import annotations

import dataclasses
import enum
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.fingerprints.canonical import LONGEST, canonical, clipped, is_opaque, plain


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    y: float


class Record:
    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


class Hostile(dict[str, int]):
    def items(self) -> Any:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")


json_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": [1, 2]}, {"b": [1, 2], "a": 1}),
        ('{"a": 1}', {"a": 1}),
        ('  {"a":\n1}', {"a": 1}),
        ({"a": 1.0}, {"a": 1}),
        ('{"a": -0.0}', {"a": 0}),
        ('{"a": "caf\\u00e9"}', {"a": "caf\u00e9"}),
        ('"quoted"', "quoted"),
        ((1, 2), [1, 2]),
        ({1, 2, 3}, {3, 2, 1}),
        ({1: "a"}, {"1": "a"}),
        (Point(1, 2.0), {"x": 1, "y": 2}),
        (Record(x=1, _cache=7), {"x": 1}),
        (Colour.RED, "red"),
        ({"c": Colour.RED}, {"c": "red"}),
        (b"text", "text"),
    ],
)
def test_equal_data_gives_equal_text(one: object, other: object) -> None:
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"a": "1"}),
        ([1, 2], [2, 1]),
        ({"a": None}, {}),
        ("{not json", '{"a": 1}'),
        ({"a": True}, {"a": 1}),
        (Decimal("1.10"), Decimal("1.20")),
        (PurePosixPath("/a"), PurePosixPath("/b")),
        (ValueError("a"), ValueError("b")),
        (Point(1, 2), Point(1, 3)),
        ({"x": 10**5000}, {"x": 10**5000 + 1}),
    ],
)
def test_different_data_gives_different_text(one: object, other: object) -> None:
    assert canonical(one) != canonical(other)


@given(json_data)
def test_data_and_its_json_text_are_the_same(data: Any) -> None:
    import json

    if isinstance(data, dict | list):
        assert canonical(json.dumps(data)) == canonical(data)


@given(st.text() | st.binary() | json_data)
def test_no_value_raises(value: Any) -> None:
    assert isinstance(canonical(value), str)


def forever() -> Iterator[int]:
    yield 1


@pytest.mark.parametrize("value", [object(), threading.Lock(), forever(), lambda: None])
def test_what_shows_only_its_address_is_unknown(value: object) -> None:
    assert is_opaque(value)
    assert canonical(value) is None


def test_an_opaque_member_is_represented_by_its_type() -> None:
    assert canonical({"lock": object(), "n": 1}) == '{"lock":"object","n":1}'


def test_a_mapping_that_fails_when_it_is_read_does_no_harm() -> None:
    assert canonical({"a": Hostile(b=1)}) == '{"a":"Hostile"}'
    assert canonical(Hostile(b=1)) is not None


def test_half_of_a_surrogate_pair_does_no_harm() -> None:
    assert canonical({"a": "\ud800"}) is not None


def test_a_cycle_ends() -> None:
    loop: list[Any] = [1]
    loop.append(loop)

    assert canonical(loop) is not None


def deep() -> Any:
    value: Any = 0
    for _ in range(50_000):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        "x" * 20_000_000,
        {"rows": ["x" * 1_000] * 100_000},
        {"n": list(range(2_000_000))},
        {str(i): {str(j): j for j in range(50)} for i in range(5_000)},
        "[" * 1_000_000,
        b"x" * 20_000_000,
        deep(),
    ],
    ids=["text", "texts", "numbers", "maps", "brackets", "bytes", "deep"],
)
def test_the_work_is_bounded_for_any_size(value: object) -> None:
    start = time.perf_counter()
    text = canonical(value)
    took = time.perf_counter() - start

    assert text is not None
    assert len(text) <= 9 * LONGEST
    assert took < 0.25


def test_long_texts_of_different_length_or_ends_differ() -> None:
    long = "x" * (2 * LONGEST)

    assert clipped(long) != clipped(long + "x")
    assert clipped(long) != clipped(long[:-1] + "y")
    assert clipped("y" + long[1:]) != clipped(long)


def test_small_plain_data_is_not_copied() -> None:
    data = {"a": [1, "b", None, {"c": 1.5}]}

    assert plain(data) is data
