"""What a panel asks: Prometheus for figures over time, Postgres for what happened, Jaeger for one trace.

Rule 1: a series is asked for with its job, so that two services in one Prometheus do not mix. Rule 2: every
query has a letter or a name of its own in its panel. SQL reads the views
`breaker_event` and `run_step`, in the schema of the store.
"""

from __future__ import annotations

import textwrap
from typing import Final

from grafana_foundation_sdk.builders import prometheus
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.runtime import UnknownDataquery
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models.common import DataSourceRef
from grafana_foundation_sdk.models.prometheus import QueryEditorMode

METRICS: Final = DataSourceRef(type_val="prometheus", uid="${prometheus}")
EVENTS: Final = DataSourceRef(type_val="grafana-postgresql-datasource", uid="${events}")
TRACES: Final = DataSourceRef(type_val="jaeger", uid="${traces}")

AGENT: Final = "coalesce(nullif(agent, ''), 'unknown')"
"""An agent in SQL, called as the metrics call one without a name."""

Query = Builder[Dataquery]


class _Plain(Builder[Dataquery]):
    """A query for which the SDK has no builder of its own."""

    def __init__(self, source: DataSourceRef, **settings: object) -> None:
        self._query = {"datasource": source.to_json(), **settings}

    def build(self) -> Dataquery:
        """The query."""
        return UnknownDataquery(self._query)


def series(expr: str, legend: str, ref: str = "A", exemplars: bool = False) -> Query:
    """Figures over time; `legend` is text with labels in double braces."""
    return _asked(expr, legend, ref).range().exemplar(exemplars)


def newest(expr: str, legend: str = "", ref: str = "A") -> Query:
    """One figure of each series, as it is at the end of the shown time."""
    return _asked(expr, legend, ref).instant()


def seen(counter: str, labels: str, by: str) -> str:
    """Rates of a counter, of those series only that anything came of in the shown time."""
    rate = f"sum by ({by}) (rate({counter}{{{labels}}}[$__rate_interval]))"
    return f"{rate}\n  and sum by ({by}) (increase({counter}{{{labels}}}[$__range])) > 0"


def _asked(expr: str, legend: str, ref: str) -> prometheus.Dataquery:
    query = prometheus.Dataquery().datasource(METRICS).editor_mode(QueryEditorMode.CODE).ref_id(ref)
    return query.expr(tidy(expr)).legend_format(legend or "__auto")


def rows(sql: str, ref: str = "A") -> Query:
    """A table from Postgres."""
    return _Plain(EVENTS, **statement(sql, ref))


def counted(sql: str, ref: str = "A") -> Query:
    """Series from Postgres: its columns are time, metric and value."""
    return _Plain(EVENTS, **statement(sql, ref, "time_series"))


def statement(sql: str, ref: str, shape: str = "table") -> dict[str, object]:
    """What Grafana's Postgres data source is asked with."""
    text = tidy(sql)
    return {"editorMode": "code", "format": shape, "rawQuery": True, "rawSql": text, "refId": ref}


def trace(trace_id: str, ref: str = "A") -> Query:
    """One trace from Jaeger, by its id."""
    return _Plain(TRACES, query=trace_id, refId=ref)


def tidy(text: str) -> str:
    """Text of several lines without the indentation of the source.

    >>> tidy('''
    ...     sum(a)
    ...       / sum(b)''')
    'sum(a)\\n  / sum(b)'
    """
    return textwrap.dedent(text).strip()
