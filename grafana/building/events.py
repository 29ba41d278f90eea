"""Breaker events: what did it do, to whom, and why?"""

from __future__ import annotations

from typing import Any

from grafana_foundation_sdk.models.dashboard import DynamicConfigValue

from grafana.building import links
from grafana.building.frame import among_rows, framed
from grafana.building.panels import (
    CALM,
    KINDS,
    MOMENT,
    NOTABLE,
    Column,
    Panel,
    Steps,
    bars,
    lines,
    listed,
    number,
    stacked_bars,
)
from grafana.building.queries import AGENT, counted, rows, series

QUESTION = "What did it do, to whom, and why?"
KILL: Steps = [(None, "green"), (1000, "orange"), (2000, "red")]
"""Milliseconds from the decision to the stop; at two seconds there is an alert."""

CHOSEN = f"""$__timeFilter(time)
      AND {AGENT} ~ '^(${{agent:regex}})$'
      AND detector ~ '^(${{detector:regex}})$'"""

BY_KIND = f"""
    SELECT $__timeGroupAlias(time, $__interval, 0), kind AS metric, count(*) AS value
    FROM spanfuse.breaker_event
    WHERE kind <> 'effect' AND {CHOSEN}
    GROUP BY 1, 2
    ORDER BY 1
"""
BY_DETECTOR = f"""
    SELECT detector AS metric, count(*) AS value
    FROM spanfuse.breaker_event
    WHERE kind IN ('trip', 'withheld') AND {CHOSEN}
    GROUP BY 1
    ORDER BY 2 DESC, 1
    LIMIT 8
"""
EFFECTS = f"""
    SELECT time, service, {AGENT} AS agent, detector AS "stopped for",
           (body ->> 'kill_latency_ms')::double precision AS "obeyed in",
           (body ->> 'calls_refused')::bigint AS refused,
           (body ->> 'tasks_cancelled')::bigint AS tasks,
           (body ->> 'streams_closed')::bigint AS streams
    FROM spanfuse.breaker_event
    WHERE kind = 'effect' AND body ->> 'state' <> 'received' AND {CHOSEN}
      AND ((body ->> 'kill_latency_ms') IS NOT NULL OR (body ->> 'calls_refused')::bigint > 0)
    ORDER BY time DESC, id
    LIMIT 100
"""
LOG = f"""
    SELECT time, kind, detector, {AGENT} AS agent, budget, message AS what, spent_usd AS spent,
           kill_latency_ms AS kill, left(trace_id, 8) AS trace, trace_id,
           (extract(epoch FROM time) * 1000 - 600000)::bigint::text AS from_ms,
           (extract(epoch FROM time) * 1000 + 600000)::bigint::text AS to_ms
    FROM spanfuse.breaker_event
    WHERE kind <> 'effect' AND {CHOSEN}
    ORDER BY time DESC, id
    LIMIT 500
"""


def dashboard() -> dict[str, Any]:
    """The document."""
    since = "FROM spanfuse.breaker_event WHERE $__timeFilter(time)"
    variables = [
        among_rows("agent", "Agent", f"SELECT DISTINCT {AGENT} {since}"),
        among_rows("detector", "Detector", f"SELECT DISTINCT detector {since} AND detector <> ''"),
    ]
    panels = [*_numbers(), _by_kind(), _latency(), _by_detector(), _effects(), _log()]
    return framed(links.EVENTS, "Breaker events", QUESTION, panels, variables)


def _count(title: str, description: str, kind: str, steps: Steps = NOTABLE) -> Panel:
    sql = f"SELECT count(*) AS events FROM spanfuse.breaker_event WHERE kind = '{kind}' AND {CHOSEN}"
    return number(title, description, "none", rows(sql), steps)


