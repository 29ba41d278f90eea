"""Processor: does the service keep up, and can it be trusted?"""

from __future__ import annotations

from typing import Any

from grafana.building import links
from grafana.building.frame import framed
from grafana.building.panels import CALM, GOOD_AT_ZERO, Panel, Steps, limit_line, lines, number
from grafana.building.queries import Query, newest, seen, series

QUESTION = "Does the service keep up, and can it be trusted?"
ME = 'job="$job"'
UP: Steps = [(None, "red"), (1, "green")]
LAG: Steps = [(None, "green"), (1, "orange"), (5, "red")]
"""Seconds; at five there is an alert."""
FORECAST_AGE: Steps = [(None, "green"), (30, "orange"), (120, "red")]
"""Seconds; at two minutes there is an alert."""


def dashboard() -> dict[str, Any]:
    """The document."""
    panels = [*_seen(), *_late(), *_intake(), *_work(), *_keeping(), *_page(), *_trust()]
    return framed(links.PROCESSOR, "Processor", QUESTION, panels)


def _rate(metric: str, by: str, legend: str = "", only: str = "", ref: str = "A") -> Query:
    rate = f"sum by ({by}) (rate({metric}{{{ME}{only}}}[$__rate_interval]))"
    return series(rate, legend or f"{{{{{by}}}}}", ref)


def _quantiles(metric: str, by: str = "", exemplars: bool = False) -> list[Query]:
    """The middle, and what one call in a hundred takes longer than."""
    of = f"{{{{{by}}}}}, " if by else ""
    grouped = f"sum by (le{', ' + by if by else ''}) (rate({metric}_bucket{{{ME}}}[$__rate_interval]))"
    return [
        series(f"histogram_quantile({share}, {grouped})", of + legend, ref, exemplars and ref == "A")
        for share, legend, ref in ((0.5, "half are faster", "A"), (0.99, "99 of 100 are faster", "B"))
    ]


def _seen() -> list[Panel]:
    """Whether it is there, and sees everything."""
    return [
        number(
            "Services up",
            "Processes of the service that Prometheus can reach. 0: nothing is judged, and nothing is "
            "stopped.",
            "none",
            newest(f"sum(up{{{ME}}})"),
            UP,
            nothing="0",
        ),
        number(
            "Spans per second",
            "Spans that were taken in, by any transport.",
            "suffix:/s",
            series(f"sum(rate(spanfuse_spans_received_total{{{ME}}}[$__rate_interval]))", "spans"),
            CALM,
            decimals=1,
            plot=True,
        ),
        number(
            "Spans not judged",
            "Spans of the shown time that were taken in and could not be judged. What is not judged is not "
            "stopped.",
            "none",
            newest(f"round(sum(increase(spanfuse_spans_dropped_total{{{ME}}}[$__range])))"),
            GOOD_AT_ZERO,
        ),
    ]


def _late() -> list[Panel]:
    """Whether it is late, or wrong."""
    return [
        number(
            "Span lag, slow",
            "From the end of a span until it is judged, over five minutes: 95 of 100 are faster. It "
            "includes what exporters and Collectors wait before they send.",
            "s",
            newest(f"max(job:spanfuse_span_lag_seconds:p95_5m{{{ME}}})"),
            LAG,
            nothing="none",
        ),
        number(
            "Forecasts are old by",
            "When the service last looked ahead at all budgets. Forecasts that are older than two minutes "
            "warn of nothing.",
            "s",
            newest(f"time() - max(spanfuse_forecast_last_success_timestamp_seconds{{{ME}}})"),
            FORECAST_AGE,
            nothing="never",
        ),
        number(
            "Own faults",
            "Errors inside the service that it survived, in the shown time. Each is a bug: the log has its "
            "traceback.",
            "none",
            newest(f"round(sum(increase(spanfuse_internal_faults_total{{{ME}}}[$__range])))"),
            GOOD_AT_ZERO,
        ),
    ]


def _dropped() -> Query:
    """Only what there is: a reason that never applied is no line."""
    return series(seen("spanfuse_spans_dropped_total", ME, "reason"), "not judged: {{reason}}", "B")


