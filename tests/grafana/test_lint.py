"""The linter: each defect that was put into a dashboard is found, and named where it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.grafana.made import copied, panel

from grafana.building import links
from grafana.lint import findings
from grafana.lint.known import known

Documents = dict[str, dict[str, Any]]
KNOWN = known()
CALLS = 'spanfuse_llm_calls_total{job="$job"}'


def seen(documents: Documents) -> list[str]:
    return [str(finding) for finding in findings(list(documents.values()), KNOWN)]


def calls(documents: Documents) -> dict[str, Any]:
    return panel(documents[links.OVERVIEW], "Model calls by agent")


def query(documents: Documents) -> dict[str, Any]:
    target: dict[str, Any] = calls(documents)["targets"][0]
    return target


def reworded(old: str, new: str) -> Callable[[Documents], None]:
    def reword(documents: Documents) -> None:
        assert old in query(documents)["expr"]
        query(documents)["expr"] = query(documents)["expr"].replace(old, new)

    return reword


def linked(documents: Documents, url: str) -> None:
    calls(documents)["fieldConfig"]["overrides"][0]["properties"][0]["value"][0]["url"] = url


def override(settings: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in settings["overrides"] if each["matcher"]["options"] == name)


def shown(documents: Documents, uid: str, title: str) -> dict[str, Any]:
    found: dict[str, Any] = panel(documents[uid], title)["fieldConfig"]["defaults"]
    return found


def narrow(documents: Documents) -> None:
    log = panel(documents[links.EVENTS], "Event log")
    override(log["fieldConfig"], "detector")["properties"][0]["value"] = 50


def columns(documents: Documents) -> None:
    log = panel(documents[links.EVENTS], "Event log")
    override(log["fieldConfig"], "budget")["properties"][0]["value"] = 700


def variable(documents: Documents, name: str) -> dict[str, Any]:
    listed = documents[links.AGENT]["templating"]["list"]
    found: dict[str, Any] = next(each for each in listed if each["name"] == name)
    return found


DEFECTS: dict[str, tuple[Callable[[Documents], object], str]] = {
    "a metric that is not there": (reworded("llm_calls", "llm_call"), "is declared nowhere"),
    "a label that is not there": (reworded("job=", 'run="1", job='), "has no label run"),
    "a value that never comes": (reworded("job=", 'outcome="fine", job='), "never has outcome=fine"),
    "a grouping by what is not there": (reworded("(agent)", "(agnet)"), "groups by agnet"),
    "a counter as it stands": (reworded(f"rate({CALLS}[$__rate_interval])", CALLS), "is a counter"),
    "no job": (reworded('job="$job"', 'agent!="x"'), "without its job"),
    "a window of its own": (reworded("$__rate_interval", "3m"), "a fixed window"),
    "no PromQL": (reworded("sum by", "sun by"), "no PromQL"),
    "a legend of what is not there": (
        lambda all_: query(all_).update(legendFormat="{{model}}"),
        "the legend names model",
    ),
    "a variable that is not there": (reworded("$job", "$jab"), "names the variable jab"),
    "a data source by its address": (
        lambda all_: query(all_)["datasource"].update(uid="prometheus"),
        "asks a data source that is no variable",
    ),
    "a wrong unit": (
        lambda all_: shown(all_, links.PROCESSOR, "Span lag").update(unit="percentunit"),
        "shows seconds as percentunit",
    ),
    "dollars as a count": (
        lambda all_: shown(all_, links.OVERVIEW, "Spend by model").update(unit="short"),
        "shows usd as short",
    ),
    "a unit that Grafana has not": (
        lambda all_: calls(all_)["fieldConfig"]["defaults"].update(unit="callsps"),
        "has a unit that Grafana does not know",
    ),
    "a panel that nobody can draw": (lambda all_: calls(all_).update(type="heatmap"), "nobody can draw"),
    "a title that is cut off": (
        lambda all_: panel(all_[links.OVERVIEW], "Trips").update(title="Breakers that have opened"),
        "the title is cut off",
    ),
    "no description": (lambda all_: calls(all_).pop("description"), "has no description"),
    "no words for nothing": (
        lambda all_: calls(all_)["fieldConfig"]["defaults"].pop("noValue"),
        "says nothing when there is nothing",
    ),
    "a head of a column that is cut off": (narrow, "the head of the column detector is cut off"),
    "columns beyond the edge": (columns, "columns need"),
    "a panel on another": (lambda all_: calls(all_)["gridPos"].update(x=4), "stands on"),
    "a panel beyond the edge": (lambda all_: calls(all_)["gridPos"].update(x=20), "stands beyond the edge"),
    "no id": (lambda all_: calls(all_).pop("id"), "has no id"),
    "a link to no dashboard": (
        lambda all_: linked(all_, "/d/spanfuse-agents?${__url_time_range}"),
        "leads to no dashboard",
    ),
    "a link with a variable that the other has not": (
        lambda all_: linked(all_, "/d/spanfuse-budgets?${__url_time_range}&var-agent=x"),
        "hands on agent, which spanfuse-budgets does not have",
    ),
    "a link that forgets the time": (lambda all_: linked(all_, "/d/spanfuse-agent?"), "does not hand on"),
    "a link by a label that is not there": (
        lambda all_: linked(all_, "/d/spanfuse-agent?${__url_time_range}&var-agent=${__field.labels.model}"),
        "names the label model",
    ),
    "a dashboard that may be edited": (lambda all_: all_[links.AGENT].update(editable=True), "may be edited"),
    "no mark of trips": (lambda all_: all_[links.AGENT]["annotations"]["list"].clear(), "does not mark"),
    "a choice that grows old": (lambda all_: variable(all_, "agent").update(refresh=1), "is not asked again"),
    "a choice that changes nothing": (
        lambda all_: all_[links.OVERVIEW]["templating"]["list"].append({"name": "x", "type": "textbox"}),
        "nothing asks for it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_defect_is_found(defect: str) -> None:
    put_in, told = DEFECTS[defect]
    documents = copied()
    put_in(documents)

    assert [line for line in seen(documents) if told in line]