def _numbers() -> list[Panel]:
    return [
        _count("Stopped", "Breakers that opened, and stopped what was going on.", "trip"),
        _count(
            "Withheld",
            "Stops that were due and only observed or told, because the mode is shadow or warn.",
            "withheld",
        ),
        _count("Warned", "Warnings: signs of trouble that do not stop anything yet.", "warn"),
        _count(
            "Released",
            "Stops that were taken back: by time, by a probe that went well, or by a person.",
            "release",
            CALM,
        ),
        _kill("Kill time, middle", 0.5, "half of the stops were faster"),
        _kill("Kill time, slow", 0.99, "all but one in a hundred were faster"),
    ]


def _kill(title: str, share: float, meaning: str) -> Panel:
    sql = (
        f"SELECT percentile_cont({share}) WITHIN GROUP (ORDER BY kill_latency_ms) AS latency\n"
        f"FROM spanfuse.breaker_event\nWHERE kind = 'trip' AND {CHOSEN}"
    )
    text = (
        f"From the end of the offending call to the gate being closed, on the application's clock: {meaning}."
    )
    return number(title, text, "ms", rows(sql), KILL, nothing="none")


def _by_kind() -> Panel:
    panel = stacked_bars(
        "Events by kind",
        "What was recorded, over time. A wall of one colour is one cause; look for it in the log below.",
        "none",
        counted(BY_KIND),
        width=12,
        height=9,
        nothing="Nothing in this time",
    )
    panel.interval("30s").decimals(0)
    for kind, (name, colour) in KINDS.items():
        told = {"displayName": name, "color": {"mode": "fixed", "fixedColor": colour}}
        # Releases differ in whether the column that counts is a part of a series' name.
        panel.override_by_regexp(
            f"/^(value )?{kind}$/", [DynamicConfigValue(key, value) for key, value in told.items()]
        )
    return panel


def _latency() -> Panel:
    def quantile(share: float, legend: str, ref: str) -> Any:
        buckets = 'sum by (le) (rate(spanfuse_kill_latency_seconds_bucket{job="$job"}[$__rate_interval]))'
        return series(f"histogram_quantile({share}, {buckets})", legend, ref, exemplars=ref == "A")

    return lines(
        "Kill latency over time",
        "From the end of the offending call to the gate being closed, as applications report it. Dots are "
        "single stops, and lead to their trace. No line where nothing was stopped.",
        "s",
        quantile(0.5, "half are faster", "A"),
        quantile(0.99, "99 of 100 are faster", "B"),
        width=12,
        height=9,
        nothing="Nothing was stopped",
    )


def _by_detector() -> Panel:
    return bars(
        "What it was stopped for",
        "Stops, enforced and withheld, by the detector that asked for them.",
        "none",
        rows(BY_DETECTOR),
        [(None, "orange")],
        each_row=True,
        nothing="Nothing was stopped",
    )


def _effects() -> Panel:
    return listed(
        "What applications did",
        "What applications report of the stops that they were told: how fast they obeyed, the calls they "
        "refused, the tasks they cancelled and the streams they closed.",
        rows(EFFECTS),
        [
            Column("time", 165, MOMENT),
            Column("service"),
            Column("agent", 110),
            Column("stopped for", 110),
            Column("obeyed in", 100, "ms"),
            Column("refused", 85, "none"),
            Column("tasks", 70, "none"),
            Column("streams", 85, "none"),
        ],
        width=16,
        height=9,
    )


def _log() -> Panel:
    row = {"agent": "${__data.fields.agent}", "trace_id": "${__data.fields.trace_id}"}
    agent = links.to("Agent, around this time", links.AGENT, links.AROUND_ROW, **row)
    return listed(
        "Event log",
        "The record, newest first. The agent leads to the agent around that time, the trace to the trace "
        "with the breaker's own span in it.",
        rows(LOG),
        [
            Column("time", 165, MOMENT),
            Column("kind", 90, names=KINDS),
            Column("detector", 95),
            Column("agent", 130, link=agent),
            Column("budget", 120),
            Column("what", long=True),
            Column("spent", 85, "currencyUSD"),
            Column("kill", 80, "ms"),
            Column("trace", 90, link=links.to_trace()),
            *(Column(name, hidden=True) for name in ("trace_id", "from_ms", "to_ms")),
        ],
        height=14,
    )
