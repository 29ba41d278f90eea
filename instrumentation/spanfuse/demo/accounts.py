"""The demo's book-keeping: what a run cost, what it would have cost, and whether two counts agree.

Rule 1: tokens are the provider's, prices the public book's (`genai-prices`), the other course of things is
rehearsed; the processor's own figures are not asked. Rule 2: an agent that claims other calls than the
provider saw is not believed. Rule 3: with a real provider nobody knows what would have been: None.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import genai_prices

from spanfuse.demo.rehearsal import rehearse
from spanfuse.demo.results import Ended, RunResult, StormResult, milliseconds, percentile
from spanfuse.demo.scenarios import Scenario
from spanfuse.demo.usage import Tally

MISCOUNTED = "miscounted"
"""The outcome of a run whose agent and provider disagree about its calls."""


def settle(scenario: Scenario, ended: Ended, counted: Tally) -> RunResult:
    """The result of a run whose tokens the demo's provider has counted."""
    unguarded = rehearse(scenario)
    spent, whole = price(scenario.model, counted), price(scenario.model, unguarded)
    return RunResult(
        scenario=scenario,
        outcome=ended.outcome if _agrees(scenario, ended, counted) else MISCOUNTED,
        detector=ended.detector,
        calls=ended.calls,
        calls_unguarded=calls(scenario, unguarded),
        cost_usd=round(float(spent), 6),
        saved_usd=round(float(whole - spent), 6),
        kill_latency_ms=milliseconds(ended.kill_latency),
    )


def settle_real(scenario: Scenario, ended: Ended, model: str) -> RunResult:
    """The result of a run with a real provider, whose usage the agent has added up."""
    return RunResult(
        scenario=scenario,
        outcome=ended.outcome,
        detector=ended.detector,
        calls=ended.calls,
        calls_unguarded=None,
        cost_usd=_known_price(model, ended.used),
        saved_usd=None,
        kill_latency_ms=milliseconds(ended.kill_latency),
    )


def settle_storm(runs: Sequence[tuple[Scenario, Ended, Tally]]) -> StormResult:
    """The result of the storm, whose runs are all alike."""
    unguarded = rehearse(runs[0][0])
    spent = sum(price(scenario.model, counted) for scenario, _, counted in runs)
    whole = price(runs[0][0].model, unguarded) * len(runs)
    latencies = [ended.kill_latency for _, ended, _ in runs if ended.kill_latency is not None]
    return StormResult(
        runs=len(runs),
        calls_each=unguarded.tool_calls,
        calls_made=sum(ended.calls for _, ended, _ in runs),
        stopped=sum(_stopped(*each) for each in runs),
        cost_usd=round(float(spent), 6),
        saved_usd=round(float(whole - spent), 6),
        p50_ms=milliseconds(percentile(latencies, 0.50)),
        p99_ms=milliseconds(percentile(latencies, 0.99)),
    )


def calls(scenario: Scenario, tally: Tally) -> int:
    """The calls of a run as they are counted: of tools, or of the model where there are no tools."""
    return tally.tool_calls if scenario.toolbox() else tally.requests


def price(model: str, used: Tally) -> Decimal:
    """US dollars for what was used.

    Raises:
        LookupError: the book does not know the model.
    """
    usage = genai_prices.Usage(
        input_tokens=used.input_tokens,
        cache_read_tokens=used.cached_tokens,
        output_tokens=used.output_tokens,
    )
    return genai_prices.calc_price(usage, model).total_price


def _known_price(model: str, used: Tally) -> float | None:
    try:
        return round(float(price(model, used)), 6)
    except LookupError:
        return None


def _stopped(scenario: Scenario, ended: Ended, counted: Tally) -> bool:
    return ended.outcome == "stopped" and _agrees(scenario, ended, counted)


def _agrees(scenario: Scenario, ended: Ended, counted: Tally) -> bool:
    """The calls made are at most those that the model asked for, at least those that it saw answered."""
    if not scenario.toolbox():
        return ended.calls == counted.requests
    return counted.tool_answers <= ended.calls <= counted.tool_calls
