"""Counts as rows: what is new is at zero once, rows may be taken one by one, exemplars are the latest."""

from __future__ import annotations

import pytest
from tests.telemetry.pages import Hands

from spanfuse_processor.telemetry.metrics import metric
from spanfuse_processor.telemetry.tally import YOUNG, Counter, Histogram

TRIPS, LATENCY = metric("trips_total"), metric("kill_latency_seconds")


@pytest.fixture
def hands() -> Hands:
    return Hands()


def counts(counter: Counter, shown: bool = True) -> list[float]:
    return [row[2] for row in counter.rows(shown)]


def test_a_series_that_was_born_by_its_first_event_is_shown_at_zero_first(hands: Hands) -> None:
    trips = Counter(TRIPS, hands)
    trips.add("main", "repeat")

    assert [counts(trips), counts(trips)] == [[0], [1]]


def test_one_that_was_shown_at_zero_before_its_first_event_is_shown_as_it_is(hands: Hands) -> None:
    trips = Counter(TRIPS, hands)
    trips.begin(("main",), ("repeat",))
    counts(trips)

    trips.add("main", "repeat")

    assert counts(trips) == [1]


def test_one_that_nobody_asked_for_while_it_was_young_is_shown_as_it_is(hands: Hands) -> None:
    trips = Counter(TRIPS, hands)
    trips.add("main", "repeat")

    hands.at += YOUNG

    assert counts(trips) == [1]


def test_what_exists_from_the_start_is_never_new_and_neither_is_it_in_this_process(hands: Hands) -> None:
    trips, other = Counter(TRIPS, hands), Counter(TRIPS, hands)
    trips.begin(("main",), ("repeat",))
    trips.show()

    for counter in (trips, other):
        counter.add("main", "repeat")

    assert (counts(trips), counts(other, shown=False)) == ([1], [1])


def test_counting_goes_on_while_rows_are_taken(hands: Hands) -> None:
    trips = Counter(TRIPS, hands)
    trips.begin(("main",), ("repeat", "cycle"))
    rows = trips.rows(False)

    first = next(rows)
    trips.add("main", "storm")

    assert [first[1], *(row[1] for row in rows)] == [("main", "repeat"), ("main", "cycle")]


def test_a_counter_points_to_the_trace_of_the_latest(hands: Hands) -> None:
    trips = Counter(TRIPS, hands)
    trips.add("main", "repeat", trace_id=b"\x01" * 16)
    trips.add("main", "repeat", trace_id=b"\x02" * 16)
    trips.add("main", "repeat")

    ((_, _, count, exemplar),) = trips.rows(False)

    assert (count, exemplar) == (3, ("02" * 16, 1, 1_000.0))


def test_one_that_is_to_point_nowhere_does_not(hands: Hands) -> None:
    findings = Counter(metric("findings_total"), hands)
    findings.add("repeat", "red", trace_id=b"\x01" * 16)

    assert [row[3] for row in findings.rows(False)] == [None]


def test_a_bound_is_part_of_its_bucket_and_each_bucket_points_to_its_latest(hands: Hands) -> None:
    latency = Histogram(LATENCY, hands)
    for seconds, trace in ((0.001, 1), (0.0011, 2), (99.0, 3), (98.0, 4)):
        latency.observe("repeat", seconds=seconds, trace_id=bytes([trace]) * 16)

    ((_, labels, (buckets, total), exemplars),) = latency.rows(False)

    assert labels == ("repeat",)
    assert (buckets[:2], buckets[-1], sum(buckets)) == ((1, 1), 2, 4)
    assert total == pytest.approx(197.0021)
    assert [(place, seen[0][:2]) for place, seen in exemplars] == [
        (0, "01"),
        (1, "02"),
        (len(buckets) - 1, "04"),
    ]


def test_many_are_counted_at_once(hands: Hands) -> None:
    gate = Histogram(metric("gate_duration_seconds"), hands)
    gate.observe_many("allow", counts=[5, 1], seconds=0.002)
    gate.observe_many("allow", counts=[1] * 100, seconds=1.0)

    ((_, _, (buckets, total), _),) = gate.rows(False)

    assert (buckets[:3], len(buckets), total) == ((6, 2, 1), len(gate.metric.buckets) + 1, 1.002)


def test_a_histogram_that_is_new_is_shown_at_zero_first_too(hands: Hands) -> None:
    latency = Histogram(LATENCY, hands)
    latency.observe("repeat", seconds=0.5, trace_id=b"\x01" * 16)

    shown = [next(latency.rows(True)) for _ in range(2)]

    assert [(sum(row[2][0]), row[2][1], len(row[3])) for row in shown] == [(0, 0.0, 0), (1, 0.5, 1)]
