"""Every alert is tried: by series with which it fires, and by others of its own with which it does not."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import promql_parser as promql
import pytest
import yaml
from tests.rules.reading import ALERTS, RECORDS, RULES, Rule, asked, labels_of

FILES = {path.name: yaml.safe_load(path.read_text()) for path in sorted((RULES / "tests").glob("*.yml"))}
CASES = [(name, case) for name, file in FILES.items() for case in file["tests"]]
ABSENT = "absence.yml"
"""Where there are no series at all: that an alert is quiet there says little of it."""


def _said() -> tuple[set[tuple[str, str]], dict[str, set[str]]]:
    """Alerts that fire in a test, with their severity; and by alert the tests in which it does not."""
    fires: set[tuple[str, str]] = set()
    quiet: dict[str, set[str]] = defaultdict(set)
    for file, case in CASES:
        for check in case["alert_rule_test"]:
            name, expected = check["alertname"], check["exp_alerts"]
            fires |= {(name, each["exp_labels"]["severity"]) for each in expected}
            if not expected and file != ABSENT:
                quiet[name].add(case["name"])
    return fires, quiet


FIRES, QUIET = _said()


def of(rule: Rule) -> str:
    """For the name of a test."""
    return f"{rule.name}-{rule.severity}"


@pytest.mark.parametrize("rule", ALERTS, ids=of)
def test_an_alert_can_fire(rule: Rule) -> None:
    assert (rule.name, rule.severity) in FIRES


@pytest.mark.parametrize("rule", [rule for rule in ALERTS if rule.name != "Watchdog"], ids=of)
def test_an_alert_is_quiet_with_series_of_its_own_metrics(rule: Rule) -> None:
    """In one test at least in which everything that it asks for is there."""
    tried = [case for file, case in CASES if file != ABSENT and case["name"] in QUIET[rule.name]]
    needed = _needed(rule.expr)

    assert any(needed & _given(case) for case in tried)


def _needed(expr: str) -> set[str]:
    """The metrics that come from outside, also by way of what is recorded."""
    found = {each.metric for each in asked(expr)}
    outside = {name for name in found if name not in RECORDS}
    return outside.union(*(_needed(RECORDS[name].expr) for name in found if name in RECORDS))


def _given(case: dict[str, Any]) -> set[str]:
    return {promql.parse(each["series"]).name for each in case["input_series"]}


@pytest.mark.parametrize(
    ("file", "case"), CASES, ids=lambda value: value if isinstance(value, str) else value["name"]
)
def test_series_of_a_test_are_such_as_there_are(file: str, case: dict[str, Any]) -> None:
    for each in case["input_series"]:
        series = promql.parse(each["series"])
        given = {matcher.name for matcher in series.matchers.matchers}
        assert given <= labels_of(series.name)
        assert {"job", "instance"} <= given


def test_where_nothing_is_scraped_every_alert_is_asked_for() -> None:
    [case] = FILES[ABSENT]["tests"]

    assert {check["alertname"] for check in case["alert_rule_test"]} == {rule.name for rule in ALERTS}


def test_rules_are_tried_as_they_are() -> None:
    assert all(file["rule_files"] == ["../recording.yml", "../alerts.yml"] for file in FILES.values())
