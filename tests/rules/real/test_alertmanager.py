"""An alert from a real Alertmanager stops and slows a real application, and lets it go on when it is over."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
import yaml
from tests.acceptance.application import at_work, board, is_refused, judged, search
from tests.acceptance.hook import Hook, hook
from tests.processes import Processor
from tests.rules.reading import RULES
from tests.rules.real.programs import alertmanager
from tests.waiting import until

import spanfuse
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import Action

TOKEN: Final = "alertmanager-for-tests"
SOON: Final = 20.0  # seconds: a group's interval, and a busy machine
CODER: Final = BreakerKey(Level.AGENT, "coder")
CONFIG: Final = f"""\
alerts:
  alertmanager_token: {TOKEN}
  obey:
    - {{alert: SpanfuseToolErrors, action: stop, target: {{level: agent, label: agent}}}}
    - alert: SpanfuseCompletionLow
      action: throttle
      target: {{level: agent, label: agent}}
      calls_per_second: 0.5
"""


@pytest.fixture
def processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Processor]:
    """A processor whose policy names two alerts."""
    for name in [name for name in os.environ if name.startswith(("SPANFUSE_", "OTEL_"))]:
        monkeypatch.delenv(name)
    file = tmp_path / "processor.yaml"
    file.write_text(CONFIG)
    made = Processor(environment={"SPANFUSE_CONFIG": str(file), "SPANFUSE_LOG_LEVEL": "error"})
    made.start()
    try:
        yield made
    finally:
        made.stop()


def routes_to(tmp_path: Path, processor: Processor, people: Hook) -> Path:
    """The configuration of this project, with the addresses of this test."""
    config = yaml.safe_load((RULES / "alertmanager.yml").read_text())
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "alertmanager_token").write_text(TOKEN)
    for receiver in config["receivers"]:
        for each in receiver.get("webhook_configs", ()):
            each["url"] = each["url"].replace("http://127.0.0.1:4318", processor.http)
            each["url"] = each["url"].replace("http://127.0.0.1:9095", people.url.removesuffix("/budgets"))
    file = tmp_path / "alertmanager.yml"
    file.write_text(yaml.safe_dump(config))
    return file


def post(url: str, name: str, severity: str, *, over: bool = False) -> None:
    """Tells Alertmanager of an alert, as Prometheus does."""
    now = datetime.now(UTC)
    alert = {
        "labels": {"alertname": name, "severity": severity, "agent": "coder", "job": "spanfuse"},
        "annotations": {"summary": "Too many tool calls of an agent fail."},
        "startsAt": (now - timedelta(minutes=1)).isoformat(),
        "endsAt": (now - timedelta(seconds=1) if over else now + timedelta(hours=1)).isoformat(),
    }
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"{url}/api/v2/alerts", json.dumps([alert]).encode(), headers)
    with urllib.request.urlopen(request, timeout=5) as answer:
        assert answer.status == 200


def told(people: Hook) -> list[str]:
    """What people heard of the first alert, in order; waits until they heard of both."""
    until(lambda: len(people.got) >= 2, 2 * SOON)
    return [json.loads(body)["status"] for _, body in people.got]


def refused() -> bool:
    """Whether the agent is refused its next call."""
    return board().standing([CODER]) is not None


def slowed() -> list[dict[str, float]]:
    """The paces that the agent has to keep."""
    return [dict(each.params) for each in board().covering(Action.THROTTLE, [CODER])]


@pytest.fixture
def application(processor: Processor) -> Iterator[None]:
    """This process, guarded by the processor, with a healthy run at work beside what is tested."""
    with at_work(processor.endpoint):
        until(judged, 10.0)
        yield


def work() -> str:
    """The agent makes a call."""
    with spanfuse.run(agent="coder"):
        return search(query="anything")


def test_what_an_alert_names_is_stopped_until_it_is_over(
    tmp_path: Path, processor: Processor, application: None
) -> None:
    with hook() as people, alertmanager(routes_to(tmp_path, processor, people)) as url:
        assert "anything" in work()

        post(url, "SpanfuseToolErrors", "warning")
        until(refused, SOON)
        with pytest.raises(spanfuse.BreakerOpen) as stopped:
            work()
        assert stopped.value.directive.issuer == "alert/SpanfuseToolErrors"
        assert not is_refused("another")

        post(url, "SpanfuseToolErrors", "warning", over=True)
        until(lambda: not refused(), SOON)
        assert "anything" in work()
        assert told(people) == ["firing", "resolved"]


def test_what_an_alert_slows_keeps_its_pace_until_it_is_over(
    tmp_path: Path, processor: Processor, application: None
) -> None:
    with hook() as people, alertmanager(routes_to(tmp_path, processor, people)) as url:
        post(url, "SpanfuseCompletionLow", "warning")
        until(slowed, SOON)
        assert slowed() == [{"calls_per_second": 0.5}]

        post(url, "SpanfuseCompletionLow", "warning", over=True)
        until(lambda: not slowed(), SOON)


def test_an_alert_that_no_policy_names_reaches_people_and_stops_nothing(
    tmp_path: Path, processor: Processor, application: None
) -> None:
    with hook() as people, alertmanager(routes_to(tmp_path, processor, people)) as url:
        post(url, "SpanfuseTripStorm", "critical")
        until(lambda: people.got, SOON)

        assert json.loads(people.got[0][1])["alerts"][0]["labels"]["alertname"] == "SpanfuseTripStorm"
        assert board().empty