def _intake() -> list[Panel]:
    fill = lines(
        "How full queues are",
        "What waits, as a share of what may wait. At the line there is an alert; a full queue sends senders "
        "away, or drops.",
        "percentunit",
        series(f"max by (queue) (job_queue:spanfuse_queue_depth_per_capacity:ratio{{{ME}}})", "{{queue}}"),
    )
    return [
        lines(
            "Spans in, and not judged",
            "Spans taken in each second by transport, and those that could not be judged, by reason.",
            "suffix:/s",
            _rate("spanfuse_spans_received_total", "transport"),
            _dropped(),
        ),
        lines(
            "Span lag",
            "From the end of a span until it is judged. Dots are single spans, and lead to their trace.",
            "s",
            *_quantiles("spanfuse_span_lag_seconds", exemplars=True),
        ),
        limit_line(fill.max(1), 0.8),
    ]


def _work() -> list[Panel]:
    return [
        lines(
            "Detection latency",
            "From the end of the offending call to the decision to stop. No line where nothing was stopped.",
            "s",
            *_quantiles("spanfuse_detection_latency_seconds", exemplars=True),
            nothing="Nothing was stopped",
        ),
        lines(
            "Gate latency",
            "How long gates in applications took where they did not answer at once: calls that waited for a "
            "throttle, a lease or a processor. Answers at once are not in it.",
            "s",
            *_quantiles("spanfuse_gate_duration_seconds"),
            nothing="No gate has reported",
        ),
        lines(
            "Runs and stops held",
            "Runs in memory, orders in force, leases on budgets, and applications that watch for orders.",
            "short",
            series(f"sum(spanfuse_active_runs{{{ME}}})", "runs that go on"),
            series(f"sum(spanfuse_active_traces{{{ME}}})", "runs held", "B"),
            series(f"sum(spanfuse_directives_standing{{{ME}}})", "orders in force", "C"),
            series(f"sum(spanfuse_watchers{{{ME}}})", "applications", "D"),
            series(f"sum(spanfuse_leases{{{ME}}})", "leases", "E"),
        ),
    ]


def _keeping() -> list[Panel]:
    return [
        lines(
            "Stores: operations",
            "What stores were asked for each second, and what came of it. Decisions wait for none of it.",
            "suffix:/s",
            _rate("spanfuse_store_operations_total", "store, outcome", "{{store}}: {{outcome}}"),
        ),
        lines(
            "Stores: latency",
            "How long stores took. It is behind the decisions: slow means late in the record, not late to "
            "stop.",
            "s",
            *_quantiles("spanfuse_store_operation_duration_seconds", "store"),
        ),
        lines(
            "Traces handed on",
            "Requests to the trace backends each second, by what came of them. Retried is a backend that is "
            "slow; dropped is one that was away too long.",
            "suffix:/s",
            _rate(
                "spanfuse_forward_requests_total",
                "destination, outcome",
                "{{destination}}: {{outcome}}",
            ),
            nothing="Nothing is handed on",
        ),
    ]


def _page() -> list[Panel]:
    return [
        lines(
            "Cost of being watched",
            "How long a scrape takes, and how much of it the service spends on making the page. It is made "
            "apart from the decisions.",
            "s",
            series(f"max(scrape_duration_seconds{{{ME}}})", "scrape"),
            series(f"max(spanfuse_exposition_seconds{{{ME}}})", "making the page", "B"),
        ),
        lines(
            "Series",
            "Series on the page. It is bounded by the limits of agents, models and budgets; a climb to the "
            "limit is many names, see the overflow beside it.",
            "short",
            series(f"max(spanfuse_series{{{ME}}})", "series"),
        ),
        lines(
            "Names folded into other",
            "Values of labels past their limits: they are counted, but not told apart. Raise `metrics` in "
            "the configuration if they matter.",
            "suffix:/s",
            _rate("spanfuse_label_overflow_total", "label"),
            at_least=1,
        ),
    ]


def _trust() -> list[Panel]:
    return [
        lines(
            "Events that are lost",
            "Events that could not be written to the record, sent to the webhook or to the trace backend, "
            "each second.",
            "suffix:/s",
            _rate("spanfuse_event_write_failures_total", "sink"),
            at_least=1,
        ),
        lines(
            "Odd spans",
            "Spans that were judged, or not, but are not as they should be: told twice, without a parent, "
            "of no call.",
            "suffix:/s",
            _rate("spanfuse_spans_odd_total", "kind"),
            at_least=1,
        ),
        lines(
            "Calls without a price",
            "Calls of models whose price nobody knows: they cost nothing in budgets. Give them a price in "
            "the policy.",
            "suffix:/s",
            _rate("spanfuse_llm_unpriced_calls_total", "model"),
            at_least=1,
        ),
    ]
