"""What is written about alerts is true: the table of them, and the policy that is shown."""

from __future__ import annotations

import re
from pathlib import Path

import yaml
from tests.rules.reading import ALERTS, ROOT

from spanfuse_processor.config_alerts import alerts_of

PAGE = (ROOT / "docs" / "alerts.md").read_text()


def test_every_alert_is_in_the_table_with_what_it_says() -> None:
    rows = re.findall(r"^\| \[(\w+)\]\(\.\./rules/runbooks/\1\.md\) \| (\w+) \| (.*) \|$", PAGE, re.MULTILINE)

    assert rows == [(rule.name, rule.severity, rule.annotations["summary"]) for rule in ALERTS]


def test_the_policy_that_is_shown_can_be_obeyed() -> None:
    [shown] = re.findall(r"```yaml\nalerts:\n(  alertmanager_token.*?)```", PAGE, re.DOTALL)

    alerts = alerts_of(yaml.safe_load(shown), ("alerts",))

    assert [rule.action.value for rule in alerts.obey] == ["throttle", "stop"]


def test_the_receiver_that_is_shown_is_ours() -> None:
    [shown] = re.findall(r"```yaml\n(receivers:.*?)```", PAGE, re.DOTALL)
    ours = yaml.safe_load(Path(ROOT / "rules" / "alertmanager.yml").read_text())["receivers"]

    assert yaml.safe_load(shown)["receivers"][0] in ours


def test_what_is_told_again_is_told_within_the_time_that_it_holds() -> None:
    """The route to the processor and the policy's own time fit together."""
    routes = yaml.safe_load((ROOT / "rules" / "alertmanager.yml").read_text())["route"]["routes"]
    [route] = [each for each in routes if each["receiver"] == "processor"]

    assert route["repeat_interval"] == "5m"
    assert alerts_of({"obey": [_entry()]}, ("alerts",)).obey[0].ttl == 2 * 5 * 60


def _entry() -> dict[str, object]:
    return {"alert": "A", "action": "stop", "target": {"level": "everything"}}
