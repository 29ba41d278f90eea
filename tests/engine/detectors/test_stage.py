"""Stages: what they spend, how long they take, and whether they make progress."""

from __future__ import annotations

from math import inf
from typing import Any

from tests.engine.making import NOON, SECOND, ended, span, started

from spanfuse_processor.engine.calls import Call, Open
from spanfuse_processor.engine.detector import MindsTime
from spanfuse_processor.engine.detectors.stage import MAX_STAGES, StageDetector, StageLimits, usd
from spanfuse_processor.engine.nouns import Fingerprints, Kind, Usage
from spanfuse_processor.engine.reading.stages import Stage, pack
from spanfuse_processor.engine.verdicts import Finding

CENT = 10_000
INDEX = Stage("7f", "index", budget=100 * CENT)
TIMED = Stage("a0", "crawl", timeout=600.0)
Said = tuple[str, str] | None


def said(finding: Finding | None) -> Said:
    return None if finding is None else (finding.severity.value, finding.rule)


class Work:
    """Calls in stages, one a second."""

    def __init__(self, *stages: Stage, **limits: Any) -> None:
        self.detector = StageDetector(StageLimits(**limits), {})
        self.stages = stages
        self.number = 0
        self.found: list[Finding] = []

    def call(
        self,
        cents: float | None = 0,
        result: str = "",
        kind: Kind = Kind.TOOL,
        at: float | None = None,
        stages: tuple[Stage, ...] | None = None,
        empty: bool = False,
        **more: Any,
    ) -> Said:
        """A call has ended, `at` seconds after the work began."""
        self.number += 1
        began = NOON + int((self.number if at is None else at - 1) * SECOND)
        event = ended(
            self.number,
            kind=kind,
            started_ns=began,
            ended_ns=began + SECOND,
            prints=Fingerprints(result=result, result_empty=empty) if result else None,
            stages=pack(self.stages if stages is None else stages),
            **more,
        )
        cost = None if cents is None else int(cents * CENT)
        call = Call(event, "run", self.number, 0, 0, (), True, cost=cost)
        if not StageDetector.wakes(call):
            return None
        finding = self.detector.ended(call)
        self.found += [finding] if finding else []
        return said(finding)

    def calls(self, count: int, cents: float = 0, result: str = "", **more: Any) -> list[Said]:
        """Several; `$` in a result is another number each time."""
        return [self.call(cents, result.replace("$", str(number)), **more) for number in range(count)]

    def begin(self) -> Call:
        """The stage's own call."""
        event = started(999, kind=Kind.WORKFLOW, name=self.stages[-1].name, started_ns=NOON)
        event.stages = pack(self.stages)
        call = Call(event, "run", 1, 0, 0, (), False)
        self.detector.started(call)
        return call

    def open(self, age: float, quiet: float = 0.0) -> tuple[Said, float]:
        """What is said while the stage is open, and when to ask again."""
        finding, again = self.detector.still_open(Open(self.begin(), age, quiet, 0.0))
        self.found += [finding] if finding else []
        return said(finding), again


class TestBudget:
    def test_without_progress_a_stage_ends_when_its_budget_is_spent(self) -> None:
        work = Work(INDEX)

        heard = work.calls(12, cents=10)

        assert [(at + 1, what) for at, what in enumerate(heard) if what] == [
            (8, ("warn", "near")),
            (10, ("stop", "stale")),
        ]
        assert work.found[-1].message == (
            "stage index has spent 1.00 of its 1.00 USD, and its last 10 calls brought nothing new"
        )

    def test_with_progress_it_goes_on_to_half_as_much_again_and_no_further(self) -> None:
        heard = Work(INDEX).calls(20, cents=10, result="page $")

        assert [(at + 1, what) for at, what in enumerate(heard) if what] == [
            (8, ("warn", "near")),
            (15, ("stop", "stretch")),
        ]

    def test_progress_that_ends_beyond_the_budget_ends_the_stage(self) -> None:
        work = Work(INDEX)
        work.calls(11, cents=10, result="page $")

        assert work.calls(6, result="page 1") == [None] * 5 + [("stop", "stale")]

    def test_below_its_budget_nobody_asks_for_progress(self) -> None:
        assert Work(INDEX).calls(50, cents=1) == [None] * 50

    def test_talk_is_no_progress_but_answers_to_fresh_requests_are(self) -> None:
        talking = Work(INDEX).calls(20, cents=10, result="words $", kind=Kind.MODEL)
        answering = Work(INDEX).calls(14, cents=10, result="words $", kind=Kind.MODEL, fresh=True)

        assert ("stop", "stale") in talking
        assert ("stop", "stale") not in answering

    def test_failures_and_empty_results_are_no_progress(self) -> None:
        failing = Work(INDEX).calls(12, cents=10, result="error $", error="ValueError")
        empty = Work(INDEX).calls(12, cents=10, result="nothing $", empty=True)

        assert ("stop", "stale") in failing
        assert ("stop", "stale") in empty

    def test_a_price_that_comes_late_counts_from_then_on(self) -> None:
        work = Work(INDEX)
        usage = {"kind": Kind.MODEL, "usage": Usage(9, 9)}
        work.call(None, **usage)
        work.call(None, **usage)
        assert work.call() is None

        for _ in range(2):  # once is what it costs
            work.detector.paid(span(2), 85 * CENT)
        work.detector.paid(span(77), 85 * CENT)

        assert work.call() == ("warn", "near")
        assert work.found[-1].message == "stage index has spent 0.85 of its 1.00 USD"

    def test_a_run_is_stopped_once_and_a_stage_warned_of_once(self) -> None:
        heard = Work(INDEX).calls(40, cents=10)

        assert heard.count(("warn", "near")) == heard.count(("stop", "stale")) == 1

    def test_a_budget_of_nothing_is_spent_by_anything(self) -> None:
        work = Work(Stage("0", "free", budget=0), stale=1)

        assert work.call(0) is None
        assert work.call(0.01) == ("stop", "stretch")

    def test_zero_switches_a_rule_off(self) -> None:
        assert ("warn", "near") not in Work(INDEX, near=0.0).calls(20, cents=10)
        assert Work(INDEX, stale=0, stretch=0.0).calls(99, cents=10).count(("stop", "stale")) == 0
        assert Work(INDEX, stretch=1.0).calls(10, cents=10, result="page $")[-1] == ("stop", "stretch")

    def test_the_evidence_leads_from_the_first_call_to_the_last(self) -> None:
        work = Work(INDEX)
        work.calls(10, cents=10)

        stop = work.found[-1]
        assert (stop.first_span_id, stop.span_id) == (span(1), span(10))
        assert (stop.reason, stop.observed, stop.limit) == ("LIMIT", 10.0, 6.0)
        assert stop.cleared_by == "a new result of a tool"


