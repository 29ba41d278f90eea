"""The dashboards: made by code, read back by the SDK as they are, and without a finding of the linter."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
from tests.grafana.made import MADE, copied, panel
from tests.house.sources import ROOT

from grafana.building import frame, links
from grafana.building.__main__ import FOLDER, stale
from grafana.building.queries import AGENT
from grafana.lint import findings
from grafana.lint.known import known

UIDS = [links.OVERVIEW, links.BUDGETS, links.EVENTS, links.AGENT, links.PROCESSOR]


@pytest.fixture(scope="module", autouse=True)
def _plugins() -> None:
    register_default_plugins()


def read_back(document: dict[str, Any]) -> dict[str, Any]:
    """What the SDK makes of a document; it drops what it does not know."""
    return frame.document(Dashboard.from_json(json.loads(json.dumps(document))))


def test_the_files_are_what_the_code_makes() -> None:
    assert stale() == [], "make dashboards"


def test_there_are_five_and_they_are_found_by_their_uid() -> None:
    assert list(MADE) == UIDS
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(
        f"{uid.removeprefix('spanfuse-')}.json" for uid in UIDS
    )


@pytest.mark.parametrize("uid", UIDS)
def test_what_the_sdk_reads_is_what_was_written(uid: str) -> None:
    assert read_back(MADE[uid]) == MADE[uid]


def test_a_setting_that_the_sdk_does_not_know_is_seen_by_reading_back() -> None:
    document = copied()[links.OVERVIEW]
    panel(document, "Model calls by agent")["options"]["legnd"] = {}

    assert read_back(document) != document


def test_the_linter_finds_nothing() -> None:
    assert [str(finding) for finding in findings(list(MADE.values()), known())] == []


def test_an_agent_without_a_name_is_called_as_in_the_metrics() -> None:
    from spanfuse_processor.telemetry.declaring import UNKNOWN

    assert f"'{UNKNOWN}'" in AGENT


def test_alerts_lead_to_dashboards_that_are_there_and_to_variables_that_they_have() -> None:
    addresses = re.findall(r"dashboard_url: /d/([\w-]+)(\S*)", (ROOT / "rules" / "alerts.yml").read_text())
    theirs = {uid: {each["name"] for each in made["templating"]["list"]} for uid, made in MADE.items()}

    assert addresses
    assert [uid for uid, _ in addresses if uid not in theirs] == []
    assert [
        (uid, rest) for uid, rest in addresses if set(re.findall(r"var-(\w+)=", rest)) - theirs[uid]
    ] == []
