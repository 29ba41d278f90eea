"""What is kept, told and reloaded as series: there from the start; lost events by where they should go."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, generate_latest

from spanfuse_processor.telemetry.keeping import KeepingSeries, Kept
from spanfuse_processor.writing import WriterStats

NOTHING = Kept({"bill": WriterStats()}, None, 0, {"applied": 0, "refused": 0}, (True, 5.0))


def shown(kept: Kept) -> str:
    registry = CollectorRegistry()
    registry.register(KeepingSeries(lambda: kept))
    return generate_latest(registry).decode()


def test_everything_exists_from_the_start_with_and_without_a_webhook() -> None:
    page = shown(NOTHING)

    for outcome in ("written", "dropped", "refused"):
        assert f'spanfuse_store_rows_total{{outcome="{outcome}",store="bill"}} 0.0' in page
    for outcome in ("delivered", "failed", "dropped"):
        assert f'spanfuse_webhook_events_total{{outcome="{outcome}"}} 0.0' in page
    assert 'spanfuse_event_write_failures_total{sink="webhook"} 0.0' in page
    assert "spanfuse_config_last_reload_successful 1.0" in page
    assert "spanfuse_config_last_reload_success_timestamp_seconds 5.0" in page


def test_what_a_store_does_is_told_by_its_name() -> None:
    ledger = WriterStats(waiting=7, written=5, dropped=2, refused=1, failures=3, failing=True)

    page = shown(NOTHING._replace(writers={"bill": WriterStats(), "ledger": ledger}))

    assert 'spanfuse_store_waiting{store="ledger"} 7.0' in page
    assert 'spanfuse_store_failures_total{store="ledger"} 3.0' in page
    assert 'spanfuse_store_failing{store="ledger"} 1.0' in page
    assert 'spanfuse_event_write_failures_total{sink="store"} 3.0' in page


def test_what_the_webhook_did_not_take_is_lost_and_counted() -> None:
    sent = {"delivered": 4, "failed": 2, "dropped": 1, "retries": 9, "waiting": 3}

    page = shown(NOTHING._replace(webhook=sent))

    assert 'spanfuse_event_write_failures_total{sink="webhook"} 3.0' in page
    assert "spanfuse_webhook_retries_total 9.0" in page
    assert "spanfuse_webhook_waiting 3.0" in page


def test_a_refused_configuration_shows() -> None:
    page = shown(NOTHING._replace(reloads={"applied": 1, "refused": 2}, reloaded=(False, 5.0)))

    assert "spanfuse_config_last_reload_successful 0.0" in page
    assert 'spanfuse_config_reloads_total{outcome="refused"} 2.0' in page
