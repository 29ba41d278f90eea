"""What every dashboard and panel must have: a title, a description, a unit, colours that mean something."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from grafana_foundation_sdk.models import units

from grafana.lint.finding import Finding, fields, named, panels

TAG: Final = "spanfuse"
DRAWN: Final = frozenset({"timeseries", "stat", "bargauge", "table", "traces"})
"""Kinds of panels that can be drawn, and looked at, without Grafana."""
UNITS: Final = frozenset(
    value for name, value in vars(units).items() if isinstance(value, str) and not name.startswith("_")
)
CUSTOM: Final = ("suffix:", "prefix:", "time:")
OF_COLUMNS: Final = {"cost": "currencyUSD", "spent": "currencyUSD", "seconds": "s", "share": "percentunit"}
"""Units of columns of this name."""
_KEPT: Final = ("asDropdown", "keepTime", "includeVars")
_WITHOUT_UNIT: Final = ("table", "traces")
_WITH_THRESHOLDS: Final = ("stat", "bargauge")
_LONGEST: Final = 260
"""Letters of a description: it is read in passing."""


def findings(document: dict[str, Any]) -> Iterator[Finding]:
    """What is missing."""
    uid = document["uid"]
    yield from (Finding(uid, "", message) for message in _of_dashboard(document))
    for panel in panels(document):
        for message in (*_of_panel(panel), *_units(panel), *_thresholds(panel)):
            yield Finding(uid, named(panel), message)


def _of_dashboard(document: dict[str, Any]) -> Iterator[str]:
    if document.get("editable", True):
        yield "may be edited in a browser"
    if TAG not in document.get("tags", []):
        yield f"has no tag {TAG}"
    if not document.get("description"):
        yield "does not say which question it answers"
    if document.get("refresh") != "30s":
        yield "does not refresh every 30 s"
    if not any(each["name"] == "Trips" for each in document["annotations"]["list"]):
        yield "does not mark trips"
    drops = [each for each in document.get("links", []) if each.get("tags") == [TAG]]
    if not any(all(each.get(key) for key in _KEPT) for each in drops):
        yield "has no drop-down of the others that keeps time and variables"


def _of_panel(panel: dict[str, Any]) -> Iterator[str]:
    if panel["type"] not in DRAWN:
        yield f"is a panel that nobody can draw here: {panel['type']}"
    if not panel.get("title"):
        yield "has no title"
    if not panel.get("description"):
        yield "has no description"
    if len(panel.get("description", "")) > _LONGEST:
        yield "has a description that nobody reads to its end"
    if not panel.get("targets"):
        yield "asks nothing"
    refs = [target.get("refId") for target in panel.get("targets", [])]
    if len(set(refs)) < len(refs) or None in refs:
        yield "has queries without a name of their own"
    if panel["type"] not in _WITHOUT_UNIT and not panel["fieldConfig"]["defaults"].get("noValue"):
        yield "says nothing when there is nothing"


def _units(panel: dict[str, Any]) -> Iterator[str]:
    for name, settings in fields(panel):
        unit = settings.get("unit")
        if unit is not None and unit not in UNITS and not unit.startswith(CUSTOM):
            yield f"has a unit that Grafana does not know: {unit}"
        if not name and unit is None and panel["type"] not in _WITHOUT_UNIT:
            yield "has no unit"
        if panel["type"] == "table" and name in OF_COLUMNS and unit != OF_COLUMNS[name]:
            yield f"shows the column {name} as {unit or 'nothing'}, not as {OF_COLUMNS[name]}"


def _thresholds(panel: dict[str, Any]) -> Iterator[str]:
    """Colours are chosen: Grafana's own threshold of 80 means nothing on dollars."""
    steps = panel.get("fieldConfig", {}).get("defaults", {}).get("thresholds", {}).get("steps", [])
    if panel["type"] in _WITH_THRESHOLDS and not steps:
        yield "has no thresholds of its own"
    values = [step.get("value") for step in steps]
    if steps and (values[0] is not None or values[1:] != sorted(values[1:])):
        yield "has thresholds that do not rise from the lowest value"
