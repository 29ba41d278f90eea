"""Promises are missed by figures that miss them, the page says all, and the command fails when it should."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.accuracy.forecast import __main__ as command
from tests.accuracy.forecast.budgets import PAGE, PAGES, US_SHORT
from tests.accuracy.forecast.making import perfect
from tests.accuracy.forecast.measuring import Measured
from tests.accuracy.forecast.page import written
from tests.accuracy.forecast.promises import promises
from tests.accuracy.forecast.runaways import Runaway
from tests.accuracy.forecast.runs import US


def missed(measured: Measured) -> list[str]:
    return [each.what for each in promises(measured) if not each.kept]


def test_perfect_figures_miss_nothing() -> None:
    assert missed(perfect()) == []


def test_no_figures_miss_every_promise_of_budgets() -> None:
    assert len(missed(Measured())) == len(promises(Measured())) > 15


def _late(measured: Measured) -> None:
    for each in measured.outcomes["day"]:
        each.errors = {name: 0.023 for name in each.errors}


def _silent(measured: Measured) -> None:
    measured.outcomes["week"][0].fired.clear()


def _nervous(measured: Measured) -> None:
    measured.outcomes["hour"][-1].fired[PAGE] = 0.5


def _blind(measured: Measured) -> None:
    measured.runaways["day"][0].fired.pop(PAGES)


def _unheard(measured: Measured) -> None:
    # so many others that one is less than a thousandth of them
    told = measured.runaways["day"] * 2_000
    measured.runaways["day"] = [*told, Runaway(0.5, 0.6, {}, 0.01)]


def _bursting(measured: Measured) -> None:
    for each in measured.outcomes["hour of one coding agent"]:
        each.errors = {name: 0.2 if name == US_SHORT else 0.1 for name in each.errors}


def _narrow(measured: Measured) -> None:
    for each in measured.totals["day"]:
        each.held = False


def _steps(measured: Measured) -> None:
    for each in measured.steps["tau_airline_gpt4o"]:
        each.errors[US] = 0.11


def _finals(measured: Measured) -> None:
    measured.finals["tau_airline_gpt4o"] = [
        each._replace(held=True) for each in measured.finals["tau_airline_gpt4o"]
    ]


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (_late, "day: exhaustion off"),
        (_silent, "week: paged before"),
        (_nervous, "hour: paged for at most"),
        (_blind, "at least 99.9% of runaways"),
        (_unheard, "every runaway told of"),
        (_bursting, "hour of one coding agent: no worse"),
        (_narrow, "day: bands"),
        (_steps, "tau, at half of the cap"),
        (_finals, "tau_airline_gpt4o: 90% intervals"),
    ],
)
def test_a_figure_that_misses_a_promise_is_named(spoil: Callable[[Measured], None], what: str) -> None:
    measured = perfect()
    spoil(measured)

    (only,) = missed(measured)
    assert only.startswith(what)


def test_the_page_is_the_same_for_the_same_figures_and_says_what_is_weak() -> None:
    text = written(perfect())

    assert text == written(perfect())
    assert "## What is weak" in text
    assert "| day: bands of 80% hold within 8% | 80.0% of 10 | kept |" in text


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A command whose measuring takes no time; returns its folder of data."""
    (tmp_path / "data" / "spend").mkdir(parents=True)
    monkeypatch.setattr(command, "PAGE", tmp_path / "forecast.md")
    monkeypatch.setattr(command, "measure", lambda shared: perfect())
    return tmp_path


def test_without_data_there_is_nothing_to_measure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert command.main(["--shared", str(tmp_path)]) == 2
    assert "measured on data" in capsys.readouterr().err


def test_a_page_that_says_something_else_fails_until_it_is_written(asked: Path) -> None:
    shared = ["--shared", str(asked)]

    assert command.main(shared) == 1
    assert command.main([*shared, "--write"]) == 0
    assert command.main(shared) == 0


def test_a_promise_that_is_missed_fails(
    asked: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spoilt = perfect()
    _silent(spoilt)
    monkeypatch.setattr(command, "measure", lambda shared: spoilt)

    assert command.main(["--shared", str(asked), "--write"]) == 1
    assert "MISSED  week: paged before" in capsys.readouterr().out
