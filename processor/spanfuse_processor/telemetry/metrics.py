"""Every metric of the service, declared once, as data. Rules, dashboards and tests may name only these.

Rule 1: no trace, run, session, user or content in a label; what is no fixed word is bounded, and past its
bound `other`. Rule 2: a counter's name ends in `_total`, a unit stands in the name, and a metric has one.
Rule 3: nothing is ever infinite or no number: what is not known is absent. It does not know who counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from spanfuse_processor.telemetry.declaring import PREFIX, Metric, counter, gauge, histogram, info

FAST: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Bounds for what takes milliseconds when all is well."""
_WORK: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_STORE: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0)
_GATE: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)
_CALL: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
_RECOVERY: Final = (1.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3600.0, 86_400.0)
_DETECTION: Final = (0.0005, *FAST, 10.0)
_LAG: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_MEASURES: Final = MappingProxyType({"usd": "dollars", "tokens": "tokens", "calls": "calls"})

CALLS: Final = (
    counter(
        "llm_calls", "Calls of models: that came back, failed, were refused, or were cut off by a stop",
        "agent", "provider", "model", "outcome",
        values={"outcome": "ok error denied killed"}, exemplars=True,
    ),
    counter(
        "llm_tokens", "Tokens; the cached are among the input, those of reasoning among the output",
        "agent", "model", "type",
        values={"type": "input output cache_read cache_write reasoning"}, unit="tokens",
    ),
    counter("llm_cost_usd", "Spend; never reset", "agent", "model", unit="usd", exemplars=True),
    counter("llm_unpriced_calls", "Calls of models whose price nobody knows", "model"),
    counter(
        "tool_calls", "Calls of tools", "agent", "outcome", values={"outcome": "ok error denied killed"},
    ),
    histogram(
        "call_duration", _CALL, "How long calls took, as those who made them say", "kind",
        values={"kind": "model embeddings tool agent workflow other"}, exemplars=True,
    ),
    counter(
        "runs", "Runs that are over: their root has ended, or nothing came of them any more",
        "agent", "outcome",
        values={"outcome": "ok stopped error"},
    ),
    gauge("active_runs", "Runs that are not over"),
    gauge("active_traces", "Runs held in memory, with those that are over and not yet put away"),
)  # fmt: skip

BREAKERS: Final = (
    counter(
        "gate_decisions", "What gates in applications answered, as applications report it",
        "agent", "decision", "reason",
        values={
            "decision": "allow deny defer",
            "reason": "ok degraded not_degraded fail_open budget tripped fail_closed velocity",
        },
        exemplars=True,
    ),
    histogram(
        "gate_duration", _GATE, "How long gates took where they did not answer at once", "decision",
        values={"decision": "allow deny defer"},
    ),
    counter(
        "trips", "Breakers that opened and are enforced; `operator`: by order", "agent", "detector",
        exemplars=True,
    ),
    gauge(
        "state", "The worst state among the breakers of an agent: one of these is 1", "agent", "state",
        values={"state": "closed open half_open"},
    ),
    counter(
        "findings", "What detectors saw: yellow warns, red is a stop that is due, whatever is done about it",
        "detector", "level", values={"level": "yellow red"},
    ),
    counter(
        "stops_withheld", "Stops that were due, and were only observed (shadow) or told (warn)",
        "detector", "mode", values={"mode": "shadow warn"},
    ),
    histogram(
        "kill_latency", FAST, "End of the offending call to closed gate, by the application's clock",
        "detector",
        exemplars=True,
    ),
    histogram(
        "detection_latency", _DETECTION, "End of the offending call to the decision",
        "detector", exemplars=True,
    ),
    histogram("recovery", _RECOVERY, "From a breaker's opening until its stop is taken back", "detector"),
    counter(
        "alert_orders", "Alerts that Alertmanager told of, by what the policy calls them", "alert", "outcome",
        values={"outcome": "obeyed ignored refused cleared"},
    ),
    gauge("watchers", "Applications that watch the control channel"),
    gauge("directives_standing", "Orders in force"),
    gauge("leases", "Leases that applications hold"),
)  # fmt: skip


def _budgets(unit: str, word: str) -> tuple[Metric, ...]:
    return (
        gauge(f"budget_limit_{unit}", f"Limit of a period, in {word}", "budget", unit=unit),
        gauge(f"budget_window_spent_{unit}", "Spent in this period; falls at its end", "budget", unit=unit),
        gauge(f"budget_reserved_{unit}", "Promised to calls in flight and to leases", "budget", unit=unit),
        counter(
            f"budget_spend_{unit}", "Charged to the budget, across periods; for rates", "budget", unit=unit,
        ),
        gauge(
            f"budget_forecast_window_end_{unit}", "What the period will come to", "budget", "band",
            values={"band": "p50 p90"}, absent="too little is known yet", unit=unit,
        ),
    )  # fmt: skip


