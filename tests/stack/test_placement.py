"""A Collector in front and beside, for real: stops come through, and small batches cost little."""

from __future__ import annotations

import statistics

import pytest
from tests.stack.placement import PLACES, measure, table


def test_a_stop_comes_from_every_place_and_soonest_with_batches_as_they_are_set_here(
    capsys: pytest.CaptureFixture[str],
) -> None:
    figures = measure(rounds=10)
    with capsys.disabled():
        print("\n" + table(figures))

    middle = {name: statistics.median(seconds) for name, seconds in figures.items()}
    slow = middle.pop("in front, the batch processor's defaults")
    assert set(figures) == set(PLACES)
    assert max(middle.values()) < slow
