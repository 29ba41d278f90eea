"""Counting calls for metrics: bounded labels, money in micro-dollars, unknown prices apart."""

from __future__ import annotations

from tests.engine.making import ended

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Kind, Usage
from spanfuse_processor.telemetry.meter import OTHER, Labels, Meter


def counted(meter: Meter, event: CallEnded, cost: int | None = None, **more: bool) -> None:
    meter.add(Call(event, "run", 1, 0, 0, (), True, cost, **more), event)  # type: ignore[arg-type]


def chat(number: int, model: str = "gpt-4o", **more: object) -> CallEnded:
    event = ended(number, kind=Kind.MODEL, usage=Usage(100, 10, 40, 0, 3), **more)
    event.agent, event.provider, event.model = "main", "openai", model
    return event


def test_a_model_call_counts_its_tokens_and_its_cost() -> None:
    meter = Meter()

    counted(meter, chat(1), cost=250)
    counted(meter, chat(2), cost=250)

    sums = meter.models["main", "openai", "gpt-4o", "ok"]
    assert (sums.calls, sums.input_tokens, sums.output_tokens, sums.cached_tokens) == (2, 200, 20, 80)
    assert (sums.reasoning_tokens, sums.micro_usd, sums.unpriced) == (6, 500, 0)


def test_a_model_without_a_price_never_becomes_a_label() -> None:
    meter = Meter()

    counted(meter, chat(1, model="model-that-a-client-made-up"), cost=None)

    assert meter.models["main", "openai", OTHER, "ok"].unpriced == 1


def test_a_fallback_is_spent_and_still_no_price_of_the_model() -> None:
    meter = Meter()

    counted(meter, chat(1, model="made-up"), cost=250, unpriced=True, estimated=True)

    sums = meter.models["main", "openai", OTHER, "ok"]
    assert (sums.micro_usd, sums.unpriced) == (250, 1)


def test_a_call_that_another_tells_too_uses_nothing_of_its_own() -> None:
    meter = Meter()

    counted(meter, chat(1), cost=250, counts=False)

    sums = meter.models["main", "openai", "gpt-4o", "ok"]
    assert (sums.calls, sums.input_tokens, sums.micro_usd) == (1, 0, 0)


def test_tool_calls_count_by_agent_and_outcome() -> None:
    meter = Meter()
    failing = ended(2, kind=Kind.TOOL)
    failing.error = "TimeoutError"

    counted(meter, ended(1, kind=Kind.TOOL))
    counted(meter, failing)

    assert sorted(outcome for _, outcome in meter.tools) == ["error", "ok"]


def test_labels_past_the_limit_share_one_name_and_are_counted() -> None:
    labels = Labels("agent", 2)

    named = [labels.bounded(name) for name in ("a", "b", "c", "a", "d", "")]

    assert named == ["a", "b", OTHER, "a", OTHER, "unknown"]
    assert labels.overflow == 2