BUDGETS: Final = (
    *(each for unit, word in _MEASURES.items() for each in _budgets(unit, word)),
    gauge("budget_window_seconds", "Length of the period", "budget", unit="seconds", absent="it has none"),
    gauge(
        "budget_window_end_timestamp_seconds", "When the period ends", "budget", unit="seconds",
        absent="it has no end",
    ),
    gauge(
        "budget_warn_horizon_seconds", "How long before it runs out a budget is warned of", "budget",
        unit="seconds", absent="the period has no length",
    ),
    gauge(
        "budget_forecast_exhaustion_timestamp_seconds",
        "When the budget runs out", "budget", unit="seconds",
        absent="it is not forecast to",
    ),
    gauge(
        "budget_forecast_status", "How a budget stands: one of these is 1", "budget", "status",
        values={"status": "ok exhausting exhausted insufficient_data"},
    ),
    counter(
        "budget_alerts", "What was told of budgets", "budget", "condition",
        values={"condition": "mark imminent runaway likely blocked steps"},
    ),
    gauge(
        "forecast_last_success_timestamp_seconds", "When it was last looked ahead", unit="seconds",
    ),
    histogram("forecast_duration", _WORK, "How long a look ahead at all budgets took"),
)  # fmt: skip

INTAKE: Final = (
    counter("spans_received", "Spans taken in", "transport", values={"transport": "grpc http"}),
    counter(
        "spans_dropped", "Spans that should have been judged and were not", "reason",
        values={"reason": "queue_full shed decode_error late fault"},
    ),
    counter(
        "spans_odd", "Spans that are not as they should be, or of no call (unread)", "kind",
        values={"kind": "duplicate conflict orphan cycle twin usage_missing unread"},
    ),
    histogram(
        "span_lag", _LAG, "End of a span until it was judged, the newest of each slice", exemplars=True
    ),
    gauge(
        "queue_depth", "What waits: bytes of requests (grpc, http, forward_*), rows (journal, ledger)",
        "queue",
    ),
    gauge("queue_capacity", "How much may wait before something is refused or dropped", "queue"),
    counter(
        "forward_requests", "Requests handed on to where traces are kept", "destination", "outcome",
        values={"outcome": "sent refused dropped retried"},
    ),
)  # fmt: skip

KEEPING: Final = (
    counter(
        "store_operations", "What stores were asked for; refused: no store could hold that",
        "store", "op", "outcome",
        values={"store": "memory sqlite postgres redis", "outcome": "ok refused error"},
    ),
    histogram(
        "store_operation_duration", _STORE, "How long stores took", "store", "op",
        values={"store": "memory sqlite postgres redis"},
    ),
    counter(
        "store_rows", "Rows for stores: kept, come when too many waited, or unfit for any table",
        "store", "outcome",
        values={"store": "journal ledger", "outcome": "written dropped refused"},
    ),
    counter(
        "store_failures", "Attempts to write that failed", "store", values={"store": "journal ledger"}
    ),
    gauge("store_failing", "The last attempt to write failed", "store", values={"store": "journal ledger"}),
    counter(
        "event_write_failures", "Events that are lost, by where they should have gone", "sink",
        values={"sink": "journal webhook otlp"},
    ),
    counter(
        "webhook_events", "Events for the webhook", "outcome", values={"outcome": "delivered failed dropped"},
    ),
    counter("webhook_retries", "Events that were sent to the webhook again"),
    gauge("webhook_waiting", "Events that the webhook has not got yet"),
)  # fmt: skip

SERVICE: Final = (
    counter(
        "config_reloads", "Changed configurations that were read", "outcome",
        values={"outcome": "applied refused"},
    ),
    gauge("config_last_reload_successful", "Whether the configuration that was read last is obeyed"),
    gauge(
        "config_last_reload_success_timestamp_seconds",
        "When a configuration was last taken up", unit="seconds",
    ),
    counter(
        "label_overflow", "Times that a value past the bound of its label was called `other`", "label",
        values={"label": "agent provider model budget alert"},
    ),
    counter("internal_faults", "Errors of the service itself that it went on after"),
    gauge("exposition_seconds", "How long the page before this one took to be made", unit="seconds"),
    gauge("series", "How many series this page has"),
    info("build_info", "Which service this is", "version", "revision"),
)  # fmt: skip

METRICS: Final[tuple[Metric, ...]] = (*CALLS, *BREAKERS, *BUDGETS, *INTAKE, *KEEPING, *SERVICE)
"""In the order in which they are told of."""


def metric(name: str) -> Metric:
    """The metric of this name, which may be without the prefix. Raises KeyError: there is none."""
    return _BY_NAME[PREFIX + name.removeprefix(PREFIX)]


def declared() -> Mapping[str, frozenset[str]]:
    """Every name that a query may use, and its labels (`job` and `instance` come from the scrape)."""
    return {name: frozenset(labels) for each in METRICS for name, labels in each.samples().items()}


_BY_NAME: Final = {each.name: each for each in METRICS}
