"""Asking what a dashboard asks: variables and macros as Grafana fills them in, answers as frames."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from tests.grafana.made import MADE, panel

from grafana.asking import answers, frames
from grafana.asking.filling import ALL, filled, formatted
from grafana.asking.span import Span
from grafana.building import links

SPAN = Span(1_000_000_000.0, 1_000_000_600.0)


class FakeServers:
    """Answers with what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def range(self, expr: str, span: Span) -> list[dict[str, Any]]:
        self.asked.append(expr)
        return [{"metric": {"agent": "a"}, "values": [[span.since, "1"], [span.until, "NaN"]]}]

    def instant(self, expr: str, span: Span) -> list[dict[str, Any]]:
        self.asked.append(expr)
        return [{"metric": {}, "value": [span.until, "2"]}]

    def exemplars(self, expr: str, span: Span) -> list[dict[str, Any]]:
        return []

    def label_values(self, label: str, selector: str, span: Span) -> list[str]:
        self.asked.append(selector)
        return ["day", "hour"]

    def rows(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        self.asked.append(sql)
        return ["figure", "metric", "value"], [(3, "x", 1)]


@pytest.mark.parametrize(
    ("how", "value", "expected"),
    [
        ("raw", "a b", "a b"),
        ("regex", ["a.b", "c"], r"(a\.b|c)"),
        ("regex", ["a.b"], r"a\.b"),
        ("promql", "a.b", r"a\\.b"),
        ("promql", [ALL], ALL),
        ("sqlstring", ["it's", "b"], "'it''s','b'"),
        ("queryparam", ["a b", "c&d"], "var-x=a%20b&var-x=c%26d"),
        ("queryparam", [ALL], "var-x=$__all"),
    ],
)
def test_a_value_is_written_as_its_format_says(how: str, value: str | list[str], expected: str) -> None:
    assert formatted("x", value, how) == expected


def test_a_variable_that_nobody_chose_is_an_error() -> None:
    with pytest.raises(KeyError, match="agent"):
        filled("$agent", {})


def test_a_rate_is_taken_over_at_least_four_scrapes() -> None:
    assert SPAN.metrics("rate(x[$__rate_interval])") == "rate(x[20s])"
    assert SPAN._replace(width=10).metrics("[$__rate_interval] [$__range]") == "[65s] [600s]"


def test_rows_are_grouped_by_the_step_that_a_panel_allows() -> None:
    assert SPAN.sql("$__timeGroupAlias(time, $__interval, 0)", 30) == (
        'floor(extract(epoch from time)/30)*30 AS "time"'
    )


def test_where_figures_are_missing_or_none_there_is_a_gap() -> None:
    series = {"metric": {"agent": "a"}, "values": [[5, "1"], [10, "NaN"], [25, "2"]]}
    (frame,) = frames.from_series("A", "{{agent}}", [series], 5)
    time, value = frame["fields"]

    assert time["values"] == [5_000, 10_000, 15_000, 25_000]
    assert value["values"] == [1.0, None, None, 2.0]
    assert value["config"] == {"displayNameFromDS": "a"}


def test_columns_have_the_kinds_of_their_values() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    (frame,) = frames.from_rows("A", ["t", "n", "s", "none"], [(moment, Decimal("1.5"), "x", None)])

    assert [(field["type"], field["values"]) for field in frame["fields"]] == [
        ("time", [1_767_225_600_000]),
        ("number", [1.5]),
        ("string", ["x"]),
        ("string", [None]),
    ]


def test_a_table_without_rows_has_its_columns_and_counts_as_nothing() -> None:
    found = frames.from_rows("A", ["t", "n"], [])

    assert [field["name"] for field in found[0]["fields"]] == ["t", "n"]
    assert frames.rows_of(found) == 0


def test_counts_are_nothing_where_there_are_no_rows() -> None:
    (frame,) = frames.over_time("A", [(60, "trip", 2)], 0, 130, 60)

    assert [field["values"] for field in frame["fields"]] == [[0, 60_000, 120_000], [0.0, 2.0, 0.0]]


def test_a_panel_that_is_repeated_is_asked_once_for_each_value() -> None:
    servers = FakeServers()
    document = MADE[links.BUDGETS]
    one = {**document, "panels": [panel(document, "$budget")]}

    found = list(answers.answered(one, servers, SPAN, {"job": "s", "budget": [ALL]}))  # type: ignore[arg-type]

    assert [answer.panel["title"] for answer in found] == ["day", "hour"]
    assert any('budget=~"hour"' in expr for expr in servers.asked)


@pytest.mark.parametrize("uid", sorted(MADE))
def test_everything_that_a_dashboard_asks_can_be_filled_in(uid: str) -> None:
    servers: Any = FakeServers()
    document = {**MADE[uid], "panels": [p for p in MADE[uid]["panels"] if p["type"] != "traces"]}
    chosen = answers.choices(document, servers, SPAN, {})

    found = list(answers.answered(document, servers, SPAN, chosen))
    answers.marks(document, servers, SPAN, chosen)

    assert len(found) >= len(document["panels"])
    assert [text for text in servers.asked if "$" in text.replace("$'", "")] == []
