"""The rules and the routes, as promtool and amtool see them."""

from __future__ import annotations

import pytest
from tests.rules.reading import ALERTS, RULES
from tests.rules.real.programs import run

ROUTES = {
    "critical": "processor,people",
    "warning": "processor,people",
    "info": "null",
    "none": "null",
}


def test_the_rules_are_rules() -> None:
    done = run("promtool", "check", "rules", "--lint=all", "--lint-fatal", "recording.yml", "alerts.yml")

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file", sorted(path.name for path in (RULES / "tests").glob("*.yml")))
def test_alerts_fire_when_they_should_and_only_then(file: str) -> None:
    done = run("promtool", "test", "rules", f"tests/{file}")

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_routes_are_a_configuration() -> None:
    done = run("amtool", "check-config", "alertmanager.yml")

    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 inhibit rules" in done.stdout


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: f"{rule.name}-{rule.severity}")
def test_an_alert_goes_where_its_severity_says(rule) -> None:  # type: ignore[no-untyped-def]
    labels = [f"alertname={rule.name}", f"severity={rule.severity}", "agent=coder"]

    done = run("amtool", "config", "routes", "test", "--config.file=alertmanager.yml", *labels)

    expected = "watchdog" if rule.name == "Watchdog" else ROUTES[rule.severity]
    assert done.stdout.split() == [expected]
