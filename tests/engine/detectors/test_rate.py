"""Pace: many calls a minute warn, a burst of calls one after the other stops."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tests.engine.making import SECOND, ended

from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.detectors.rate import RateDetector, RateLimits
from spanfuse_processor.engine.events import Call
from spanfuse_processor.engine.nouns import Fingerprints, Kind, Usage


def heard(
    starts: Iterable[float],
    took: float = 0.01,
    kind: Kind = Kind.MODEL,
    limits: RateLimits | None = None,
    results: Callable[[int], str] = lambda number: "",
) -> list[tuple[int, str, str]]:
    """What is said of calls that begin at `starts`, in seconds, and at which call."""
    detector = RateDetector(limits or RateLimits(), {})
    said = []
    for number, start in enumerate(starts, 1):
        at = int(start * SECOND)
        event = ended(
            number, kind=kind, started_ns=at, ended_ns=at + int(took * SECOND), usage=Usage(100, 10)
        )
        event.prints = Fingerprints(result=results(number)) if results(number) else None
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


def test_ten_calls_a_second_one_after_the_other_stop_after_five_seconds() -> None:
    assert heard(every(0.05, 200)) == [(21, "warn", "RATE"), (101, "stop", "BURST")]
    assert heard(every(0.0625, 200)) == [(21, "warn", "RATE"), (81, "stop", "BURST")]


def test_many_calls_at_once_are_no_burst_until_they_go_on() -> None:
    assert heard([*every(0.01, 90), *(start + 100 for start in every(0.01, 90))]) == [(21, "warn", "RATE")]
    assert heard(every(0.004, 1000)) == [(21, "warn", "RATE")]


def test_one_slower_second_breaks_the_burst() -> None:
    starts = [start + (1.0 if start >= 3 else 0.0) for start in every(0.05, 150)]

    assert heard(starts) == [(21, "warn", "RATE")]


def test_fast_work_that_gets_new_results_is_only_warned_of() -> None:
    said = heard(every(0.05, 400), results=lambda number: f"answer {number}")

    assert said == [(21, "warn", "RATE"), (101, "warn", "BURST")]


def test_fast_calls_that_get_the_same_few_results_stop() -> None:
    said = heard(every(0.05, 400), results=lambda number: f"answer {number % 5}")

    assert said == [(21, "warn", "RATE"), (101, "stop", "BURST")]


def test_the_same_burst_side_by_side_only_warns() -> None:
    assert heard(every(0.05, 200), took=2.0) == [(21, "warn", "RATE"), (101, "warn", "BURST")]


def test_calls_side_by_side_and_then_one_after_the_other_count_from_there() -> None:
    side_by_side = [0.0] * 30
    after = [1.0 + start for start in every(0.05, 120)]

    said = heard([*side_by_side, *after])

    assert said[-1] == (30 + 81, "stop", "BURST")


def test_embeddings_only_warn() -> None:
    assert heard(every(0.01, 600), kind=Kind.EMBEDDINGS, took=0.001) == [(501, "warn", "BURST")]


def test_tools_have_no_pace() -> None:
    assert heard(every(0.001, 500), kind=Kind.TOOL) == []


def test_late_and_shuffled_calls_count_where_they_belong() -> None:
    starts = every(2.0, 29)

    assert heard([*starts[1::2], *starts[::2]]) == [(21, "warn", "RATE")]


def test_zero_switches_a_rule_off() -> None:
    assert heard(every(0.05, 200), limits=RateLimits(per_minute=0, burst=0)) == []
    assert heard(every(0.05, 200), limits=RateLimits(per_minute=0)) == [(101, "stop", "BURST")]
    assert heard(every(0.05, 200), limits=RateLimits(burst_seconds=0)) == [(21, "warn", "RATE")]


def test_a_feature_is_only_warned_of() -> None:
    assert RateDetector.per == (Unit.RUN, Unit.FEATURE)
    assert RateDetector.only_warns == (Unit.FEATURE,)
