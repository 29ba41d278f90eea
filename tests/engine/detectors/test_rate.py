"""Pace: many calls a minute warn; a burst, and calls faster than any model, stop what gets nowhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tests.engine.making import SECOND, ended

from spanfuse_processor.engine.calls import Call, News
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.detectors.rate import RateDetector, RateLimits
from spanfuse_processor.engine.nouns import Fingerprints, Kind, Usage

Said = list[tuple[int, str, str]]
ONLY_MINUTE_AND_BURST = RateLimits(rapid=0)


def heard(
    starts: Iterable[float],
    took: float = 0.01,
    kind: Kind = Kind.MODEL,
    limits: RateLimits = ONLY_MINUTE_AND_BURST,
    results: Callable[[int], str] = lambda number: "",
    sizes: Callable[[int], int] = lambda number: 100,
    news: News = News.UNKNOWN,
    **more: Any,
) -> Said:
    """What is said of calls that begin at `starts`, in seconds, and at which call."""
    detector = RateDetector(limits, {})
    said = []
    for number, start in enumerate(starts, 1):
        at = int(start * SECOND)
        event = ended(number, kind=kind, started_ns=at, ended_ns=at + int(took * SECOND), **more)
        event.usage = Usage(sizes(number), 10) if sizes(number) else None
        event.prints = Fingerprints(result=results(number)) if results(number) else None
        finding = detector.ended(Call(event, "run", number, 0, 0, (), True, news=news))
        if finding is not None:
            said.append((number, finding.severity.value, finding.rule))
    return said


def every(gap: float, count: int) -> list[float]:
    return [number * gap for number in range(count)]


def mails(number: int) -> int:
    """The sizes of mails that have nothing to do with one another."""
    return 90 + number * 7 % 11


class TestAMinute:
    def test_twenty_calls_pass_silently(self) -> None:
        assert heard(every(3.0, 200)) == []

    def test_more_than_that_warn_once(self) -> None:
        assert heard(every(2.0, 200)) == [(21, "warn", "per_minute")]

    def test_late_and_shuffled_calls_count_where_they_belong(self) -> None:
        starts = every(2.0, 29)

        assert heard([*starts[1::2], *starts[::2]]) == [(21, "warn", "per_minute")]

    def test_tools_have_no_pace(self) -> None:
        assert heard(every(0.001, 500), kind=Kind.TOOL) == []


class TestABurst:
    def test_of_ten_a_second_one_after_the_other_stops_after_five_seconds(self) -> None:
        assert heard(every(0.05, 200)) == [(21, "warn", "per_minute"), (101, "stop", "burst")]
        assert heard(every(0.0625, 200)) == [(21, "warn", "per_minute"), (81, "stop", "burst")]

    def test_of_nine_a_second_is_none(self) -> None:
        assert heard(every(1 / 9, 400)) == [(21, "warn", "per_minute")]

    def test_is_no_burst_until_it_goes_on(self) -> None:
        twice = [*every(0.01, 90), *(start + 100 for start in every(0.01, 90))]

        assert heard(twice) == [(21, "warn", "per_minute")]
        assert heard(every(0.004, 1000)) == [(21, "warn", "per_minute")]

    def test_is_broken_by_one_slower_second(self) -> None:
        starts = [start + (1.0 if start >= 3 else 0.0) for start in every(0.05, 150)]

        assert heard(starts) == [(21, "warn", "per_minute")]

    def test_of_calls_side_by_side_only_warns(self) -> None:
        said = heard(every(0.05, 200), took=2.0)

        assert said == [(21, "warn", "per_minute"), (101, "warn", "burst")]

    def test_counts_from_where_calls_begin_to_follow_one_another(self) -> None:
        side_by_side = [0.0] * 30
        after = [1.0 + start for start in every(0.05, 120)]

        assert heard([*side_by_side, *after])[-1] == (30 + 81, "stop", "burst")

    def test_of_embeddings_only_warns(self) -> None:
        said = heard(every(0.01, 600), kind=Kind.EMBEDDINGS, took=0.001)

        assert said == [(501, "warn", "burst")]

    def test_of_failures_stops(self) -> None:
        said = heard(every(0.05, 200), sizes=lambda number: 0, error="RateLimitError")

        assert said[-1] == (101, "stop", "burst")


class TestWhatIsNew:
    """Fast work that brings something new is only warned of."""

    WARNED: Said = [(21, "warn", "per_minute"), (101, "warn", "burst")]
    STOPPED: Said = [(21, "warn", "per_minute"), (101, "stop", "burst")]

    def test_a_call_that_was_not_made_before(self) -> None:
        assert heard(every(0.05, 400), news=News.NEW) == self.WARNED

    def test_another_answer_where_nobody_knows_what_was_asked(self) -> None:
        assert heard(every(0.05, 400), results=lambda number: f"answer {number}") == self.WARNED

    def test_a_smaller_input_where_the_answer_is_one_of_a_few(self) -> None:
        def label(number: int) -> str:
            return ("spam", "ham")[number % 2]

        assert heard(every(0.05, 400), results=label, sizes=mails) == self.WARNED
        assert heard(every(0.05, 400), results=label) == self.STOPPED

    def test_a_smaller_input_where_nothing_else_is_known(self) -> None:
        assert heard(every(0.05, 400), sizes=mails) == self.WARNED

    def test_but_not_an_input_that_grows_as_every_agents_does(self) -> None:
        assert heard(every(0.05, 400), sizes=lambda number: 100 * number) == self.STOPPED

    def test_nor_what_nobody_can_compare(self) -> None:
        assert heard(every(0.05, 400), sizes=lambda number: 0) == self.STOPPED

    def test_nor_a_call_that_brought_the_same(self) -> None:
        assert heard(every(0.05, 400), sizes=lambda number: number, news=News.KNOWN) == self.STOPPED


class TestFasterThanAnyModel:
    def test_eight_in_a_row_stop(self) -> None:
        said = heard(every(0.06, 14), limits=RateLimits(), news=News.KNOWN)

        assert said == [(8, "stop", "rapid")]

    def test_by_names_alone_where_their_inputs_are_of_one_size(self) -> None:
        assert heard(every(0.06, 14), limits=RateLimits()) == [(8, "stop", "rapid")]

    def test_a_call_that_brings_something_new_begins_the_row_anew(self) -> None:
        said = heard(every(0.06, 20), limits=RateLimits(), sizes=lambda number: 100 - (number > 6))

        assert said == [(14, "stop", "rapid")]

    def test_a_tenth_of_a_second_is_slow_enough(self) -> None:
        assert heard(every(0.1, 20), limits=RateLimits(), news=News.KNOWN) == []

    def test_a_pause_begins_the_row_anew(self) -> None:
        starts = [*every(0.06, 7), *(10 + start for start in every(0.06, 8))]

        assert heard(starts, limits=RateLimits(), news=News.KNOWN) == [(15, "stop", "rapid")]

    def test_a_long_call_beside_them_is_no_excuse(self) -> None:
        starts = [*every(0.06, 6), -1.0, *(0.36 + start for start in every(0.06, 2))]

        assert heard(starts, limits=RateLimits(), news=News.KNOWN) == [(9, "stop", "rapid")]

    def test_side_by_side_they_are_no_row(self) -> None:
        assert heard(every(0.02, 20), took=0.5, limits=RateLimits(), news=News.KNOWN) == []

    def test_a_local_model_that_labels_mails_is_let_work(self) -> None:
        assert heard(every(0.05, 20), limits=RateLimits(), sizes=mails) == []

    def test_what_nobody_can_compare_is_no_row(self) -> None:
        assert heard(every(0.05, 20), limits=RateLimits(), sizes=lambda number: 0) == []


def test_zero_switches_a_rule_off() -> None:
    def rules(**limits: float) -> list[str]:
        return [rule for _, _, rule in heard(every(0.05, 200), limits=RateLimits(**limits))]  # type: ignore[arg-type]

    assert rules(per_minute=0, burst=0, rapid=0) == []
    assert rules(per_minute=0, rapid=0) == ["burst"]
    assert rules(burst_seconds=0, rapid=0) == ["per_minute"]
    assert rules(burst=0, per_minute=0) == ["rapid"]


def test_a_feature_is_only_warned_of() -> None:
    assert RateDetector.per == (Unit.RUN, Unit.FEATURE)
    assert RateDetector.only_warns == (Unit.FEATURE,)
