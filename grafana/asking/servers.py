"""The servers that dashboards ask, at their own doors: Prometheus, Jaeger, and Postgres as a reader."""

from __future__ import annotations

import json
import statistics
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from typing import Any, NamedTuple

import psycopg

from grafana.asking.span import Span


class Refused(Exception):
    """A server did not answer a query; its words are why."""


class Servers(NamedTuple):
    """Where they are: bases of addresses, and a connection string of the reader. No Jaeger: an empty text."""

    prometheus: str
    postgres: str
    jaeger: str = ""

    def range(self, expr: str, span: Span) -> list[dict[str, Any]]:
        """Figures over time."""
        step = span.step()
        since, until = (int(moment // step) * step for moment in (span.since, span.until))
        found = self._asked("query_range", query=expr, start=since, end=until, step=step)
        result: list[dict[str, Any]] = found["result"]
        return result

    def instant(self, expr: str, span: Span) -> list[dict[str, Any]]:
        """One figure of each series."""
        found = self._asked("query", query=expr, time=span.until)
        if found["resultType"] == "scalar":
            return [{"metric": {}, "value": found["result"]}]
        result: list[dict[str, Any]] = found["result"]
        return result

    def exemplars(self, expr: str, span: Span) -> list[dict[str, Any]]:
        """Single calls behind an expression: their labels, value and time."""
        found = self._asked("query_exemplars", query=expr, start=span.since, end=span.until)
        return sampled([each for series in found for each in series["exemplars"]], 2 * span.step())

    def label_values(self, label: str, selector: str, span: Span) -> list[str]:
        """Values of a label."""
        asked = {"match[]": selector, "start": span.since, "end": span.until}
        return list(self._asked(f"label/{label}/values", **asked))

    def _asked(self, path: str, **parameters: Any) -> Any:
        query = urllib.parse.urlencode(parameters)
        return _got(f"{self.prometheus}/api/v1/{path}?{query}")["data"]

    def rows(self, sql: str) -> tuple[list[str], Sequence[Sequence[Any]]]:
        """Names of columns, and rows."""
        try:
            with psycopg.connect(self.postgres) as connection:
                cursor = connection.execute(sql.encode())
                return [column.name for column in cursor.description or ()], cursor.fetchall()
        except psycopg.Error as error:
            raise Refused(f"{str(error).strip()} in: {sql}") from error

    def trace(self, trace_id: str) -> list[dict[str, Any]]:
        """The spans of a trace, as Jaeger tells them; none when it does not know it."""
        try:
            found = _got(f"{self.jaeger}/api/traces/{trace_id}")["data"]
        except Refused:  # it does not know the trace
            return []
        for trace in found:
            services = {key: each["serviceName"] for key, each in trace["processes"].items()}
            return [{**span, "service": services[span["processID"]]} for span in trace["spans"]]
        return []


def sampled(exemplars: Sequence[dict[str, Any]], seconds: float) -> list[dict[str, Any]]:
    """So few that they can be told apart, as Grafana does it: of each stretch of time the highest, and those
    that are well below the one before.

    >>> values = [1.0, 1.1, 1.2, 9.0]
    >>> [each["value"] for each in sampled([{"timestamp": 0, "value": str(value)} for value in values], 10)]
    ['9.0', '1.2']
    """
    apart = 2 * statistics.pstdev(float(each["value"]) for each in exemplars) if exemplars else 0.0
    kept: dict[int, list[dict[str, Any]]] = {}
    for each in sorted(exemplars, key=lambda each: -float(each["value"])):
        stretch = kept.setdefault(int(each["timestamp"] // seconds), [])
        if not stretch or float(stretch[-1]["value"]) - float(each["value"]) > apart:
            stretch.append(each)
    return [each for stretch in kept.values() for each in stretch]


def _got(address: str) -> Any:
    try:
        with urllib.request.urlopen(address, timeout=20) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise Refused(f"{error.code}: {error.read(500).decode(errors='replace')}") from error
