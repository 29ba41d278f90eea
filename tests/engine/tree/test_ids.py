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
    ids = Ids()
    numbers = [ids.add(key) for key in keys(count)]

    assert numbers == list(range(count)) == [ids.get(key) for key in keys(count)]
    assert list(ids) == keys(count)
    assert len(ids) == count


def test_a_key_that_never_came_has_none() -> None:
    ids = Ids()
    for key in keys(MANY)[::2]:
        ids.add(key)

    assert [ids.get(key) for key in keys(MANY)[1::2]] == [None] * (MANY // 2)


@given(st.lists(st.binary(max_size=KEY + 2) | st.binary(min_size=KEY, max_size=KEY), unique=True))
def test_keys_of_any_length_are_told_apart(some: list[bytes]) -> None:
    ids = Ids()
    for key in some:
        assert ids.get(key) is None
        ids.add(key)

    assert [ids.get(key) for key in some] == list(range(len(some)))
    assert list(ids) == some


@given(st.lists(st.lists(st.sampled_from([0, 1]), min_size=KEY, max_size=KEY).map(bytes), unique=True))
def test_keys_that_read_like_the_end_of_one_and_the_beginning_of_another_are_told_apart(
    some: list[bytes],
) -> None:
    ids = Ids()
    for key in some:
        assert ids.get(key) is None
        ids.add(key)

    assert [ids.get(key) for key in some] == list(range(len(some)))


def test_a_span_costs_less_than_twenty_bytes() -> None:
    ids = Ids()
    for key in keys(MANY):
        ids.add(key)

    buckets = ids._buckets
    assert buckets is not None
    assert sys.getsizeof(buckets) + sum(map(sys.getsizeof, buckets)) < 20 * MANY
