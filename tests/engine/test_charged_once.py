"""What real emitters sent is charged once: cached tokens as cached ones, and never on top of the others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.engine.by_hand import BOOK, EPOCH, by_hand

from spanfuse_processor.engine import names
from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.events import CallEnded, RawSpan
from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.genai_book import GenaiPrices
from spanfuse_processor.engine.nouns import MicroUsd, Usage
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.reading.prints import pack_arguments
from spanfuse_processor.engine.tree.spending import Amended
from spanfuse_processor.receiver.otlp_json import raw_spans_from_json

RECORDINGS = Path(__file__).parent.parent / "recordings"
SHARED = Path(__file__).parents[3] / "shared" / "data" / "spans"
PRINTS = Fingerprinter()
OWNERS = {
    "gpt-4o-mini": "openai",
    "text-embedding-3-small": "openai",
    "claude-sonnet-4-5": "anthropic",
    "gemini-2.5-flash": "google",
}
# How many responses a recorded model gave; what each used is known (see `used`).
RECORDED = {
    "adk.nested.native": ("gemini-2.5-flash", 4),
    "anthropic_sdk.chat.bare": ("claude-sonnet-4-5", 1),
    "anthropic_sdk.chat.oldllmetry": ("claude-sonnet-4-5", 1),
    "anthropic_sdk.chat.openlit": ("claude-sonnet-4-5", 1),
    "langchain.loop6.otelgenai.content": ("gpt-4o-mini", 7),
    "langchain.nested.otelgenai.content": ("gpt-4o-mini", 4),
    "openai_sdk.chat.otelgenai.content_events": ("gpt-4o-mini", 1),
    "openai_sdk.retry.openllmetry": ("gpt-4o-mini", 1),
    "pydantic_ai.retry.native": ("gpt-4o-mini", 1),
    "strands.retry.native": ("gpt-4o-mini", 1),
    "trap.links_instead_of_parents.otelgenai": ("gpt-4o-mini", 3),
    "vercel_ai.chat.v6": ("gpt-4o-mini", 1),
    "vercel_ai.chat.v7": ("gpt-4o-mini", 1),
}


def used(response: int, model: str) -> Usage:
    """What the scripted provider says that its so manieth response used."""
    written = 64 if model.startswith("claude") and response == 0 else 0
    return Usage(200 + 50 * response, 20 + 3 * response, 128 if response else 0, written)


class Books:
    """An engine, and what somebody has written down who hears of every call and of what was amended."""

    def __init__(self) -> None:
        self.told: dict[bytes, tuple[Usage, MicroUsd | None]] = {}
        self.engine = Engine(Policy(), GenaiPrices(), observer=self.hear, amend=self.amend)

    def hear(self, call: Call, event: CallEnded) -> None:
        if event.usage is not None:
            self.told[event.span_id] = (event.usage, call.cost) if call.counts else (Usage(), 0)

    def amend(self, amended: Amended) -> None:
        self.told[amended.span_id] = (amended.usage, amended.cost)

    def read(self, spans: list[RawSpan]) -> int:
        """The cost of all runs, which is that of what was written down."""
        for span in spans:
            self.engine.ingest(span, 0.0)
        cost = sum(run.cost for run in self.engine.runs())
        assert cost == sum(cost or 0 for _, cost in self.told.values())
        return cost

    def tokens(self) -> tuple[int, ...]:
        """Input, output, cached and written tokens."""
        fields = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens")
        return tuple(sum(getattr(usage, field) for usage, _ in self.told.values()) for field in fields)


def day_of(spans: list[RawSpan]) -> date:
    return EPOCH + timedelta(days=spans[0].end_ns // 86_400_000_000_000)


def hand(model: str, usage: Usage, day: date) -> int:
    return by_hand(BOOK[OWNERS[model]][model], usage, day, "")


@pytest.mark.parametrize("recording", RECORDED)
def test_what_was_recorded_costs_what_the_responses_cost(recording: str) -> None:
    model, responses = RECORDED[recording]
    spans = raw_spans_from_json((RECORDINGS / f"{recording}.json").read_bytes()).spans

    cost = Books().read(spans)

    assert cost == sum(hand(model, used(number, model), day_of(spans)) for number in range(responses))


def ours(responses: int, model: str) -> Iterator[RawSpan]:
    """The same as our own library writes it, as the dialect of its own reads it."""
    for number in range(responses):
        usage = used(number, model)
        attributes: dict[str, object] = {
            names.OPERATION: "chat",
            names.RUN: "r1",
            names.PROVIDER: OWNERS[model],
            names.REQUEST_MODEL: model,
            names.ARGUMENTS: pack_arguments(PRINTS.fingerprints({"n": number}, "x")),
            names.INPUT_TOKENS: usage.input_tokens,
            names.OUTPUT_TOKENS: usage.output_tokens,
            names.CACHED_TOKENS: usage.cached_tokens,
            names.CACHE_WRITE_TOKENS: usage.cache_write_tokens,
        }
        at = 1_795_000_000_000_000_000 + number
        span = number.to_bytes(8, "big")
        yield RawSpan(b"t" * 16, b"s" + span[1:], b"", "chat", at, at + 1, attributes, scope=names.SCOPE)


@pytest.mark.parametrize("model", ["gpt-4o-mini", "claude-sonnet-4-5"])
def test_our_own_spans_cost_what_the_responses_cost(model: str) -> None:
    spans = list(ours(5, model))
    books = Books()

    cost = books.read(spans)

    assert cost == sum(hand(model, used(number, model), day_of(spans)) for number in range(5))
    assert books.tokens()[2:] == (4 * 128, 64 if model.startswith("claude") else 0)


# With all recordings beside the project: where an emitter told all, it is charged all, to the micro-dollar.
TRUTH: dict[str, Any] = (
    json.loads((SHARED / "truth.json").read_text()) if (SHARED / "truth.json").exists() else {}
)


@pytest.mark.skipif(not TRUTH, reason="the recordings are not there")
def test_every_recording_is_charged_what_its_responses_cost_where_it_tells_of_them() -> None:
    exact = 0
    for name, known in TRUTH.items():
        books, spans = Books(), raw_spans_from_json((SHARED / name).read_bytes()).spans
        cost = books.read(spans)
        visible = known["truth"]["totals_visible_to_client"]
        told = [visible[field] for field in ("input_tokens", "output_tokens")]
        parts = [visible[field] for field in ("cached_input_tokens", "cache_write_tokens")]
        if not spans or list(books.tokens()) != told + parts:
            continue
        exact += 1
        assert cost == sum(_responses(known["truth"]["responses"], day_of(spans))), name

    assert exact >= 139


def _responses(responses: list[dict[str, Any]], day: date) -> Iterator[int]:
    for each in responses:
        usage = each.get("usage")
        if usage and each.get("usage_sent"):
            counts = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_tokens")
            yield hand(each["request_model"], Usage(*(usage[count] for count in counts)), day)
