"""Figures and calls in words."""

from __future__ import annotations

import pytest
from tests.replaying.made import model, step

from spanfuse_processor.engine import Kind
from spanfuse_processor.replaying.journal import Step
from spanfuse_processor.replaying.telling.words import answer, called, count, duration, money, size


@pytest.mark.parametrize(
    ("seconds", "told"), [(0, "0.0s"), (1.26, "1.3s"), (119.9, "119.9s"), (120, "2:00"), (86_400, "24:00:00")]
)
def test_durations_are_short(seconds: float, told: str) -> None:
    assert duration(int(seconds * 1e9)) == told


def test_money_is_told_to_the_last_micro_dollar() -> None:
    assert [money(cost) for cost in (0, 1, 1_234_567_890)] == ["0.000000", "0.000001", "1,234.567890"]


@pytest.mark.parametrize(("number", "told"), [(0, "0 calls"), (1, "1 call"), (1_234, "1,234 calls")])
def test_counts_agree_with_their_nouns(number: int, told: str) -> None:
    assert count(number, "call") == told


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0"), (999, "999"), (1_500, "1.5k"), (2_000_000, "2000.0k")]
)
def test_sizes_are_short(number: int, told: str) -> None:
    assert size(number) == told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (step(1), "search"),
        (step(1, name=""), "?"),
        (step(1, name="a\x1b[2J"), "a\\x1b[2J"),
        (model(1), "model gpt-4o"),
        (step(1, "planner", Kind.AGENT), "agent planner"),
    ],
)
def test_calls_are_told_by_name(given: Step, told: str) -> None:
    assert called(given) == told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (step(1), "ca3e 18"),
        (step(1, came=""), ""),
        (step(1, empty=True), "empty"),
        (step(1, error="timeout"), "failed: timeout"),
    ],
)
def test_answers_are_told_by_digest_or_by_how_they_failed(given: Step, told: str) -> None:
    assert answer(given) == told
