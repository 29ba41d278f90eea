"""What a dashboard refers to exists: variables, data sources, other dashboards, columns, labels."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final
from urllib.parse import unquote

from grafana.lint import promql
from grafana.lint.finding import Finding, fields, named, panels
from grafana.lint.known import Known

SOURCES: Final = {"prometheus": "prometheus", "grafana-postgresql-datasource": "events", "jaeger": "traces"}
"""By the kind of a data source, the variable that holds it."""
_VARIABLE: Final = re.compile(r"\$\{?(\w+)(?:[:.][\w.]+)?\}?")
_MACROS: Final = re.compile(r"\$__\w+\([^)]*\)")


def findings(
    document: dict[str, Any], documents: Sequence[dict[str, Any]], known: Known
) -> Iterator[Finding]:
    """What leads nowhere."""
    uid = document["uid"]
    defined = {each["name"]: each for each in document["templating"]["list"]}
    for kind, name in SOURCES.items():
        if defined.get(name, {}).get("query") != kind:
            yield Finding(uid, "", f"has no variable {name} for a data source of kind {kind}")
    for name, variable in defined.items():
        yield from (Finding(uid, f"variable {name}", each) for each in _of_variable(variable, defined))
    for annotation in document["annotations"]["list"]:
        for message in (*_sources(annotation), *_undefined(annotation, defined)):
            yield Finding(uid, f"annotation {annotation['name']}", message)
    for panel in panels(document):
        told = (*_undefined(panel, defined), *_all_sources(panel), *_links(panel, documents, known))
        yield from (Finding(uid, named(panel), message) for message in told)
    yield from (Finding(uid, f"variable {name}", "nothing asks for it") for name in _idle(document, defined))


def _of_variable(variable: dict[str, Any], defined: dict[str, Any]) -> Iterator[str]:
    if variable["type"] != "query":
        return
    if variable.get("refresh") != 2:
        yield "is not asked again when the time changes"
    yield from _sources(variable)
    yield from _undefined(variable.get("query"), defined)


def _undefined(part: object, defined: dict[str, Any]) -> Iterator[str]:
    text = _MACROS.sub("", unquote(json.dumps(part)))
    names = {name for name in _VARIABLE.findall(text) if not name.startswith("__")}
    yield from (f"names the variable {name}, which is not there" for name in sorted(names - set(defined)))


def _idle(document: dict[str, Any], defined: dict[str, Any]) -> list[str]:
    parts = [document["panels"], document["annotations"], [v.get("query") for v in defined.values()]]
    asked = set(_VARIABLE.findall(json.dumps(parts)))
    return sorted(set(defined) - asked - set(SOURCES.values()))


def _all_sources(panel: dict[str, Any]) -> Iterator[str]:
    for target in panel.get("targets", []):
        yield from _sources(target)


def _sources(asking: dict[str, Any]) -> Iterator[str]:
    source = asking.get("datasource") or {}
    variable = SOURCES.get(source.get("type", ""))
    if variable is None or source.get("uid") != f"${{{variable}}}":
        yield f"asks a data source that is no variable of its kind: {source or 'none'}"


def _links(panel: dict[str, Any], documents: Sequence[dict[str, Any]], known: Known) -> Iterator[str]:
    columns = {name for name, _ in fields(panel)}
    for _, settings in fields(panel):
        for link in settings.get("links") or []:
            url = link["url"]
            yield from _address(url, documents)
            for column in re.findall(r"__data\.fields\.(\w+)", url):
                if column not in columns:
                    yield f"a link names the column {column}, which is not there"
            for label in re.findall(r"__field\.labels\.(\w+)", url + link.get("title", "")):
                if not all(label in promql.labels(node, known.labels) for node in _expressions(panel)):
                    yield f"a link names the label {label}, which the answer does not have"


def _expressions(panel: dict[str, Any]) -> list[Any]:
    found = []
    for target in panel["targets"]:
        with contextlib.suppress(ValueError):  # that it is no PromQL is said elsewhere
            found += [promql.parse(target["expr"])] if "expr" in target else []
    return found


def _address(url: str, documents: Sequence[dict[str, Any]]) -> Iterator[str]:
    if url.startswith("/explore?"):
        yield from _explore(url)
        return
    found = re.match(r"/d/([\w-]+)\?", url)
    other = next((each for each in documents if found and each["uid"] == found[1]), None)
    if other is None:
        yield f"a link leads to no dashboard: {url.partition('?')[0]}"
        return
    theirs = {each["name"] for each in other["templating"]["list"]}
    handed = set(re.findall(r"var-(\w+)=", url)) | set(re.findall(r"\$\{(\w+):queryparam\}", url))
    for name in sorted(handed - theirs):
        yield f"a link hands on {name}, which {other['uid']} does not have"
    if "${__url_time_range}" not in url and "from=" not in url:
        yield "a link does not hand on the time"


def _explore(url: str) -> Iterator[str]:
    try:
        panes = json.loads(unquote(url.partition("panes=")[2]))
    except ValueError:
        yield "a link to Explore that cannot be read"
        return
    if any(set(pane) != {"datasource", "queries", "range"} for pane in panes.values()):
        yield "a link to Explore without source, query or time"
