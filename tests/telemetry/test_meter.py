"""Counting calls for metrics: bounded labels, money in micro-dollars, unknown prices apart."""

from __future__ import annotations

from tests.engine.making import ended
from tests.telemetry.pages import Hands, page, value

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import NOBODY, Kind, Usage
from spanfuse_processor.engine.runs.record import Record
from spanfuse_processor.telemetry.declaring import OTHER
from spanfuse_processor.telemetry.meter import MAX_PROVIDERS, Meter


def counted(meter: Meter, event: CallEnded, cost: int | None = None, **more: bool) -> None:
    meter.tick()
    meter.add(Call(event, "run", 1, 0, 0, (), True, cost, **more), event)  # type: ignore[arg-type]


def chat(number: int, model: str = "gpt-4o", **more: object) -> CallEnded:
    event = ended(number, kind=Kind.MODEL, usage=Usage(100, 10, 40, 0, 3), **more)
    event.agent, event.model, event.provider = "main", model, event.provider or "openai"
    return event


def test_a_model_call_counts_its_tokens_and_its_cost() -> None:
    meter = Meter(Hands())

    counted(meter, chat(1), cost=250)
    counted(meter, chat(2), cost=250)

    sums = meter.models["main", "openai", "gpt-4o", "ok"]
    assert (sums.calls, sums.input_tokens, sums.output_tokens, sums.cached_tokens) == (2, 200, 20, 80)
    assert (sums.reasoning_tokens, sums.micro_usd, sums.unpriced) == (6, 500, 0)


def test_a_model_without_a_price_never_becomes_a_label() -> None:
    meter = Meter(Hands())

    counted(meter, chat(1, model="model-that-a-client-made-up"), cost=None)

    assert meter.models["main", "openai", OTHER, "ok"].unpriced == 1


def test_a_fallback_is_spent_and_still_no_price_of_the_model() -> None:
    meter = Meter(Hands())

    counted(meter, chat(1, model="made-up"), cost=250, unpriced=True, estimated=True)

    sums = meter.models["main", "openai", OTHER, "ok"]
    assert (sums.micro_usd, sums.unpriced) == (250, 1)


def test_a_call_that_another_tells_too_uses_nothing_of_its_own() -> None:
    meter = Meter(Hands())

    counted(meter, chat(1), cost=250, counts=False)

    sums = meter.models["main", "openai", "gpt-4o", "ok"]
    assert (sums.calls, sums.input_tokens, sums.micro_usd) == (1, 0, 0)


def test_calls_count_by_agent_and_outcome() -> None:
    meter = Meter(Hands())

    for number, error in enumerate(("", "TimeoutError", "spanfuse.errors.BreakerOpen", "a.b.RunStopped")):
        counted(meter, ended(number, kind=Kind.TOOL, error=error, agent="main"))
        counted(meter, chat(number, error=error), cost=1)

    counts = {
        outcome: value(meter.rows(False), "tool_calls_total", agent="main", outcome=outcome)
        for outcome in ("ok", "error", "killed")
    }
    assert counts == {"ok": 1, "error": 1, "killed": 2}
    assert {labels[3]: each.calls for labels, each in meter.models.items()} == counts


def test_what_was_refused_counts_as_calls_and_costs_nothing() -> None:
    meter = Meter(Hands())

    meter.refused("main", tool=False, count=2)
    meter.refused("main", tool=True, count=3)

    rows = list(meter.rows(False))
    denied = {"agent": "main", "outcome": "denied"}
    assert value(rows, "llm_calls_total", provider="unknown", model=OTHER, **denied) == 2
    assert value(rows, "tool_calls_total", **denied) == 3
    assert "spanfuse_llm_cost_usd_total{" not in page(rows)


def test_sums_over_providers_and_outcomes_become_one_series_of_tokens_and_of_money() -> None:
    meter = Meter(Hands())
    counted(meter, chat(1), cost=250_000)
    counted(meter, chat(2, error="TimeoutError"), cost=500_000)

    rows = list(meter.rows(False))

    assert value(rows, "llm_cost_usd_total", agent="main", model="gpt-4o") == 0.75
    assert value(rows, "llm_tokens_total", agent="main", model="gpt-4o", type="cache_read") == 80
    assert value(rows, "llm_unpriced_calls_total", model=OTHER) == 0


def test_calls_and_spend_point_to_the_trace_of_the_latest() -> None:
    hands = Hands()
    meter = Meter(hands)
    for number, cost in ((1, 250_000), (2, 500_000)):
        hands.at = 1_000.0 + number
        counted(meter, chat(number, of=number), cost=cost)

    seen = {name: exemplar for name, _, _, exemplar in meter.rows(False) if exemplar}

    latest = (2).to_bytes(16, "big").hex()
    assert seen["spanfuse_llm_calls_total"] == (latest, 1, 1_002.0)
    assert seen["spanfuse_llm_cost_usd_total"] == (latest, 0.5, 1_002.0)


def test_providers_are_bounded_too() -> None:
    meter = Meter(Hands())
    for number in range(MAX_PROVIDERS + 5):
        counted(meter, chat(number, provider=f"p{number}"), cost=1)

    assert meter.providers.overflow == 5
    assert len({labels[1] for labels in meter.models}) == MAX_PROVIDERS + 1


def test_how_long_calls_took_is_told_by_their_kind() -> None:
    meter = Meter(Hands())
    counted(meter, ended(1, kind=Kind.AGENT))
    backwards = ended(2, kind=Kind.AGENT)
    backwards.ended_ns = backwards.started_ns - 5

    counted(meter, backwards)

    rows = list(meter.rows(False))
    assert value(rows, "call_duration_seconds_count", kind="agent") == 2
    assert value(rows, "call_duration_seconds_sum", kind="agent") == 1.0
    assert value(rows, "call_duration_seconds_bucket", kind="tool", le="+Inf") == 0


def test_a_run_that_was_stopped_is_neither_good_nor_failed() -> None:
    meter = Meter(Hands())
    good, halted = (Record(name, 1, b"t" * 16, NOBODY, 0) for name in "ab")
    halted.killed()

    for record, error in (
        (good, ""),
        (good, "ValueError"),
        (good, "spanfuse.errors.BreakerOpen"),
        (halted, ""),
    ):
        meter.over(record, error)

    rows = list(meter.rows(False))
    counts = [value(rows, "runs_total", agent="unknown", outcome=each) for each in ("ok", "error", "stopped")]
    assert counts == [1, 1, 2]
