"""What is kept, told and reloaded as series: there from the start; lost events by where they should go."""

from __future__ import annotations

from typing import NamedTuple

from tests.telemetry.pages import page

from spanfuse_processor.telemetry.keeping import Kept
from spanfuse_processor.writing import WriterStats

NOTHING = Kept({"journal": WriterStats()}, 100, None, 0, {"applied": 0, "refused": 0}, (True, 5.0))


class There(NamedTuple):
    """How one destination is."""

    sent: int = 0
    refused: int = 0
    dropped: int = 0
    retried: int = 0
    events_lost: int = 0
    waiting: int = 0
    capacity: int = 0


def shown(kept: Kept) -> str:
    return page(kept.rows())


def test_everything_exists_from_the_start_with_and_without_a_webhook() -> None:
    text = shown(NOTHING)

    for outcome in ("written", "dropped", "refused"):
        assert f'spanfuse_store_rows_total{{outcome="{outcome}",store="journal"}} 0.0' in text
    for outcome in ("delivered", "failed", "dropped"):
        assert f'spanfuse_webhook_events_total{{outcome="{outcome}"}} 0.0' in text
    assert 'spanfuse_event_write_failures_total{sink="webhook"} 0.0' in text
    assert "spanfuse_config_last_reload_successful 1.0" in text
    assert "spanfuse_config_last_reload_success_timestamp_seconds 5.0" in text


def test_what_a_store_does_is_told_by_its_name() -> None:
    ledger = WriterStats(waiting=7, written=5, dropped=2, refused=1, failures=3, failing=True)

    text = shown(NOTHING._replace(writers={"journal": WriterStats(dropped=4), "ledger": ledger}))

    assert 'spanfuse_queue_depth{queue="ledger"} 7.0' in text
    assert 'spanfuse_queue_capacity{queue="ledger"} 100.0' in text
    assert 'spanfuse_store_failures_total{store="ledger"} 3.0' in text
    assert 'spanfuse_store_failing{store="ledger"} 1.0' in text
    assert 'spanfuse_event_write_failures_total{sink="journal"} 4.0' in text


def test_what_the_webhook_did_not_take_is_lost_and_counted() -> None:
    sent = {"delivered": 4, "failed": 2, "dropped": 1, "retries": 9, "waiting": 3}

    text = shown(NOTHING._replace(webhook=sent))

    assert 'spanfuse_event_write_failures_total{sink="webhook"} 3.0' in text
    assert "spanfuse_webhook_retries_total 9.0" in text
    assert "spanfuse_webhook_waiting 3.0" in text


def test_a_refused_configuration_shows() -> None:
    text = shown(NOTHING._replace(reloads={"applied": 1, "refused": 2}, reloaded=(False, 5.0)))

    assert "spanfuse_config_last_reload_successful 0.0" in text
    assert 'spanfuse_config_reloads_total{outcome="refused"} 2.0' in text


def test_what_stores_were_asked_is_told_by_their_kind_and_what_came_of_it() -> None:
    operations = {("postgresql", "append", "ok"): 5, ("postgresql", "append", "failed"): 2}
    durations = {("postgresql", "append"): ((4, 1, 0, 0, 0, 0, 0, 0, 2), 12.5)}

    text = shown(NOTHING._replace(operations=operations, durations=durations))

    assert 'spanfuse_store_operations_total{op="append",outcome="ok",store="postgres"} 5.0' in text
    assert 'spanfuse_store_operations_total{op="append",outcome="error",store="postgres"} 2.0' in text
    name = "spanfuse_store_operation_duration_seconds"
    assert f'{name}_bucket{{le="0.005",op="append",store="postgres"}} 5.0' in text
    assert f'{name}_count{{op="append",store="postgres"}} 7.0' in text
    assert f'{name}_sum{{op="append",store="postgres"}} 12.5' in text


def test_what_is_forwarded_is_told_by_destination() -> None:
    there = There(sent=9, dropped=1, events_lost=2, waiting=500, capacity=1_000)

    text = shown(NOTHING._replace(forwarded={"jaeger": there}))

    assert 'spanfuse_forward_requests_total{destination="jaeger",outcome="sent"} 9.0' in text
    assert 'spanfuse_forward_requests_total{destination="jaeger",outcome="retried"} 0.0' in text
    assert 'spanfuse_queue_depth{queue="forward_jaeger"} 500.0' in text
    assert 'spanfuse_event_write_failures_total{sink="otlp"} 2.0' in text
