"""Queries of metrics: that what they name exists, is asked as what it is, and is shown in its unit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from grafana.lint import dimensions, promql
from grafana.lint.finding import Finding, fields, named, panels
from grafana.lint.known import OF_THE_SCRAPE, Known

_HISTOGRAM = ("_bucket", "_sum", "_count")


def findings(document: dict[str, Any], known: Known) -> Iterator[Finding]:
    """What is wrong with a dashboard's queries of metrics."""
    for panel in panels(document):
        for target in panel.get("targets", []):
            if "expr" in target:
                for message in _of_target(panel, target, known):
                    yield Finding(document["uid"], named(panel), message)


def _of_target(panel: dict[str, Any], target: dict[str, Any], known: Known) -> Iterator[str]:
    expr = target["expr"]
    try:
        node = promql.parse(expr)
    except ValueError as error:
        yield f"no PromQL: {error}"
        return
    for use in promql.uses(node):
        yield from _of_use(use, known)
        if target.get("exemplar") and use.metric not in known.exemplars:
            yield f"{use.metric} has no exemplars"
    for asked, there in promql.groupings(node, known.labels):
        yield from (f"groups by {label}, which is not there" for label in sorted(asked - there))
    if re.search(r"\[\d+[smhd]", expr):
        yield "a fixed window: use $__rate_interval, or a recorded metric"
    shown = promql.labels(node, known.labels)
    for label in re.findall(r"\{\{\s*(\w+)\s*\}\}", target.get("legendFormat", "")):
        if label not in shown:
            yield f"the legend names {label}, which the answer does not have"
    yield from _unit(panel, target, dimensions.of(node))


def _of_use(use: promql.Use, known: Known) -> Iterator[str]:
    if use.metric not in known.labels:
        yield f"{use.metric} is declared nowhere"
        return
    counter = use.metric.endswith(("_total", *_HISTOGRAM)) and ":" not in use.metric
    if counter and use.function not in promql.COUNTED:
        yield f"{use.metric} is a counter: it needs rate or increase"
    if not counter and use.function in promql.COUNTED:
        yield f"{use.metric} is no counter: it cannot have {use.function}"
    if "job" not in use.matchers:
        yield f"{use.metric} is asked for without its job"
    for label, value in use.matchers.items():
        if label not in known.labels[use.metric] | OF_THE_SCRAPE:
            yield f"{use.metric} has no label {label}"
        words = known.values.get((use.metric, label))
        if words and label in use.equal and value not in words:
            yield f"{use.metric} never has {label}={value}"


def _unit(panel: dict[str, Any], target: dict[str, Any], dimension: str) -> Iterator[str]:
    """Dollars are shown as dollars, seconds as seconds, shares as per cent; counts as none of them."""
    unit = ""
    for name, settings in fields(panel):
        if name in ("", target.get("refId")):
            unit = settings.get("unit", unit)
    expected = dimensions.UNITS.get(dimension)
    if expected is not None and unit != expected:
        yield f"shows {dimension} as {unit or 'nothing'}, not as {expected}"
    if dimension == "count" and unit in dimensions.UNITS.values():
        yield f"shows a count as {unit}"
