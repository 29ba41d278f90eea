"""What Grafana is given at its start: data sources that links expect, and dashboards that nobody edits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from tests.house.sources import ROOT

FOLDER = ROOT / "grafana" / "provisioning"


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def sources() -> dict[str, dict[str, Any]]:
    return {each["uid"]: each for each in read(FOLDER / "datasources" / "spanfuse.yaml")["datasources"]}


def test_there_is_one_data_source_of_each_kind_that_dashboards_ask() -> None:
    kinds = {uid: source["type"] for uid, source in sources().items()}

    assert kinds == {
        "prometheus": "prometheus",
        "postgres": "grafana-postgresql-datasource",
        "jaeger": "jaeger",
    }


def test_an_exemplar_leads_to_a_data_source_that_is_there() -> None:
    known = sources()
    (exemplar,) = known["prometheus"]["jsonData"]["exemplarTraceIdDestinations"]

    assert exemplar["name"] == "trace_id"
    assert exemplar["datasourceUid"] in known


def test_a_rate_is_taken_over_the_time_of_a_scrape() -> None:
    assert sources()["prometheus"]["jsonData"]["timeInterval"] == "5s"


def test_postgres_is_read_by_who_may_only_read_and_the_password_is_not_here() -> None:
    source = sources()["postgres"]

    assert source["user"] == "grafana_reader"
    assert source["secureJsonData"] == {"password": "$GRAFANA_DB_PASSWORD"}
    assert source["jsonData"]["maxOpenConns"] <= 10


def test_a_dollar_that_is_not_the_environments_is_doubled() -> None:
    text = (FOLDER / "datasources" / "spanfuse.yaml").read_text()
    for query in sources()["jaeger"]["jsonData"]["tracesToMetrics"]["queries"]:
        assert "{$$__tags}" in query["query"]

    assert text.replace("$$", "").count("$") == 1


def test_nobody_edits_a_dashboard_in_a_browser() -> None:
    (provider,) = read(FOLDER / "dashboards" / "spanfuse.yaml")["providers"]

    assert provider["allowUiUpdates"] is False
    assert not any(source["editable"] for source in sources().values())
