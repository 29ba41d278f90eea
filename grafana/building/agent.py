"""Agent: how does one agent do, and what happened in one of its traces?"""

from __future__ import annotations

from typing import Any

from grafana_foundation_sdk.builders import common
from grafana_foundation_sdk.models.common import StackingMode
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue

from grafana.building import links
from grafana.building.frame import among, framed, typed
from grafana.building.panels import (
    CALM,
    KINDS,
    MOMENT,
    NOTABLE,
    Column,
    Panel,
    Steps,
    lines,
    listed,
    number,
    one_trace,
    steps_of,
    worded,
)
from grafana.building.queries import AGENT, newest, rows, seen, series, trace

QUESTION = "How does one agent do, and what happened in one of its traces?"
ME = 'job="$job", agent="$agent"'
MINE = f"{AGENT} = ${{agent:sqlstring}} AND $__timeFilter(time)"
STATES = {"0": ("closed", "green"), "1": ("half open", "orange"), "2": ("open", "red")}
STATE: Steps = [(None, "green"), (1, "orange"), (2, "red")]
STATE_NOW = f'max(spanfuse_state{{{ME}, state="half_open"}}) + 2 * max(spanfuse_state{{{ME}, state="open"}})'

RUNS = f"""
    SELECT max(time) AS ended, left(run, 8) AS run, count(*) AS steps,
           sum(cost_usd) AS cost,
           count(nullif(error, '')) AS errors,
           (SELECT 'trip' FROM spanfuse.breaker_event AS event
            WHERE event.kind = 'trip' AND event.trace_id = run_step.trace_id LIMIT 1) AS breaker,
           trace_id
    FROM spanfuse.run_step
    WHERE {MINE}
    GROUP BY run, trace_id
    ORDER BY ended DESC, run
    LIMIT 50
"""
EVENTS = f"""
    SELECT time, kind, detector, message AS what, trace_id
    FROM spanfuse.breaker_event
    WHERE {MINE} AND kind <> 'effect'
    ORDER BY time DESC, id
    LIMIT 100
"""
STEPS = """
    SELECT number, started, seconds, kind, coalesce(nullif(model, ''), nullif(tool, ''), name) AS what,
           input_tokens AS input, output_tokens AS output, cost_usd AS cost,
           regexp_replace(error, '^.*[.]', '') AS error
    FROM spanfuse.run_step
    WHERE trace_id = ${trace_id:sqlstring}
    ORDER BY started, number
    LIMIT 500
"""


def dashboard() -> dict[str, Any]:
    """The document."""
    agents = among("agent", "Agent", 'label_values(spanfuse_llm_calls_total{job="$job"}, agent)')
    trace_id = typed("trace_id", "Trace", "The id of a trace; rows below, and events elsewhere, fill it in.")
    panels = [*_numbers(), *_courses(), _runs(), _events(), _trace(), _steps()]
    return framed(links.AGENT, "Agent", QUESTION, panels, [agents, trace_id])


def _numbers() -> list[Panel]:
    state = number(
        "Breaker now",
        "The worst state among this agent's breakers. Open: its calls are refused. Half open: a probe is "
        "let through to see whether it has recovered.",
        "none",
        newest(STATE_NOW),
        STATE,
        nothing="unknown",
    )
    return [
        worded(state, STATES),
        _figure(
            "Calls",
            "Steps that ended in the shown time: calls to models and tools, and agents.",
            "short",
            "count(*)",
        ),
        _figure(
            "Spend", "What this agent's calls cost in the shown time.", "currencyUSD", "sum(cost_usd)", "none"
        ),
        _figure("Tokens", "In and out, in the shown time.", "short", "sum(input_tokens + output_tokens)"),
        _figure(
            "Model calls, slow",
            "How long calls to models take: 95 of 100 are faster.",
            "s",
            "percentile_cont(0.95) WITHIN GROUP (ORDER BY seconds) FILTER (WHERE kind = 'model')",
            "none",
        ),
        number(
            "Trips",
            "How often this agent was stopped in the shown time.",
            "none",
            rows(f"SELECT count(*) AS trips FROM spanfuse.breaker_event WHERE kind = 'trip' AND {MINE}"),
            NOTABLE,
        ),
    ]


