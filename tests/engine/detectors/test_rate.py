"""Pace: many calls a minute warn, a burst of calls one after the other stops."""

from __future__ import annotations

from collections.abc import Iterable

from tests.engine.making import SECOND, ended

from spanfuse_processor.engine.detectors.rate import RateDetector, RateLimits
from spanfuse_processor.engine.events import Call
from spanfuse_processor.engine.nouns import Kind, Level, Usage


def heard(
    starts: Iterable[float], took: float = 0.01, kind: Kind = Kind.MODEL, limits: RateLimits | None = None
) -> list[tuple[int, str, str]]:
    """What is said of calls that begin at `starts`, in seconds, and at which call."""
    detector = RateDetector(limits or RateLimits(), {})
    said = []
    for number, start in enumerate(starts, 1):
        at = int(start * SECOND)
        event = ended(
            number, kind=kind, started_ns=at, ended_ns=at + int(took * SECOND), usage=Usage(100, 10)
        )
        finding = detector.ended(Call(event, "run", number, 0, 0, (), True))
        if finding is not None:
            said.append((number, finding.severity.value, finding.reason))
    return said


def every(gap: float, count: int) -> list[float]:
    return [number * gap for number in range(count)]


def test_twenty_calls_a_minute_pass_silently() -> None:
    assert heard(every(3.0, 200)) == []


def test_more_than_that_warn_once() -> None:
    assert heard(every(2.0, 200)) == [(21, "warn", "RATE")]


def test_fifty_calls_within_five_seconds_one_after_the_other_stop() -> None:
    assert heard(every(0.05, 200)) == [(21, "warn", "RATE"), (50, "stop", "BURST")]


def test_ten_calls_a_second_stop_only_when_they_go_on_for_five_seconds() -> None:
    assert heard([*every(0.05, 40), *(start + 100 for start in every(0.05, 40))]) == [(21, "warn", "RATE")]


def test_the_same_burst_side_by_side_only_warns() -> None:
    assert heard(every(0.05, 200), took=2.0) == [(21, "warn", "RATE"), (50, "warn", "BURST")]


def test_calls_side_by_side_and_then_one_after_the_other_count_from_there() -> None:
    side_by_side = [0.0] * 30
    after = [1.0 + start for start in every(0.05, 60)]

    said = heard([*side_by_side, *after])

    assert said[-1] == (30 + 50, "stop", "BURST")


def test_embeddings_only_warn() -> None:
    assert heard(every(0.01, 500), kind=Kind.EMBEDDINGS, took=0.001) == [(50, "warn", "BURST")]


def test_tools_have_no_pace() -> None:
    assert heard(every(0.001, 500), kind=Kind.TOOL) == []


def test_late_and_shuffled_calls_count_where_they_belong() -> None:
    starts = every(2.0, 29)

    assert heard([*starts[1::2], *starts[::2]]) == [(21, "warn", "RATE")]


def test_zero_switches_a_rule_off() -> None:
    assert heard(every(0.05, 200), limits=RateLimits(per_minute=0, burst=0)) == []
    assert heard(every(0.05, 200), limits=RateLimits(per_minute=0)) == [(50, "stop", "BURST")]


def test_a_feature_is_only_warned_of() -> None:
    assert RateDetector.per == (Level.RUN, Level.FEATURE)
    assert RateDetector.only_warns == (Level.FEATURE,)
