"""Rows in slices: whole, in order, each made in a bounded time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest

from spanfuse_processor.telemetry.exposition.slices import HEAD, LOOK_EVERY, MOST, STEP, slices, unpacked
from spanfuse_processor.telemetry.tally import Row, single


class Ticking:
    """A clock that goes on a little each time it is looked at."""

    def __init__(self, tick: float) -> None:
        self.now, self.tick = 0.0, tick

    def __call__(self) -> float:
        self.now += self.tick
        return self.now


def rows(count: int) -> Iterator[Row]:
    return (single("spanfuse_watchers", number) for number in range(count))


def opened(parts: Iterator[bytes]) -> list[list[Row]]:
    """The slices, each as long as it says."""
    found = []
    for part in parts:
        (length,) = HEAD.unpack(part[: HEAD.size])
        assert length == len(part) - HEAD.size
        found.append(unpacked(part[HEAD.size :]))
    return found


@pytest.mark.parametrize("count", [0, 1, MOST, MOST + 1, 3 * MOST])
def test_what_goes_in_comes_out_in_order(count: int) -> None:
    found = opened(slices(rows(count), Ticking(0.0)))

    assert [row for part in found for row in part] == list(rows(count))
    assert all(0 < len(part) <= MOST for part in found)


def test_a_slice_ends_when_its_time_is_up() -> None:
    found = opened(slices(rows(1_000), Ticking(STEP)))

    assert {len(part) for part in found[:-1]} == {LOOK_EVERY}


def test_rows_are_taken_only_as_far_as_they_are_asked_for() -> None:
    taken: list[float] = []

    def counted() -> Iterator[Row]:
        for row in rows(1_000):
            taken.append(row[2])
            yield row

    next(slices(counted(), Ticking(STEP)))

    assert len(taken) == LOOK_EVERY


def test_a_histogram_and_its_exemplars_travel() -> None:
    row: Row = ("spanfuse_span_lag_seconds", (), ((1, 2), 0.5), ((1, ("ab" * 16, 0.5, 1.0)),))

    (found,) = opened(islice(slices(iter([row])), 1))

    assert found == [row]


def test_what_goes_wrong_while_rows_are_made_comes_out() -> None:
    def broken() -> Iterator[Row]:
        yield from rows(1)
        raise LookupError("a figure")

    with pytest.raises(LookupError, match="a figure"):
        list(slices(broken()))