def _figure(title: str, description: str, unit: str, sql: str, nothing: str = "0") -> Panel:
    query = rows(f"SELECT {sql} AS figure FROM spanfuse.run_step WHERE {MINE}")
    return number(title, description, unit, query, CALM, nothing)


def _courses() -> list[Panel]:
    state = lines(
        "Breaker",
        "The worst state among this agent's breakers: 0 closed, 1 half open, 2 open.",
        "none",
        series(STATE_NOW, "breaker"),
    )
    worded(state.max(2).decimals(0), STATES)
    state.override_by_name("breaker", [DynamicConfigValue("color", {"mode": "fixed", "fixedColor": "red"})])
    spend = lines(
        "Spend by model",
        "Dollars per hour at the rate of the last five minutes.",
        "currencyUSD",
        series(f"sum by (model) (agent_model:spanfuse_llm_cost_usd:rate5m{{{ME}}}) * 3600", "{{model}}"),
    )
    return [steps_of(state), _calls(), _stacked(_tokens()), spend, _gate(), _tools()]


def _calls() -> Panel:
    text = "Calls that ended each second, by how. Killed and denied are the breaker's."
    return _rates("Model calls by outcome", text, "spanfuse_llm_calls_total", "outcome")


def _tokens() -> Panel:
    text = "Tokens per second. What is read from a cache is part of the input."
    return _rates("Tokens by type", text, "spanfuse_llm_tokens_total", "type")


def _gate() -> Panel:
    text = "What this agent's calls were answered, and why; anything but ok is the breaker at work."
    answers = seen("spanfuse_gate_decisions_total", ME, "decision, reason")
    query = series(answers, "{{decision}}: {{reason}}")
    return lines("Gate answers", text, "suffix:/s", query, nothing="No gate has reported")


def _tools() -> Panel:
    text = "Tool calls that ended each second, by how."
    return _rates("Tool calls", text, "spanfuse_tool_calls_total", "outcome")


def _rates(title: str, description: str, metric: str, by: str) -> Panel:
    rate = f"sum by ({by}) (rate({metric}{{{ME}}}[$__rate_interval]))"
    return lines(title, description, "suffix:/s", series(rate, f"{{{{{by}}}}}"))


def _stacked(panel: Panel) -> Panel:
    return panel.stacking(common.StackingConfig().mode(StackingMode.NORMAL).group("A")).fill_opacity(40)


def _runs() -> Panel:
    here = links.to("This trace, below", links.AGENT, agent="${agent}", trace_id="${__data.fields.trace_id}")
    return listed(
        "Runs",
        "The newest runs of this agent, from the record of calls. A click shows its trace below.",
        rows(RUNS),
        [
            Column("ended", 165, MOMENT),
            Column("run", link=here),
            Column("steps", 65, "none"),
            Column("cost", 95, "currencyUSD"),
            Column("errors", 70, "none"),
            Column("breaker", 85, names=KINDS),
            Column("trace_id", hidden=True),
        ],
        width=12,
    )


def _events() -> Panel:
    here = links.to("This trace, below", links.AGENT, agent="${agent}", trace_id="${__data.fields.trace_id}")
    return listed(
        "Events of this agent",
        "What was recorded of this agent, newest first. A click shows the trace below.",
        rows(EVENTS),
        [
            Column("time", 165, MOMENT, link=here),
            Column("kind", 90, names=KINDS),
            Column("detector", 95),
            Column("what", long=True),
            Column("trace_id", hidden=True),
        ],
        width=12,
    )


def _trace() -> Panel:
    return one_trace(
        "Trace",
        "The trace that is chosen above, with the breaker's own span where it decided. Choose one by a "
        "click on a run or an event.",
        trace("${trace_id}"),
    )


def _steps() -> Panel:
    return listed(
        "Steps of the trace",
        "The same trace from the record of calls: what was called, in which order, and what it cost.",
        rows(STEPS),
        [
            Column("number", 80, "none"),
            Column("started", 165, MOMENT),
            Column("seconds", 85, "s"),
            Column("kind", 95),
            Column("what", long=True),
            Column("input", 80, "short"),
            Column("output", 80, "short"),
            Column("cost", 95, "currencyUSD"),
            Column("error", 180),
        ],
        height=12,
    )
