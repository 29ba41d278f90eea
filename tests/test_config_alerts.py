"""The list of alerts that are obeyed: what it means, and what is refused, with line and field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spanfuse_processor.__main__ import main
from spanfuse_processor.config import Alerts, Deed, Obey, Target
from spanfuse_processor.config_alerts import alerts_of
from spanfuse_processor.config_loading import ConfigError, config_schema, environment_names, load_config
from spanfuse_processor.engine.nouns import Level

GOOD = """\
alerts:
  alertmanager_token: secret
  obey:
    - alert: SpanfuseBudget*
      match: {severity: critical}
      action: throttle
      target: {level: budget, label: budget}
      calls_per_second: 0.5
      ttl: 300
    - alert: SpanfuseToolErrors
      action: stop
      target: {level: agent, label: agent}
    - {alert: Fire, action: stop, target: {level: everything}}
"""


def test_without_a_list_nothing_is_obeyed() -> None:
    assert Alerts().obey == ()
    assert alerts_of({"timeout": 5}, ("alerts",)) == Alerts(timeout=5.0)


def test_the_list_is_read_in_its_order(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(GOOD)

    alerts = load_config(file, {}).alerts

    budget = Target(Level.BUDGET, "budget")
    assert alerts.alertmanager_token == "secret"
    assert alerts.obey == (
        Obey("SpanfuseBudget*", (("severity", "critical"),), Deed.THROTTLE, budget, 0.5, 300.0),
        Obey("SpanfuseToolErrors", (), Deed.STOP, Target(Level.AGENT, "agent")),
        Obey("Fire", (), Deed.STOP, Target(Level.EVERYTHING)),
    )


ONE = "alerts:\n  obey:\n  - alert: A\n    action: {action}\n    target: {target}\n{more}"


def wrong(action: str = "stop", target: str = "{level: agent, label: agent}", more: str = "") -> str:
    """A file with one entry."""
    return ONE.format(action=action, target=target, more=more)


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        ("alerts:\n  obey: yes\n", 2, "alerts.obey"),
        ("alerts:\n  obey:\n  - alert: A\n    action: stop\n", 3, "alerts.obey.0"),
        ("alerts:\n  obey:\n  - action: stop\n    target: {level: everything}\n", 3, "alerts.obey.0"),
        (wrong(action="kill"), 4, "alerts.obey.0.action"),
        (wrong(target="{level: agnet, label: agent}"), 5, "alerts.obey.0.target.level"),
        (wrong(target="{level: agent}"), 5, "alerts.obey.0.target"),
        (wrong(target="{level: everything, label: agent}"), 5, "alerts.obey.0.target.label"),
        (wrong("throttle", "{level: tool, label: tool}"), 5, "alerts.obey.0.target.level"),
        (wrong(more="    ttl: 0\n"), 6, "alerts.obey.0.ttl"),
        (wrong(more="    calls_per_second: 1\n"), 6, "alerts.obey.0.calls_per_second"),
        (wrong("throttle", more="    calls_per_second: 0\n"), 6, "alerts.obey.0.calls_per_second"),
        (wrong(more="    match: {severity: 5}\n"), 6, "alerts.obey.0.match.severity"),
        (wrong(more="    match: critical\n"), 6, "alerts.obey.0.match"),
        (wrong(more="    until: never\n"), 6, "alerts.obey.0.until"),
        (
            "auth:\n  client_tokens: [t]\nalerts:\n  alertmanager_token: t\n",
            4,
            "alerts.alertmanager_token",
        ),
    ],
)
def test_what_cannot_be_obeyed_is_refused_with_line_and_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, line: int, field: str
) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(text)

    assert main(["check", str(file)]) == 1
    assert capsys.readouterr().err.startswith(f"spanfuse check: {file}:{line}: {field}: ")
    with pytest.raises(ConfigError) as refused:
        load_config(file, {})
    assert refused.value.line == line


def test_the_token_may_come_from_the_environment_and_the_list_may_not() -> None:
    names = environment_names()

    assert "SPANFUSE_ALERTS_ALERTMANAGER_TOKEN" in names
    assert "SPANFUSE_ALERTS_OBEY" not in names
    given = load_config(None, {"SPANFUSE_ALERTS_ALERTMANAGER_TOKEN": "x", "SPANFUSE_ALERTS_OBEY": "y"})
    assert (given.alerts.alertmanager_token, given.alerts.obey) == ("x", ())


def test_the_schema_says_what_an_entry_is() -> None:
    entry: dict[str, Any] = config_schema()["properties"]["alerts"]["properties"]["obey"]["items"]

    assert entry["required"] == ["alert", "action", "target"]
    assert entry["properties"]["action"]["enum"] == ["stop", "throttle"]
    assert entry["properties"]["match"]["additionalProperties"] == {"type": "string"}
    assert "budget" in entry["properties"]["target"]["properties"]["level"]["enum"]
    assert all(field["description"] for field in entry["properties"].values())
