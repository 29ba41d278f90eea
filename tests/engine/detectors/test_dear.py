"""Agents that begin with huge contexts: several of them at a time are seen before they have done much."""

from __future__ import annotations

from typing import Any

from tests.engine.detectors.launching import Said, begun, heard, over, said
from tests.engine.making import NOON, SECOND, ended, model, span

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detectors.dear import KEPT, DearDetector, DearLimits
from spanfuse_processor.engine.events import CallEnded, CallStarted
from spanfuse_processor.engine.nouns import Kind, Usage


def dear(events: list[CallStarted], **limits: Any) -> Said:
    return said("dear", events, **limits)


def asked(number: int, parent: int, at: float, tokens: int = 710_000, cached: int = 0) -> CallEnded:
    """A model's call below a span, `at` seconds after noon."""
    begun_ns = NOON + int(at * SECOND)
    return model(
        number, parent, usage=Usage(tokens, 20, cached), started_ns=begun_ns, ended_ns=begun_ns + SECOND
    )


def forks(count: int, gap: float = 1.0, **more: Any) -> list[CallStarted]:
    """Agents that each ask a model and end, as their ends are told."""
    events: list[CallStarted] = []
    for n in range(count):
        events += [asked(100 + n, 10 + n, gap * n, **more), over(10 + n, 1, "fork", gap * n, took=5)]
    return events


def test_the_third_of_710_000_tokens_each_stops() -> None:
    assert dear(forks(4)) == [(6, "stop", "tokens")]


def test_it_is_seen_by_the_models_call_where_the_agents_start_was_told() -> None:
    events: list[CallStarted] = [asked(99, 1, 0)]
    for n in range(4):
        events += [begun(10 + n, 1, "fork", n), asked(100 + n, 10 + n, n)]

    assert dear(events) == [(7, "stop", "tokens")]


def test_half_as_much_warns() -> None:
    assert dear(forks(4, tokens=340_000)) == [(6, "warn", "tokens")]


def test_two_agents_are_not_several() -> None:
    assert dear(forks(2, tokens=1_500_000)) == []


def test_what_was_cached_counts_for_a_tenth() -> None:
    assert dear(forks(8, cached=700_000)) == []
    assert dear(forks(30, tokens=1_500_000, cached=1_490_000)) == [
        (14, "warn", "tokens"),
        (26, "stop", "tokens"),
    ]


def test_one_after_the_other_over_minutes_they_are_no_fan_out() -> None:
    assert dear(forks(12, gap=40.0)) == []


def test_further_calls_of_an_agent_are_not_its_first() -> None:
    further = [asked(100 + n, 10, n) for n in range(9)]

    assert dear([*further, over(10, 1, "fork", 0, took=30), *forks(2)[2:]]) == []


def test_calls_of_the_outermost_agent_do_not_count() -> None:
    calls = [asked(100 + n, 1, n) for n in range(9)]

    assert dear([*calls, over(1, 0, "main", 0, took=30)]) == []


def test_small_contexts_are_not_looked_at() -> None:
    assert dear(forks(60, gap=0.1, tokens=99_000)) == []


def test_a_step_between_the_agent_and_its_call_hands_it_on() -> None:
    events: list[CallStarted] = []
    for n in range(3):
        steps = [asked(100 + 10 * n + k, 200 + 10 * n + k, n + k / 10) for k in range(3)]
        for k, step in enumerate(steps):
            events += [step, ended(200 + 10 * n + k, 10 + n, Kind.OTHER)]
        events.append(over(10 + n, 1, "fork", n, took=5))

    assert dear(events) == [(21, "stop", "tokens")]


def test_a_finding_names_the_calls_and_what_they_read() -> None:
    _, finding = heard("dear", forks(3))[0]

    assert finding.message == "3 agents began within 60 s with 2130000 tokens in all"
    assert (finding.reason, finding.observed, finding.limit) == ("FAN_OUT", 2_130_000, 2_000_000)
    assert finding.spans == (span(100), span(101), span(102))


def test_zero_switches_it_off() -> None:
    assert dear(forks(9), tokens=0) == []


def test_no_detector_is_made_before_a_call_is_dear() -> None:
    assert not DearDetector.wakes(Call(asked(1, 2, 0, tokens=99_999), "run", 1, 0, 0, (), True))
    assert not DearDetector.wakes(Call(over(1, 2, "fork", 0), "run", 1, 0, 1, (), True))
    assert DearDetector.wakes(Call(asked(1, 2, 0), "run", 1, 0, 0, (), True))


def test_what_is_remembered_is_bounded() -> None:
    detector = DearDetector(DearLimits(tokens=10**12), {})
    for n in range(3 * KEPT):
        detector.ended(Call(asked(1_000 + n, 5_000 + n, n), "run", n, 0, 0, (), True))
        detector.ended(Call(over(5_000 + n, 1, "fork", n), "run", n, 0, 1, (), True))

    assert len(detector._firsts) == len(detector._agents) == len(detector._begun) == KEPT
