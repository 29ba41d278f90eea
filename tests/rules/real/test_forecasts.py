"""The two forecast alerts exclude each other, whatever a forecast does: over a table, and on random walks."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Final

import pytest
from tests.rules.reading import RULES
from tests.rules.real.programs import run

NAME: Final = "SpanfuseBudgetForecastExhaustion"
SEEN: Final = 180  # seconds after which the table is looked at: whatever waits has fired by then
ETAS: Final = (0, 1, 14, 15, 16, 59, 60, 61, 149, 150, 151, 599, 600, 601, 3_600)
HORIZONS: Final = (0, 60, 600)
USED: Final = (0.0, 0.04, 0.05, 0.051, 0.8, 0.999, 1.0, 1.5)
WALKS: Final = 40
STEPS: Final = 240  # of five seconds each


def series(budget: str, horizon: float, used: str, out: str) -> list[dict[str, str]]:
    """One budget. `used` and `out` are values over time, as promtool writes them."""
    labels = f'job="spanfuse",instance="a",budget="{budget}"'
    figures = {
        "limit_usd": f"100x{STEPS}",
        "window_spent_usd": used,
        "warn_horizon_seconds": f"{horizon}x{STEPS}",
        "forecast_exhaustion_timestamp_seconds": out,
    }
    return [
        {"series": f"spanfuse_budget_{name}{{{labels}}}", "values": each} for name, each in figures.items()
    ]


def tried(tmp_path: Path, case: dict[str, Any]) -> None:
    """Has promtool try one case."""
    file = tmp_path / "case.yml"
    files = [str(RULES / "recording.yml"), str(RULES / "alerts.yml")]
    whole = {"rule_files": files, "evaluation_interval": "5s", "tests": [{"interval": "5s", **case}]}
    file.write_text(json.dumps(whole))

    done = run("promtool", "test", "rules", str(file))
    assert done.returncode == 0, (done.stdout + done.stderr)[:4_000]


def due(eta: float, horizon: float, used: float) -> str:
    """Which of the two a lasting forecast calls for."""
    if used >= 1:
        return ""
    if eta < horizon / 4:
        return "critical"
    return "warning" if eta < horizon and used > 0.05 else ""


def test_of_every_forecast_at_most_one_is_told_and_it_is_the_right_one(tmp_path: Path) -> None:
    """The estimate stands still here: what is forecast moves on with the time that passes."""
    table = [(eta, horizon, used) for eta in ETAS for horizon in HORIZONS for used in USED]
    given, expected = [], []
    for number, (eta, horizon, used) in enumerate(table):
        given += series(f"b{number}", horizon, f"{used * 100:g}x{STEPS}", f"{eta}+5x{STEPS}")
        if severity := due(eta, horizon, used):
            labels = f'alertname="{NAME}",alertstate="firing",budget="b{number}",job="spanfuse"'
            expected.append({"labels": f'ALERTS{{{labels},severity="{severity}"}}', "value": 1})
    assert {due(*row) for row in table} == {"", "warning", "critical"}

    check = {"expr": f'ALERTS{{alertname="{NAME}",alertstate="firing"}}', "eval_time": f"{SEEN}s"}
    tried(tmp_path, {"input_series": given, "promql_expr_test": [check | {"exp_samples": expected}]})


@pytest.mark.parametrize("seed", range(3))
def test_along_any_walk_the_two_are_never_told_together(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    given = [each for number in range(WALKS) for each in _walk(f"b{number}", dice)]
    both = f'count by (budget) (ALERTS{{alertname="{NAME}",alertstate="firing"}}) > 1'
    some = f'count(ALERTS{{alertname="{NAME}",alertstate="firing"}}) > bool 0'
    checks = [{"expr": both, "eval_time": f"{at * 5}s", "exp_samples": []} for at in range(STEPS)]
    checks.append({"expr": some, "eval_time": f"{SEEN}s", "exp_samples": [{"labels": "{}", "value": 1}]})

    tried(tmp_path, {"input_series": given, "promql_expr_test": checks})


def _walk(budget: str, dice: random.Random) -> list[dict[str, str]]:
    """A forecast that jumps about its horizon and a quarter of it, is absent now and then, and is used up."""
    horizon = dice.choice([60, 240, 600])
    out, used, share = [], [], dice.uniform(0, 0.5)
    for at in range(STEPS):
        eta = max(0.0, horizon * dice.choice([0.2, 0.24, 0.25, 0.26, 0.5, 0.99, 1.0, 1.01, 2.0]))
        out.append("stale" if dice.random() < 0.05 else f"{at * 5 + eta:g}")
        share += dice.choice([0, 0, 0.01, 0.05, -0.3 if share > 1 else 0])
        used.append(f"{share * 100:g}")
    return series(budget, horizon, " ".join(used), " ".join(out))
