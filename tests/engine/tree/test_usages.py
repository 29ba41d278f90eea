"""Usages compared and clamped."""

from __future__ import annotations

from spanfuse_processor.engine.nouns import Usage
from spanfuse_processor.engine.tree.cells import MOST
from spanfuse_processor.engine.tree.usages import fitting, larger_of, same


def test_what_fits_is_left_as_it_is() -> None:
    usage = Usage(1, 2, 3, MOST)

    assert fitting(usage) is usage


def test_what_does_not_fit_is_clamped() -> None:
    assert fitting(Usage(-1, 2**32, 3, 2**70)) == Usage(0, MOST, 3, MOST)


def test_the_larger_is_taken_count_by_count() -> None:
    assert larger_of(Usage(1, 9, 0, 4, 2), Usage(5, 2, 3, 1, 1)) == Usage(5, 9, 3, 4, 2)


def test_reasoning_alone_makes_no_difference() -> None:
    assert same(Usage(1, 2, 3, 4, 5), Usage(1, 2, 3, 4, 6))
    assert not same(Usage(1, 2), Usage(1, 3))
