"""Against real servers under real load, everything that dashboards ask is answered, and with something."""

from __future__ import annotations

import pytest
from tests.grafana.live.rig import Rig
from tests.grafana.live.shown import Shown
from tests.grafana.made import MADE, panel

from grafana.asking import answers
from grafana.asking.frames import rows_of
from grafana.asking.servers import Refused
from grafana.building.links import EVENTS, OVERVIEW
from grafana.lint import promql
from spanfuse_processor.telemetry.metrics import METRICS

MAY_BE_ABSENT = {name for metric in METRICS if metric.absent for name in metric.samples()}
FEW = 60
"""Series on one plot; more are not told apart."""


def excused(target: dict[str, object]) -> bool:
    """What shows only what is there (`> 0`), or metrics that say why they may be absent."""
    expr = str(target.get("expr", ""))
    if not expr:
        return False
    return expr.endswith("> 0") or any(use.metric in MAY_BE_ABSENT for use in promql.uses(promql.parse(expr)))


def test_every_panel_shows_something(board: Shown) -> None:
    empty = [answer.panel["title"] for answer in board.answers if not rows_of(answer.frames)]

    assert empty == []


def test_every_query_is_answered_with_something(board: Shown) -> None:
    silent = []
    for answer in board.answers:
        refs = {frame["refId"] for frame in answer.frames if rows_of([frame])}
        silent += [
            f"{answer.panel['title']}: {target['refId']}"
            for target in answer.panel["targets"]
            if target["refId"] not in refs and not excused(target) and not answer.panel.get("repeat")
        ]

    assert silent == []


def test_no_plot_has_more_series_than_can_be_told_apart(board: Shown) -> None:
    crowded = {answer.panel["title"]: len(answer.frames) for answer in board.answers}

    assert [title for title, series in crowded.items() if series > FEW] == []


def test_trips_are_marked(board: Shown) -> None:
    (frame,) = board.marks

    assert rows_of([frame]) > 0
    assert [field["name"] for field in frame["fields"]] == ["time", "text", "tags"]


def test_every_variable_offers_something(board: Shown) -> None:
    servers, span = board.rig.servers, board.rig.span
    asking = [each for each in board.document["templating"]["list"] if each["type"] == "query"]

    assert all(answers.values(variable, servers, span, board.chosen) for variable in asking)


def test_dots_that_lead_to_traces_are_there(board: Shown) -> None:
    asked = [a for a in board.answers if any(target.get("exemplar") for target in a.panel["targets"])]

    assert [answer.panel["title"] for answer in asked if not answer.exemplars] == []
    assert all(dot["labels"].get("trace_id") for answer in asked for dot in answer.exemplars)


def test_what_the_record_counts_is_what_the_metrics_count(boards: dict[str, Shown], rig: Rig) -> None:
    _, [(rows,)] = rig.servers.rows(
        "SELECT count(*) FROM spanfuse.breaker_event WHERE kind = 'trip' AND detector <> 'operator'"
    )
    counted = 'sum(spanfuse_trips_total{job="spanfuse", detector!="operator"})'

    assert abs(float(rig.servers.instant(counted, rig.span)[0]["value"][1]) - rows) <= 2  # between scrapes


def test_the_reader_cannot_write(rig: Rig) -> None:
    with pytest.raises(Refused, match="read-only|permission"):
        rig.servers.rows("DELETE FROM spanfuse.event RETURNING id")


@pytest.mark.parametrize(
    ("broken", "told"),
    [("SELECT count(*) FROM spanfuse.breaker_evnt", "breaker_evnt"), ("SELECT cuont(*)", "cuont")],
)
def test_broken_sql_is_found(rig: Rig, broken: str, told: str) -> None:
    trips = panel(MADE[EVENTS], "Stopped")
    target = {**trips["targets"][0], "rawSql": broken}

    with pytest.raises(Refused, match=told):
        answers.of_target(trips, target, rig.servers, rig.span, {})


def test_an_empty_panel_is_found(rig: Rig) -> None:
    calls = panel(MADE[OVERVIEW], "Model calls by agent")
    target = {
        **calls["targets"][0],
        "expr": 'sum(rate(spanfuse_llm_cals_total{job="$job"}[$__rate_interval]))',
    }

    found = answers.of_target(calls, target, rig.servers, rig.span, {"job": "spanfuse"})

    assert rows_of(found) == 0
