"""What all dashboards have: data sources and the job as variables, the mark of every trip, the drop-down.

Rule 1: uid, tag and refresh are fixed; nobody edits a dashboard in a browser. Rule 2: panels are numbered in
the order in which they stand. It does not know a panel.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from grafana_foundation_sdk.builders import dashboard as builders
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.runtime import UnknownDataquery
from grafana_foundation_sdk.models import dashboard as model

from grafana.building.panels import Panel
from grafana.building.queries import EVENTS, METRICS, statement

TAG: Final = "spanfuse"
ALL: Final = model.VariableOption(text=["All"], value=["$__all"], selected=True)

TRIPS: Final = """
    SELECT time,
           detector || ' stopped ' || coalesce(nullif(agent, ''), 'an agent') || ': ' || message AS text,
           concat_ws(',', detector, action) AS tags
    FROM spanfuse.breaker_event
    WHERE kind = 'trip' AND $__timeFilter(time)
    ORDER BY time DESC
    LIMIT 200
"""

Variable = Builder[model.VariableModel]


def framed(
    uid: str, title: str, question: str, panels: Sequence[Panel], variables: Sequence[Variable] = ()
) -> dict[str, Any]:
    """The dashboard, as the JSON document that Grafana reads."""
    made = builders.Dashboard(f"spanfuse / {title}").uid(uid).description(question).tags([TAG])
    made.readonly().refresh("30s").time("now-1h", "now").timezone("browser")
    made.tooltip(model.DashboardCursorSync.CROSSHAIR).annotation(_trips()).link(_others())
    for variable in (*_sources(), job(), *variables):
        made.with_variable(variable)
    for number, panel in enumerate(panels, 1):
        made.with_panel(panel.id(number))
    return document(made.build())


def document(dashboard: model.Dashboard) -> dict[str, Any]:
    """The document of a dashboard, without what the SDK adds by itself.

    It would put links and annotations into a menu that older releases do not have.
    """
    made: dict[str, Any] = json.loads(json.dumps(dashboard, cls=JSONEncoder))
    for each in (*made["links"], *made["annotations"]["list"]):
        each.pop("placement", None)
    return made


def text(made: dict[str, Any]) -> str:
    """A document as it lies in `grafana/dashboards/`."""
    return json.dumps(made, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _sources() -> list[Variable]:
    """The three data sources."""
    names = {"prometheus": "prometheus", "events": EVENTS.type_val or "", "traces": "jaeger"}
    labels = {"prometheus": "Metrics", "events": "Events", "traces": "Traces"}
    return [
        builders.DatasourceVariable(name).label(labels[name]).type(kind).hide(model.VariableHide.DONT_HIDE)
        for name, kind in names.items()
    ]


def job() -> Variable:
    """Which service."""
    return _asked("job", "Service", "label_values(spanfuse_build_info, job)")


def among(name: str, label: str, query: str, several: bool = False) -> Variable:
    """A choice among the values of a label; with `several`, of more than one, or of all."""
    variable = _asked(name, label, query)
    return variable.multi(True).include_all(True).all_value(".*").current(ALL) if several else variable


def among_rows(name: str, label: str, sql: str) -> Variable:
    """A choice of several among what Postgres answers."""
    variable = builders.QueryVariable(name).label(label).datasource(EVENTS).query(sql).definition(sql)
    variable.refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED).sort(model.VariableSort.ALPHABETICAL_ASC)
    return variable.multi(True).include_all(True).all_value(".*").current(ALL)


def typed(name: str, label: str, hint: str) -> Variable:
    """A text that links fill in, or a person."""
    return builders.TextBoxVariable(name).label(label).description(hint).default_value("")


def _asked(name: str, label: str, query: str) -> builders.QueryVariable:
    variable = builders.QueryVariable(name).label(label).datasource(METRICS)
    variable.query({"query": query, "refId": f"variable-{name}"}).definition(query)
    variable.refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED)
    return variable.sort(model.VariableSort.ALPHABETICAL_ASC)


class _Annotation(Builder[model.AnnotationQuery]):
    """An annotation as it stands."""

    def __init__(self, made: model.AnnotationQuery) -> None:
        self._made = made

    def build(self) -> model.AnnotationQuery:
        """The annotation."""
        return self._made


def _trips() -> Builder[model.AnnotationQuery]:
    """A mark wherever something was stopped."""
    query = UnknownDataquery(statement(TRIPS, "Trips"))
    made = model.AnnotationQuery(name="Trips", datasource=EVENTS, icon_color="red", target=query)
    return _Annotation(made)


def _others() -> builders.DashboardLink:
    """The drop-down of all dashboards with the tag; time and variables go along."""
    link = builders.DashboardLink("Dashboards").type(model.DashboardLinkType.DASHBOARDS).tags([TAG])
    return link.as_dropdown(True).include_vars(True).keep_time(True).icon("external link").tooltip("")
