"""What a dashboard's panels, annotations and variables are answered.

Rule 1: nothing is left out: a panel has an answer for each of its queries. Rule 2: a panel that is repeated
is asked once for each value of its variable. It does not judge whether an answer is good.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from grafana.asking import frames
from grafana.asking.filling import ALL, Chosen, filled
from grafana.asking.frames import Frame
from grafana.asking.servers import Servers
from grafana.asking.span import Span, seconds
from grafana.lint.finding import panels

SQL = "grafana-postgresql-datasource"


class Answer(NamedTuple):
    """What a panel got: frames of all its queries, and the single calls that lie on its lines."""

    panel: dict[str, Any]
    frames: list[Frame]
    exemplars: list[dict[str, Any]]
    chosen: Chosen


def choices(document: dict[str, Any], servers: Servers, span: Span, given: Chosen) -> dict[str, Any]:
    """What is chosen on a dashboard as it opens: what an address gives, else all, else the first."""
    chosen: dict[str, Any] = {}
    for variable in document["templating"]["list"]:
        name = variable["name"]
        if name in given:
            chosen[name] = given[name]
        elif variable["type"] == "query":
            found = values(variable, servers, span, chosen)
            chosen[name] = [ALL] if variable.get("includeAll") else (found or [""])[0]
        else:
            chosen[name] = ""
    return chosen


def values(variable: Mapping[str, Any], servers: Servers, span: Span, chosen: Chosen) -> list[str]:
    """What a variable of a query offers."""
    query = variable["query"]
    if isinstance(query, str):
        _, rows = servers.rows(span.sql(filled_sql(query, chosen)))
        return sorted(str(row[0]) for row in rows)
    asked = re.fullmatch(r"label_values\((.+), (\w+)\)", query["query"])
    assert asked is not None, query
    return servers.label_values(asked[2], filled(asked[1], chosen, "promql"), span)


def answered(document: dict[str, Any], servers: Servers, span: Span, chosen: Chosen) -> Iterator[Answer]:
    """Every panel's answer, in the order in which they stand."""
    for panel in panels(document):
        for scope in _scopes(document, panel, servers, span, chosen):
            wide = span._replace(width=max(panel["gridPos"]["w"] * 50, 100))
            found, dots = [], []
            for target in panel["targets"]:
                found += of_target(panel, target, servers, wide, scope)
                if target.get("exemplar"):
                    dots += servers.exemplars(filled(wide.metrics(target["expr"]), scope, "promql"), wide)
            yield Answer({**panel, "title": filled(panel["title"], scope)}, found, dots, scope)


def _scopes(
    document: dict[str, Any], panel: dict[str, Any], servers: Servers, span: Span, chosen: Chosen
) -> Iterator[Chosen]:
    name = panel.get("repeat")
    if not name:
        yield chosen
        return
    variable = next(each for each in document["templating"]["list"] if each["name"] == name)
    wanted = chosen[name]
    each_of = values(variable, servers, span, chosen) if list(wanted) == [ALL] else wanted
    for value in [each_of] if isinstance(each_of, str) else each_of:
        yield {**chosen, name: value}


def of_target(
    panel: dict[str, Any], target: dict[str, Any], servers: Servers, span: Span, chosen: Chosen
) -> list[Frame]:
    """One query's answer."""
    ref = target["refId"]
    if "expr" in target:
        expr = filled(span.metrics(target["expr"]), chosen, "promql")
        asked = servers.instant if target.get("instant") else servers.range
        return frames.from_series(ref, target["legendFormat"], asked(expr, span), span.step())
    if target["datasource"]["type"] == SQL:
        return _of_sql(target, servers, span, chosen, seconds(panel.get("interval", "")))
    return _of_trace(ref, servers.trace(filled(target["query"], chosen)))


def _of_sql(
    target: Mapping[str, Any], servers: Servers, span: Span, chosen: Chosen, least: float
) -> list[Frame]:
    names, rows = servers.rows(span.sql(filled_sql(target["rawSql"], chosen), least))
    if target["format"] != "time_series":
        return frames.from_rows(target["refId"], names, rows)
    return frames.over_time(target["refId"], rows, span.since, span.until, span.step(least))


def filled_sql(text: str, chosen: Chosen) -> str:
    """A statement with variables filled in; macros are left."""
    known = {name: f"$__{name}" for name in ("timeFilter", "timeGroupAlias", "interval")}
    return filled(text, {**chosen, **{f"__{name}": macro for name, macro in known.items()}})


def marks(document: dict[str, Any], servers: Servers, span: Span, chosen: Chosen) -> list[Frame]:
    """What is marked on every line over time."""
    found = []
    for annotation in document["annotations"]["list"]:
        target = {"datasource": annotation["datasource"], **annotation["target"]}
        found += _of_sql(target, servers, span, chosen, 0)
    return found


def _of_trace(ref: str, spans: list[dict[str, Any]]) -> list[Frame]:
    """A trace as Grafana's frame of one: a row for each span."""
    parents = {
        span["spanID"]: next((r["spanID"] for r in span["references"] if r["refType"] == "CHILD_OF"), None)
        for span in spans
    }
    failed = [any(tag["key"] == "error" and tag["value"] for tag in span["tags"]) for span in spans]
    fields = [
        frames.field("spanID", "string", [span["spanID"] for span in spans]),
        frames.field("parentSpanID", "string", [parents[span["spanID"]] for span in spans]),
        frames.field("operationName", "string", [span["operationName"] for span in spans]),
        frames.field("serviceName", "string", [span["service"] for span in spans]),
        frames.field("startTime", "number", [span["startTime"] / 1000 for span in spans]),
        frames.field("duration", "number", [span["duration"] / 1000 for span in spans]),
        frames.field("failed", "boolean", failed),
    ]
    return [{"refId": ref, "fields": fields}]
