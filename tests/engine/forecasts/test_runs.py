"""The forecaster of runs: steps to a cap, final totals, and what it forgets."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.forecast import RunForecast
from spanfuse_processor.engine.forecasts.runs import RunForecaster, steps_until

LEAST = 20  # runs of an agent


def going(costs: list[float], cap: float = 0.0) -> RunForecast | None:
    forecaster = RunForecaster()
    for cost in costs:
        forecaster.observe("run", "agent", cost)
    return forecaster.forecast("run", cap)


def finished(count: int, forecaster: RunForecaster | None = None) -> RunForecaster:
    """So many runs of ten steps that grow, each a little dearer than the last."""
    forecaster = forecaster or RunForecaster()
    for number in range(count):
        for step in range(10):
            forecaster.observe(f"run-{number}", "agent", 10.0 + step * (1 + number % 7))
        forecaster.finish(f"run-{number}", stopped=False)
    return forecaster


@pytest.mark.parametrize("growth", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("ahead", [1, 4, 20])
def test_costs_on_a_line_are_foreseen_to_the_step(growth: float, ahead: int) -> None:
    costs = [10.0 + growth * step for step in range(9 + ahead)]
    said = going(costs[:9], cap=sum(costs))

    assert said is not None and said.steps_mid == ahead
    assert said.steps_low is not None and said.steps_high is not None
    assert said.steps_low <= ahead <= said.steps_high


@given(st.floats(0.01, 1e9), st.floats(0.01, 1e6), st.floats(0.0, 1e4))
def test_steps_add_up_to_what_is_left(left: float, last: float, slope: float) -> None:
    steps = steps_until(left, last, slope)

    if steps is not None:
        assert steps * (last + 1.5 * slope) + slope * steps * steps / 2 == pytest.approx(left, rel=1e-6)


def test_a_context_that_no_longer_grows_has_no_slope() -> None:
    said = going([10.0, 20.0, 30.0] + [20.0] * 8, cap=320.0)

    assert said is not None and (said.steps_mid, said.steps_high) == (5, 5)


@pytest.mark.parametrize(
    ("costs", "cap", "expected"),
    [
        ([1.0, 1.0], 10.0, (None, None, None)),
        ([1.0, 1.0, 1.0], 0.0, (None, None, None)),
        ([0.0, 0.0, 0.0], 10.0, (None, None, None)),
        ([4.0, 4.0, 4.0], 10.0, (0, 0, 0)),
    ],
    ids=["too few steps", "no cap", "nothing is spent", "beyond the cap"],
)
def test_steps_are_silent_or_over(
    costs: list[float], cap: float, expected: tuple[int | None, int | None, int | None]
) -> None:
    said = going(costs, cap)

    assert said is not None and (said.steps_low, said.steps_mid, said.steps_high) == expected


def test_a_run_that_nobody_knows_has_no_forecast() -> None:
    assert RunForecaster().forecast("run", 10.0) is None


def test_totals_are_silent_before_twenty_runs_have_finished() -> None:
    forecaster = finished(LEAST - 1)
    for step in range(3):
        forecaster.observe("live", "agent", 10.0 + step)
    before = forecaster.forecast("live", 0.0)
    forecaster = finished(LEAST)
    for step in range(3):
        forecaster.observe("live", "agent", 10.0 + step)
    after = forecaster.forecast("live", 0.0)

    assert before is not None and (before.total_mid, before.finished) == (None, LEAST - 1)
    assert after is not None and after.total_low is not None and after.total_high is not None
    assert after.total_low <= 145.0 <= after.total_high


def test_totals_are_silent_where_too_few_runs_came() -> None:
    forecaster = finished(40)
    for _ in range(11):
        forecaster.observe("live", "agent", 10.0)

    assert (said := forecaster.forecast("live", 0.0)) is not None and said.total_mid is None


def test_other_agents_tell_nothing() -> None:
    forecaster = finished(40)
    for _ in range(4):
        forecaster.observe("live", "another", 10.0)

    assert (said := forecaster.forecast("live", 0.0)) is not None
    assert (said.total_mid, said.finished) == (None, 0)


def test_a_run_that_was_stopped_teaches_nothing() -> None:
    forecaster = finished(LEAST - 1)
    for _ in range(10):
        forecaster.observe("stopped", "agent", 10.0)
    forecaster.finish("stopped", stopped=True)
    for _ in range(4):
        forecaster.observe("live", "agent", 10.0)

    assert forecaster.forecast("stopped", 0.0) is None
    assert (said := forecaster.forecast("live", 0.0)) is not None and said.finished == LEAST - 1


def test_it_knows_how_often_it_was_right() -> None:
    forecaster = finished(60)
    for _ in range(4):
        forecaster.observe("live", "agent", 10.0)

    assert (said := forecaster.forecast("live", 0.0)) is not None
    assert said.coverage is not None and said.coverage > 0.8


def test_runs_and_agents_are_bounded_and_the_longest_unheard_of_go() -> None:
    forecaster = RunForecaster(runs=2, agents=2)
    for run in ("one", "two", "one", "three"):
        forecaster.observe(run, run, 1.0)

    assert forecaster.forecast("two", 0.0) is None
    assert forecaster.forecast("one", 0.0) is not None
    for run in ("a", "b", "c"):
        forecaster.observe(run, run, 1.0)
        forecaster.finish(run, stopped=False)
    assert list(forecaster.dump()["agents"]) == ["b", "c"]


@given(st.lists(st.floats(-10.0, 1e9), max_size=40), st.floats(0.0, 1e10))
def test_whatever_comes_nothing_is_infinite_or_out_of_order(costs: list[float], cap: float) -> None:
    forecaster = finished(25)
    for cost in costs:
        forecaster.observe("live", "agent", cost)
        said = forecaster.forecast("live", cap)
        assert said is not None
        assert all(math.isfinite(each) and each >= 0 for each in said if each is not None)
        if said.steps_low is not None and said.steps_mid is not None and said.steps_high is not None:
            assert said.steps_low <= said.steps_mid <= said.steps_high
        if said.total_low is not None and said.total_mid is not None and said.total_high is not None:
            assert said.spent <= said.total_low <= said.total_mid <= said.total_high


def test_what_was_dumped_goes_on_alike() -> None:
    forecaster = finished(30)
    other = RunForecaster()
    other.load(forecaster.dump())
    for each in (forecaster, other):
        for step in range(5):
            each.observe("live", "agent", 10.0 + step)

    assert other.forecast("live", 500.0) == forecaster.forecast("live", 500.0)
    assert other.dump() == forecaster.dump()


@pytest.mark.parametrize(
    "dump", [{}, {"agents": 1}, {"agents": {"a": {"ratios": [], "held": [], "finished": 1}}}]
)
def test_what_is_no_dump_is_refused(dump: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        RunForecaster().load(dump)
