"""Real agents through all of it: what they did is in Jaeger, Postgres, Prometheus and at a webhook."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence

import psycopg
import pytest
from tests.stack.acting import ending
from tests.stack.far_ends import Heard, Span
from tests.stack.live import ROUNDS, Live
from tests.waiting import until

BREAKER = "spanfuse.breaker"
SOON = 20.0
"""Seconds in which what has happened must show at every far end, on a busy machine."""
PROMISED = 5.0
"""Seconds from a critical condition to the webhook, as a rule: what docs/stack.md promises."""

Say = Callable[[str, Sequence[float]], None]


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Prints a line of figures (seconds), whatever pytest captures."""

    def line(what: str, seconds: Sequence[float]) -> None:
        with capsys.disabled():
            low, middle, high = min(seconds), statistics.median(seconds), max(seconds)
            print(f"\n  {what:<44} p50 {middle:7.3f} s   ({low:.3f} to {high:.3f}, n = {len(seconds)})")

    return line


def breaker(spans: Sequence[Span]) -> list[Span]:
    return [span for span in spans if span.name == BREAKER]


def trips(live: Live) -> list[dict[str, object]]:
    with live.rows() as rows:
        return rows.ask("SELECT * FROM breaker_event WHERE kind = 'trip' ORDER BY time")


def test_what_loops_is_stopped_and_what_works_is_not(played: Live) -> None:
    outcomes = {
        name: ending(played.said, name)["outcome"]
        for name in ("looping", "alternating", "healthy", "polling")
    }

    assert outcomes == {
        "looping": "stopped",
        "alternating": "stopped",
        "healthy": "finished",
        "polling": "finished",
    }


def test_a_trip_is_a_row_that_grafana_may_read_and_not_change(played: Live) -> None:
    until(lambda: {row["feature"] for row in trips(played)} >= {"looping", "alternating"}, SOON, every=0.2)
    (row,) = (row for row in trips(played) if row["feature"] == "looping")

    assert row["message"] and row["reason"] and row["trace_id"] and row["spent_usd"] > 0  # type: ignore[operator]
    with played.rows() as rows:
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            rows.ask("DELETE FROM event")
        rows.ask("SELECT set_config('default_transaction_read_only', 'off', false)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            rows.ask("DELETE FROM event")


def test_the_trace_of_a_trip_is_in_jaeger_and_tells_of_it(played: Live) -> None:
    (row,) = (row for row in trips(played) if row["feature"] == "looping")
    until(lambda: breaker(played.jaeger.trace(str(row["trace_id"]))), SOON, every=0.2)
    spans = {span.span_id: span for span in played.jaeger.trace(str(row["trace_id"]))}

    (stop,) = (each for each in breaker(list(spans.values())) if each.tags["spanfuse.breaker.kind"] == "trip")

    assert stop.parent == row["span_id"] and stop.parent in spans
    assert stop.links and stop.service == "spanfuse"
    assert stop.events == ("spanfuse.breaker.trip",)
    assert stop.tags["spanfuse.breaker.detector"] == row["detector"]
    assert any(span.name.startswith("execute_tool") for span in spans.values())


def test_spans_of_honest_work_are_in_jaeger_as_well(played: Live) -> None:
    with played.rows() as rows:
        (row,) = rows.ask(
            """SELECT trace_id, count(*) AS steps FROM run_step WHERE feature = 'healthy'
               GROUP BY trace_id ORDER BY steps DESC LIMIT 1"""
        )

    spans = played.jaeger.trace(row["trace_id"])

    assert len(spans) >= row["steps"] > 30
    assert {each.tags["spanfuse.breaker.kind"] for each in breaker(spans)} <= {"warn"}


def test_every_target_is_scraped_and_every_rule_can_be_evaluated(played: Live) -> None:
    until(lambda: set(played.prometheus.targets().values()) == {"up"}, SOON, every=0.2)

    assert set(played.prometheus.targets()) == {"spanfuse", "otel-collector", "alertmanager"}
    assert played.prometheus.unhealthy_rules() == []


def test_trips_are_series(played: Live) -> None:
    until(lambda: played.prometheus.total('spanfuse_trips_total{job="spanfuse"}') >= 2, SOON, every=0.2)

    assert played.prometheus.total('sum(spanfuse_llm_cost_usd_total{job="spanfuse"})') > 1
    assert played.prometheus.total('{__name__=~"otelcol_receiver_accepted_spans(_total)?"}') > 100
    assert played.prometheus.total('{__name__=~"otelcol_exporter_send_failed_spans(_total)?"}') == 0


def test_alertmanager_reaches_everybody_and_the_processor_lets_it_in(played: Live) -> None:
    asked = played.prometheus.total
    until(lambda: asked('spanfuse_alert_orders_total{outcome="ignored"}') > 0, SOON, every=0.2)

    assert asked('alertmanager_notifications_total{integration="webhook"}') > 0
    assert asked('alertmanager_notifications_failed_total{integration="webhook"}') == 0


def test_a_forecast_is_at_the_webhook_before_the_budget_is_spent(played: Live, say: Say) -> None:
    told = played.hook.first("SpanfuseBudgetForecastExhaustion", budget="crawl", severity="critical")
    until(lambda: played.hook.first("SpanfuseBudgetExhausted", budget="crawl"), SOON, every=0.2)
    with played.rows() as rows:
        (mark,) = rows.ask(
            """SELECT min(extract(epoch FROM time)) AS at FROM breaker_event
               WHERE kind = 'budget' AND budget = 'crawl' AND spent_usd >= limit_usd"""
        )

    assert told is not None, "nothing was forecast"
    spent = float(mark["at"])
    assert told.at < spent
    say(f"forecast of crawl at the webhook before it ({told.text!r})", [spent - told.at])


def test_how_long_after_its_condition_a_stop_a_row_and_an_alert_come(played: Live, say: Say) -> None:
    rounds = {each["feature"]: each for each in played.said["spender"]}

    def alerts() -> list[Heard | None]:
        return [played.hook.first("SpanfuseBudgetExhausted", budget=name) for name in ROUNDS]

    until(lambda: all(alerts()), SOON, every=0.1)

    kills = [rounds[name]["closed"] - rounds[name]["ended"] for name in ROUNDS]
    rows = [played.rows_seen[name] - rounds[name]["ended"] for name in ROUNDS]
    hooks = [told.at - rounds[name]["ended"] for name, told in zip(ROUNDS, alerts(), strict=True) if told]

    say("budget spent -> stopped in the application", kills)
    say("budget spent -> row in Postgres", rows)
    say("budget spent -> critical alert at the webhook", hooks)
    assert all(each["calls"] < 10 for each in rounds.values()), json.dumps(rounds)
    assert min(kills) > 0
    assert statistics.median(hooks) <= PROMISED


def test_kill_latencies_that_applications_report_are_in_the_row_of_the_trip(played: Live, say: Say) -> None:
    def told() -> list[float]:
        return [float(str(row["kill_latency_ms"])) / 1e3 for row in trips(played) if row["kill_latency_ms"]]

    until(lambda: len(told()) >= 2, SOON, every=0.2)

    say("loop decided -> stopped, as reported", told())
    say("loop's last call -> stopped, as the agent says", [
        float(str(ending(played.said, name)["kill_latency"])) for name in ("looping", "alternating")
    ])  # fmt: skip
