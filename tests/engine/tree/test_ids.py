"""Ids: numbers for keys, packed."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.tree.ids import KEY, Ids

MANY = 5_000


def keys(count: int) -> list[bytes]:
    return [number.to_bytes(KEY, "big") for number in range(count)]


@pytest.mark.parametrize("count", [0, 1, 48, 49, 50, 97, 200, MANY])
def test_each_key_has_the_number_of_its_coming(count: int) -> None:
    ids = Ids(MANY)
    numbers = [ids.admit(key) for key in keys(count)]

    assert numbers == list(range(count)) == [ids.number(key) for key in keys(count)]
    assert list(ids.keys()) == keys(count)
    assert ids.count == count


heads = st.lists(st.sampled_from([0, 1]), min_size=8, max_size=8).map(bytes)


@pytest.mark.parametrize("count", [1, 95, 96, 97, 98, 500])
@pytest.mark.parametrize("other", [b"", b"short", bytes(7) + b"\1" * 5, bytes(8), bytes(20)])
def test_few_that_end_in_zeros_keep_their_numbers_when_they_are_many_or_another_comes(
    count: int, other: bytes
) -> None:
    some = [number.to_bytes(8, "big") + bytes(KEY - 8) for number in range(1, count + 1)]
    ids = Ids(MANY)

    assert [ids.admit(key) for key in some] == list(range(count))
    assert ids.number(other) is None
    assert ids.admit(other) == count
    assert list(ids.keys()) == [*some, other]
    assert [ids.number(key) for key in (*some, other)] == list(range(count + 1))


@given(st.lists(heads, unique=True, max_size=120))
def test_heads_that_read_like_the_end_of_one_and_the_beginning_of_another_are_told_apart(
    some: list[bytes],
) -> None:
    ids = Ids(MANY)
    for head in some:
        assert ids.number(head + bytes(KEY - 8)) is None
        ids.admit(head + bytes(KEY - 8))

    assert [ids.number(head + bytes(KEY - 8)) for head in some] == list(range(len(some)))


def test_few_spans_of_one_trace_cost_eight_bytes_each() -> None:
    ids = Ids(MANY)
    for number in range(96):
        ids.admit(number.to_bytes(8, "big") + bytes(KEY - 8))

    assert len(ids._heads) == 96 * 8


def test_a_key_that_never_came_has_none() -> None:
    ids = Ids(MANY)
    for key in keys(MANY)[::2]:
        ids.admit(key)

    assert [ids.number(key) for key in keys(MANY)[1::2]] == [None] * (MANY // 2)


@given(st.lists(st.binary(max_size=KEY + 2) | st.binary(min_size=KEY, max_size=KEY), unique=True))
def test_keys_of_any_length_are_told_apart(some: list[bytes]) -> None:
    ids = Ids(MANY)
    for key in some:
        assert ids.number(key) is None
        ids.admit(key)

    assert [ids.number(key) for key in some] == list(range(len(some)))
    assert list(ids.keys()) == some


@given(st.lists(st.lists(st.sampled_from([0, 1]), min_size=KEY, max_size=KEY).map(bytes), unique=True))
def test_keys_that_read_like_the_end_of_one_and_the_beginning_of_another_are_told_apart(
    some: list[bytes],
) -> None:
    ids = Ids(MANY)
    for key in some:
        assert ids.number(key) is None
        ids.admit(key)

    assert [ids.number(key) for key in some] == list(range(len(some)))


def test_a_span_costs_less_than_twenty_bytes() -> None:
    ids = Ids(MANY)
    for key in keys(MANY):
        ids.admit(key)

    buckets = ids._buckets
    assert buckets is not None
    assert sys.getsizeof(buckets) + sum(map(sys.getsizeof, buckets)) < 20 * MANY
