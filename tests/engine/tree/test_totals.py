"""The sums: what is added can be taken back."""

from __future__ import annotations

from dataclasses import astuple

import pytest

from spanfuse_processor.engine.nouns import Usage
from spanfuse_processor.engine.tree.totals import Totals

USAGE = Usage(10, 5, cached_tokens=3, cache_write_tokens=2)


@pytest.mark.parametrize("cost", [None, 7])
def test_what_was_added_can_be_taken_back(cost: int | None) -> None:
    totals = Totals()

    totals.add(USAGE, cost)
    totals.take(USAGE, cost)

    assert astuple(totals) == astuple(Totals())


def test_a_price_that_comes_later_makes_an_unpriced_call_a_paid_one() -> None:
    totals = Totals()
    totals.add(USAGE, None)

    totals.settle(7)

    assert (totals.unpriced, totals.cost) == (0, 7)


def test_the_sums_of_two_runs_are_the_sums_of_both() -> None:
    one, other = Totals(), Totals(calls=2)
    one.add(USAGE, 7)
    other.add(USAGE, None)

    one.unite(other)

    assert astuple(one) == (2, 20, 10, 6, 4, 7, 1)
