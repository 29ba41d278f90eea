"""The demo's book-keeping: money from the provider's counts, and counts that are held against each other."""

from __future__ import annotations

import dataclasses

import pytest

from spanfuse.demo.accounts import MISCOUNTED, price, settle, settle_real, settle_storm
from spanfuse.demo.rehearsal import rehearse
from spanfuse.demo.results import Ended
from spanfuse.demo.scenarios import HEALTHY, LOOPING, STREAMING, storm
from spanfuse.demo.usage import Tally

STOPPED = Ended("stopped", calls=6, detector="repeat", kill_latency=0.002)
COUNTED = Tally(requests=7, tool_calls=7, tool_answers=6, input_tokens=1_000_000, output_tokens=100_000)


def test_money_is_the_providers_tokens_at_the_public_price() -> None:
    used = Tally(input_tokens=1_000_000, cached_tokens=400_000, output_tokens=100_000)
    assert float(price("gpt-4o", used)) == pytest.approx(0.6 * 2.50 + 0.4 * 1.25 + 0.1 * 10.0)


def test_what_a_stop_saved_is_what_the_rest_would_have_cost() -> None:
    result = settle(LOOPING, STOPPED, dataclasses.replace(COUNTED, input_tokens=1_000, output_tokens=10))
    assert result.cost_usd == pytest.approx(0.0026)
    assert result.saved_usd == pytest.approx(float(price("gpt-4o", rehearse(LOOPING))) - 0.0026, abs=1e-6)
    assert (result.calls, result.calls_unguarded, result.kill_latency_ms) == (6, 200, 2.0)


def test_a_run_that_finished_saved_nothing() -> None:
    result = settle(HEALTHY, Ended("finished", calls=30), rehearse(HEALTHY))
    assert (result.outcome, result.saved_usd) == ("finished", 0.0)


@pytest.mark.parametrize(
    ("claimed", "outcome"), [(5, MISCOUNTED), (6, "stopped"), (7, "stopped"), (8, MISCOUNTED)]
)
def test_an_agent_is_believed_only_within_what_the_provider_saw(claimed: int, outcome: str) -> None:
    assert settle(LOOPING, dataclasses.replace(STOPPED, calls=claimed), COUNTED).outcome == outcome


@pytest.mark.parametrize(("claimed", "outcome"), [(1, MISCOUNTED), (2, "stopped")])
def test_streams_are_counted_by_request(claimed: int, outcome: str) -> None:
    ended = Ended("stopped", calls=claimed)
    assert settle(STREAMING, ended, Tally(requests=2, input_tokens=100)).outcome == outcome


def test_the_storm_adds_its_runs_up() -> None:
    used = Tally(requests=6, tool_calls=6, tool_answers=5, input_tokens=1_000, output_tokens=100)
    ended = [Ended("stopped", calls=5, kill_latency=0.001 * n) for n in range(1, 101)]
    result = settle_storm([(storm(n), each, used) for n, each in enumerate(ended)])
    assert (result.runs, result.calls_each, result.calls_made, result.stopped) == (100, 30, 500, 100)
    assert (result.p50_ms, result.p99_ms) == (50.0, 99.0)
    assert result.cost_usd == pytest.approx(100 * float(price("gpt-4.1", used)))


def test_a_run_of_the_storm_that_is_not_believed_was_not_stopped() -> None:
    used = Tally(requests=6, tool_calls=6, tool_answers=5)
    runs = [(storm(0), Ended("stopped", calls=5), used), (storm(1), Ended("stopped", calls=1), used)]
    assert settle_storm(runs).stopped == 1


def test_with_a_real_provider_nobody_knows_what_would_have_been() -> None:
    used = Tally(requests=1, input_tokens=1_000, output_tokens=10)
    result = settle_real(LOOPING, dataclasses.replace(STOPPED, used=used), "gpt-4o")
    assert (result.calls_unguarded, result.saved_usd) == (None, None)
    assert result.cost_usd == pytest.approx(0.0026)


def test_a_model_without_a_price_has_an_unknown_cost() -> None:
    assert settle_real(LOOPING, STOPPED, "no-such-model").cost_usd is None
