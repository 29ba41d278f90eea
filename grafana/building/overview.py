"""Overview: is anything stopped, about to run out, or blind?"""

from __future__ import annotations

from typing import Any

from grafana.building import links
from grafana.building.frame import framed
from grafana.building.panels import (
    CALM,
    GONE,
    GOOD_AT_ZERO,
    KINDS,
    MOMENT,
    NOTABLE,
    SHARE,
    TIME_LEFT,
    Column,
    Panel,
    bars,
    lines,
    linked,
    listed,
    number,
    worded,
)
from grafana.building.queries import AGENT, newest, rows, seen, series

QUESTION = "Is anything stopped, about to run out, or blind?"

TRIPS = """
    SELECT count(*) AS trips FROM spanfuse.breaker_event WHERE kind = 'trip' AND $__timeFilter(time)
"""
LATEST = f"""
    SELECT time, kind, {AGENT} AS agent, message AS what, left(trace_id, 8) AS trace, trace_id,
           (extract(epoch FROM time) * 1000 - 600000)::bigint::text AS from_ms,
           (extract(epoch FROM time) * 1000 + 600000)::bigint::text AS to_ms
    FROM spanfuse.breaker_event
    WHERE $__timeFilter(time) AND kind <> 'effect'
    ORDER BY time DESC, id
    LIMIT 20
"""


def dashboard() -> dict[str, Any]:
    """The document."""
    return framed(
        links.OVERVIEW, "Overview", QUESTION, [*_money(), *_stops(), *_courses(), _budgets(), _latest()]
    )


def _money() -> list[Panel]:
    """How much is going on, and how long the money lasts."""
    return [
        number(
            "Model calls",
            "Calls to models that the service has seen ended. Nothing at all while agents work: it is "
            "blind; look at the dashboard Processor.",
            "suffix:/s",
            series('sum(rate(spanfuse_llm_calls_total{job="$job"}[$__rate_interval]))', "calls"),
            CALM,
            decimals=2,
            plot=True,
        ),
        number(
            "Spend per hour",
            "What the calls of the last five minutes cost, as if it went on for an hour.",
            "currencyUSD",
            series('sum(agent_model:spanfuse_llm_cost_usd:rate5m{job="$job"}) * 3600', "spend"),
            CALM,
            nothing="none",
            plot=True,
        ),
        worded(
            number(
                "First runs out in",
                "Of all budgets that are forecast to run out before their period ends, the time that the "
                "first has left. `none` when no budget is.",
                "s",
                newest('min(budget:spanfuse_budget_exhaustion_eta_seconds:min{job="$job"})'),
                TIME_LEFT,
                nothing="none",
            ),
            GONE,
        ),
    ]


def _stops() -> list[Panel]:
    """What was stopped, and what was not seen."""
    return [
        number(
            "Agents with stops",
            "Agents that have an open breaker: of a run, or of all that they do. What it covers is refused "
            "until it closes, by time, by a probe or by a person.",
            "none",
            newest('sum(max by (agent) (spanfuse_state{job="$job", state="open"}))'),
            GOOD_AT_ZERO,
        ),
        number(
            "Trips",
            "Breakers that opened in the shown time, counted from the record, not from samples of a counter.",
            "none",
            rows(TRIPS),
            NOTABLE,
        ),
        number(
            "Spans not judged",
            "Spans that were received and could not be judged in the shown time: a full queue, or no spans "
            "at all. What is not judged is not stopped.",
            "none",
            newest('round(sum(increase(spanfuse_spans_dropped_total{job="$job"}[$__range])))'),
            GOOD_AT_ZERO,
        ),
    ]


def _courses() -> list[Panel]:
    agent = links.to("Agent ${__field.labels.agent}", links.AGENT, agent="${__field.labels.agent}")
    calls = lines(
        "Model calls by agent",
        "Calls that ended, each second. A click on a line leads to the agent.",
        "suffix:/s",
        series('sum by (agent) (rate(spanfuse_llm_calls_total{job="$job"}[$__rate_interval]))', "{{agent}}"),
        width=12,
        height=7,
    )
    spend = lines(
        "Spend by model",
        "Dollars per hour at the rate of the last five minutes. A model without a price costs nothing here; "
        "see unpriced calls on the dashboard Processor.",
        "currencyUSD",
        series('sum by (model) (agent_model:spanfuse_llm_cost_usd:rate5m{job="$job"}) * 3600', "{{model}}"),
        width=12,
        height=7,
    )
    return [linked(calls, agent), _durations(), spend, _gate()]


def _durations() -> Panel:
    asked = 'rate(spanfuse_call_duration_seconds_bucket{job="$job", kind="model"}[$__rate_interval])'
    buckets = f"sum by (le) ({asked})"
    return lines(
        "Duration of model calls",
        "How long calls to models take. Dots are single calls, and lead to their trace; those far above the "
        "lines are worth a look.",
        "s",
        series(f"histogram_quantile(0.5, {buckets})", "half are faster", exemplars=True),
        series(f"histogram_quantile(0.99, {buckets})", "99 of 100 are faster", "B"),
        width=12,
        height=7,
    )


def _gate() -> Panel:
    decisions = seen("spanfuse_gate_decisions_total", 'job="$job"', "decision, reason")
    return lines(
        "Gate decisions",
        "What applications did to calls, as they report it: let through, put off, refused, and why. "
        "Anything but `allow` is the breaker at work.",
        "suffix:/s",
        series(decisions, "{{decision}}: {{reason}}"),
        nothing="No gate has reported",
        width=12,
        height=7,
    )


def _budgets() -> Panel:
    panel = bars(
        "Budgets used",
        "Spent in this period, as a share of the limit. Orange from 80 %, red when nothing is left. A click "
        "leads to the budget.",
        "percentunit",
        newest('max by (budget) (budget:spanfuse_budget_used:ratio{job="$job"})', "{{budget}}"),
        SHARE,
        height=10,
        most=1,
        nothing="No budgets",
    )
    link = links.to("Budget ${__field.labels.budget}", links.BUDGETS, budget="${__field.labels.budget}")
    return linked(panel, link)


def _latest() -> Panel:
    row = {"agent": "${__data.fields.agent}", "trace_id": "${__data.fields.trace_id}"}
    agent = links.to("Agent, around this time", links.AGENT, links.AROUND_ROW, **row)
    return listed(
        "Latest events",
        "The newest twenty entries of the record. The agent's name leads to the agent around that time, the "
        "trace to the trace.",
        rows(LATEST),
        [
            Column("time", 165, MOMENT),
            Column("kind", 90, names=KINDS),
            Column("agent", 130, link=agent),
            Column("what", long=True),
            Column("trace", 90, link=links.to_trace()),
            *(Column(name, hidden=True) for name in ("trace_id", "from_ms", "to_ms")),
        ],
        width=16,
    )
