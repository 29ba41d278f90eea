"""The experiments find what is there to be found, on series that are made for it."""

from __future__ import annotations

import pytest
from tests.accuracy.forecast.budgets import (
    AVERAGE,
    HIT,
    LINEAR_SHORT,
    NEAR,
    PAGE,
    PAGES,
    ROOMY,
    SHARES,
    STATIC,
    US_SHORT,
    outcomes,
)
from tests.accuracy.forecast.making import PERIOD, even
from tests.accuracy.forecast.runaways import SEEDS, runaways
from tests.accuracy.forecast.runs import AT, CAPS, PARTS, US, final_totals, steps_to_caps
from tests.accuracy.forecast.series import Spend, periods
from tests.accuracy.forecast.totals import totals


def test_periods_are_whole_and_have_enough_calls() -> None:
    found = list(periods([*even(2), Spend(2.5 * PERIOD, 5.0, 1.0)], PERIOD))

    assert [(each.start, len(each.spends), each.total) for each in found] == [
        (0.0, 360, 1_800.0),
        (PERIOD, 360, 1_800.0),
    ]


def test_an_even_spend_is_foreseen_by_everybody() -> None:
    found = [each for each in outcomes(even(2), PERIOD) if each.share in HIT]

    assert len(found) == 2 * len(HIT)
    for outcome in found:
        assert outcome.hit == pytest.approx(outcome.share, abs=0.003)
        assert {US_SHORT, LINEAR_SHORT, AVERAGE} <= outcome.errors.keys()
        assert max(outcome.errors.values()) < 0.01
        assert outcome.hit - outcome.fired[PAGE] == pytest.approx(0.15, abs=0.01)


def test_a_limit_with_room_is_not_paged_for() -> None:
    found = {each.share: each.fired.keys() for each in outcomes(even(2), PERIOD) if each.share not in HIT}

    assert found.keys() == {*NEAR, *ROOMY}
    assert not any({PAGE, PAGES} & found[share] for share in ROOMY)
    assert STATIC in found[1.25] and STATIC not in found[1.5]


def test_every_limit_has_one_outcome() -> None:
    found = list(outcomes(even(3), PERIOD))

    assert sorted(each.share for each in found) == sorted(SHARES * 3)


def test_a_runaway_is_caught_after_its_onset_and_before_its_end() -> None:
    found = list(runaways(even(4), PERIOD))

    assert len(found) == 4 * len(SEEDS)
    for each in found:
        assert each.onset < each.fired[PAGES] < each.hit
        assert not each.blind


def test_totals_of_an_even_spend_are_right() -> None:
    found = list(totals(even(12), PERIOD))

    assert {each.part for each in found} == {0.25, 0.5, 0.75}
    assert max(each.errors["spanfuse"] for each in found) < 0.01
    assert [each.held for each in found].count(None) == 9 * 3


def test_a_cap_on_a_line_is_foreseen_to_the_step() -> None:
    found = list(steps_to_caps([[10.0 + step for step in range(60)]]))

    assert len(found) == len(CAPS) * len(PARTS)
    assert max(each.errors[US] for each in found) <= 0.1
    assert all(each.held for each in found)


def test_totals_of_runs_are_asked_of_runs_that_go_on() -> None:
    found = list(final_totals([[1.0] * 10] * 25))

    assert {each.step for each in found} == {step for step in AT if step < 10}
    assert sum(each.held is not None for each in found) == 2 * 5
    assert all(each.error == 0.0 for each in found if each.error is not None)
