"""Thresholds: what is on, who speaks first, and what is left to say."""

from __future__ import annotations

from dataclasses import dataclass

from tests.engine.making import model

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.policy import DetectorLimits
from spanfuse_processor.engine.thresholds import Measure, Threshold, after, reached, tell, thresholds
from spanfuse_processor.engine.verdicts import Severity

WARN, STOP = Severity.WARN, Severity.STOP
MEASURES = (
    Measure(("half", "most"), 1, "{0:.0f} percent of {1}", "less"),
    Measure(("seconds",), 1_000, "{1} took {0:.1f} s", "a faster one"),
)


@dataclass(frozen=True, slots=True)
class Own(DetectorLimits):
    half: float = 50.0
    most: float = 80.0
    seconds: float = 2.5
    half_stop: float = 100.0
    seconds_stop: float = 0.0


ON = thresholds(Own(), MEASURES)


def test_those_that_stop_come_first_and_those_at_zero_are_off() -> None:
    assert [each.rule for each in ON] == ["half_stop", "half", "most", "seconds"]


def test_a_limit_is_in_the_unit_that_is_measured() -> None:
    assert ON[-1] == Threshold("seconds", WARN, 1, 2_500)


def test_a_threshold_is_reached_at_its_limit() -> None:
    assert reached(ON, (49, 2_499)) is None
    assert reached(ON, (50, 0)) == Threshold("half", WARN, 0, 50)
    assert reached(ON, (0, 2_500)) == Threshold("seconds", WARN, 1, 2_500)


def test_the_one_that_stops_speaks_before_those_that_warn() -> None:
    assert reached(ON, (100, 9_000)) == Threshold("half_stop", STOP, 0, 100)


def test_what_was_said_silences_itself_and_lower_ones_of_its_measure() -> None:
    most = ON[2]

    assert [each.rule for each in after(ON, most)] == ["half_stop", "seconds"]


def test_after_a_stop_nothing_is_left_to_say() -> None:
    assert after(ON, ON[0]) == ()


def test_a_finding_has_the_numbers_in_the_unit_of_the_field() -> None:
    call = Call(model(1), "run", 7, 0, 0, (), True)

    finding = tell(call, "own", MEASURES[1], ON[-1], 3_100, prints=("a1",))

    assert (finding.detector, finding.rule, finding.severity) == ("own", "seconds", WARN)
    assert (finding.observed, finding.limit, finding.reason) == (3.1, 2.5, "LIMIT")
    assert (finding.message, finding.cleared_by) == ("good took 3.1 s", "a faster one")
    assert (finding.first_span_id, finding.span_id, finding.prints) == (b"\0" * 7 + b"\1",) * 2 + (("a1",),)