class TestTime:
    def test_a_stage_in_which_nothing_is_done_ends_with_its_time(self) -> None:
        work = Work(TIMED)

        assert work.open(0.0) == (None, 480.0)
        assert work.open(480.0, quiet=480.0) == (("warn", "near"), 120.0)
        assert work.open(600.0, quiet=600.0)[0] == ("stop", "quiet")
        assert work.found[-1].message == (
            "stage crawl has taken 10 min of its 10 min, and nothing was done in it for 10 min"
        )

    def test_while_something_is_done_it_goes_on_to_half_as_long_again_and_no_further(self) -> None:
        work = Work(TIMED)

        assert work.open(600.0, quiet=10.0) == (("warn", "near"), 50.0)
        assert work.open(650.0, quiet=10.0) == (None, 50.0)
        assert work.open(880.0, quiet=0.0) == (None, 20.0)
        assert work.open(900.0, quiet=0.0) == (("stop", "stretch"), 60.0)

    def test_calls_that_bring_nothing_end_it_too(self) -> None:
        work = Work(TIMED)
        work.begin()
        work.calls(5)

        assert work.call(at=590.0) == ("warn", "near")
        assert work.call(at=600.0) == ("stop", "stale")

    def test_it_is_timed_by_its_calls_where_nobody_tells_of_its_beginning(self) -> None:
        work = Work(TIMED)
        heard = [work.call(at=at) for at in (1.0, 100.0, 200.0, 300.0, 400.0, 500.0, 601.0)]

        assert heard[-2:] == [("warn", "near"), ("stop", "stale")]

    def test_only_the_stages_own_call_is_asked_about_time(self) -> None:
        at = StageDetector(StageLimits(), {})
        event = started(1, stages=pack([TIMED]))

        assert at.still_open(Open(Call(event, "run", 1, 0, 0, (), False), 9e9, 9e9, 0.0)) == (None, inf)
        assert Work(INDEX).open(9e9, 9e9) == (None, inf)

    def test_it_minds_time(self) -> None:
        assert issubclass(StageDetector, MindsTime)


class TestSeveral:
    def test_what_is_inside_of_a_stage_inside_another_counts_for_both(self) -> None:
        outer, inner = Stage("1", "outer", budget=50 * CENT), Stage("2", "inner", budget=30 * CENT)
        work = Work(outer, inner)

        heard = work.calls(4, cents=10)

        assert [each for each in heard if each] == [("warn", "near"), ("warn", "near")]
        assert ["inner" in each.message for each in work.found] == [True, False]

    def test_each_entry_of_a_stage_has_its_budget(self) -> None:
        work = Work(INDEX)
        work.calls(7, cents=10)

        assert work.calls(7, cents=10, stages=(INDEX._replace(id="8a"),)) == [None] * 7

    def test_a_stage_that_is_over_is_forgotten(self) -> None:
        work = Work(INDEX)
        work.calls(7, cents=10)

        assert work.call(kind=Kind.WORKFLOW) is None
        assert work.call(cents=10) is None
        assert len(work.detector._stages) == 1

    def test_what_is_kept_is_bounded(self) -> None:
        work = Work()
        for number in range(MAX_STAGES + 9):
            work.call(1, stages=(Stage(str(number), "each"),))

        assert len(work.detector._stages) == MAX_STAGES

    def test_a_call_in_no_stage_wakes_nobody(self) -> None:
        work = Work()

        assert work.calls(9, cents=100) == [None] * 9
        assert len(work.detector._stages) == 0


def test_money_as_a_person_says_it() -> None:
    assert [usd(cost) for cost in (0, 123, 10_000, 2_345_678)] == ["0.00", "0.0001", "0.01", "2.35"]
