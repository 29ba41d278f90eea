"""Answers: one tool that says the same whatever it is asked, and the many good reasons to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.engine.detectors.watching import Watch, one, stopped_at

from spanfuse_processor.engine.verdicts import Severity

ALONE: dict[str, Any] = {"only": ("answers",)}
FIVE = "the same five urls"
LONG = "a page that says at length that nothing of the kind can be found anywhere in this archive. " * 3

WORDINGS = (
    "refund policy for cancelled flights", "what is the refund policy for cancelled flights",
    "refund policy of cancelled flights 2026", "policy refund cancelled flights customers",
    "cancelled flights refund policy document", "find refund policy cancelled flights",
    "refund policy cancelled flights page", "the refund policy when flights are cancelled",
    "refund policy cancelled flights airline", "official refund policy for cancelled flights",
)  # fmt: skip
NAMES = (
    "alice bob carol dave erin frank grace heidi ivan judy mallory niaj olivia peggy rupert sybil trent"
).split()


def reworded(answer: object = FIVE, **more: Any) -> list[dict[str, Any]]:
    """The same question in other words."""
    return [{"arguments": {"query": words}, "result": answer, **more} for words in WORDINGS]


def paged(answer: object = "[]", pages: int = 20, **more: Any) -> list[dict[str, Any]]:
    """The same question, page after page."""
    return [{"arguments": {"query": "x", "page": n}, "result": answer, **more} for n in range(pages)]


def swept(answer: object, tool: str = "lookup_user", **more: Any) -> Iterator[dict[str, Any]]:
    """The same question of one item after the other."""
    return ({"name": tool, "arguments": {"name": name}, "result": answer, **more} for name in NAMES)


class TestTheSameAnswer:
    def test_to_the_same_question_in_other_words_stops_at_the_eighth(self) -> None:
        watch = Watch()
        for call in reworded():
            watch.tool(**call)

        assert watch.rules == [(6, "answers.same_search"), (8, "answers.same_search")]

    def test_where_no_tool_searches_at_the_twentieth(self) -> None:
        watch = Watch(**ALONE)
        for call in [*reworded(name="check"), *reworded(name="check"), *reworded(name="check")]:
            watch.tool(**call)

        assert watch.rules == [(6, "answers.same"), (20, "answers.same")]

    @pytest.mark.parametrize("position", ["page", "offset", "cursor", "start_line"])
    @pytest.mark.parametrize("answer", ["[]", "", {"items": []}, FIVE])
    def test_at_one_place_after_the_other_stops_at_the_eighth(self, position: str, answer: object) -> None:
        watch = Watch()
        for n in range(12):
            watch.tool("search", {"query": "x", position: 40 * n}, answer)

        assert watch.rules == [(6, "answers.same_search"), (8, "answers.same_search")]

    def test_a_long_one_to_whatever_was_asked_only_warns(self) -> None:
        """It may be true of many items: each page of an archive that is closed says that it is."""
        watch = Watch(**ALONE)
        for call in [*swept(LONG, "open_page"), *swept(LONG, "open_page")]:
            watch.tool(**call)

        assert watch.rules == [(6, "answers.same")]

    def test_to_whoever_says_again_and_again_that_it_is_done_stops_at_the_eighth(self) -> None:
        assert stopped_at(swept("ok", "finish")) == 8

    def test_one_odd_question_among_them_hides_nothing(self) -> None:
        calls = reworded()
        calls[4] = {"arguments": {"query": "weather"}, "result": FIVE}

        assert stopped_at(calls) == 10

    def test_a_second_streak_is_judged_like_the_first(self) -> None:
        watch = Watch(**ALONE)
        for call in [*reworded()[:7], {"arguments": {"query": "y"}, "result": "other"}, *paged(pages=9)]:
            watch.tool(**call)

        told = "answers.same_search"
        assert watch.rules == [(6, told), (8 + 6, told), (8 + 8, told)]


class TestProgress:
    def test_another_answer_begins_anew(self) -> None:
        calls = [
            call for n in range(4) for call in [*reworded()[:7], {"arguments": {"n": n}, "result": f"{n}"}]
        ]

        assert stopped_at(calls, **ALONE) is None

    def test_and_so_does_another_tool(self) -> None:
        calls = [
            call
            for n in range(4)
            for call in [*reworded()[:7], {"name": "read", "arguments": {"n": n}, "result": f"{n}"}]
        ]

        assert stopped_at(calls, **ALONE) is None

    def test_pages_that_bring_something_new_never_stop(self) -> None:
        watch = Watch()
        for page in range(125):
            watch.tool("list_blocks", {"cursor": f"c{page}"}, f"items of page {page}")

        assert watch.findings == []

    def test_a_user_who_speaks_begins_anew(self) -> None:
        watch = Watch(**ALONE)
        for question in range(4):
            watch.model({"question": question}, f"answer {question}", user_turn=True)
            for call in reworded()[:7]:
                watch.tool(**call)
            watch.model({"question": question, "more": 1}, f"so {question}")

        assert watch.stopped is None


class TestSweeps:
    @pytest.mark.parametrize("answer", ["[]", "", "ok", "no", {"found": [], "total": 0}])
    @pytest.mark.parametrize("tool", ["lookup_user", "search", "bash"])
    def test_many_items_may_have_one_empty_or_short_answer(self, tool: str, answer: object) -> None:
        watch = Watch()
        for call in swept(answer, tool):
            watch.tool(**call)

        assert watch.findings == []

    @pytest.mark.parametrize("answer", ["available", "not registered", "status: active"])
    def test_many_items_may_have_one_answer_in_words(self, answer: str) -> None:
        assert stopped_at(swept(answer)) is None

    def test_counting_through_items_is_no_rewording(self) -> None:
        """Every date is tried, and none has a seat."""
        calls = (
            {
                "arguments": {"origin": "SFO", "destination": "JFK", "date": f"2026-05-{day:02}"},
                "result": answer,
            }
            for day in range(1, 27)
            for answer in ["no seats left"]
        )

        assert stopped_at(calls) is None

    @pytest.mark.parametrize("tool", ["update_record", "label", "slack_send", "check_status"])
    def test_what_writes_sends_or_waits_may_be_answered_alike(self, tool: str) -> None:
        assert stopped_at(swept(LONG, tool)) is None

    @pytest.mark.parametrize("tool", ["transfer_to_coder", "delegate", "handoff"])
    def test_a_hand_over_says_nothing_of_what_it_brings(self, tool: str) -> None:
        """One part after the other goes to the same agent, in much the same words."""
        watch = Watch(**ALONE)
        for _ in range(4):
            for call in reworded(name=tool):
                watch.tool(**call)

        assert watch.findings == []

    @pytest.mark.parametrize(("tool", "stopped"), [("read", 8), ("bash", None), ("page_through", None)])
    def test_places_count_only_where_a_tool_reads(self, tool: str, stopped: int | None) -> None:
        """A script that is run for page after page prints nothing, and may have done it all."""
        assert stopped_at(paged(name=tool), **ALONE) == stopped

    def test_few_long_answers_are_not_many(self) -> None:
        assert stopped_at(list(swept(LONG, "fetch"))[:7]) is None

    @pytest.mark.parametrize("field", ["date", "start", "from", "since"])
    def test_trying_day_after_day_is_no_paging(self, field: str) -> None:
        calls = (
            {"arguments": {"room": 7, field: f"2026-05-{day:02}"}, "result": "[]"} for day in range(1, 28)
        )

        assert stopped_at(calls) is None

    def test_fresh_cursors_over_empty_pages_are_paging_whatever_cursor_comes_next(self) -> None:
        calls = (
            {"arguments": {"cursor": f"c{n}"}, "result": {"events": [], "next": f"c{n + 1}"}}
            for n in range(20)
        )

        assert stopped_at(calls) == 8


class TestNoQuestionOfItsOwn:
    def test_equal_questions_are_told_elsewhere(self) -> None:
        watch = Watch(**ALONE)
        for _ in range(40):
            watch.tool("search", {"q": "x"}, LONG)

        assert watch.findings == []

    def test_a_job_on_its_schedule_is_told_elsewhere(self) -> None:
        watch = Watch(gap=300.0)
        for _ in range(24):
            watch.tool("list_tickets", {"queue": "support"}, LONG)

        assert watch.stopped is None

    def test_a_schedule_that_asks_since_when_is_no_loop(self) -> None:
        watch = Watch(gap=3_600.0)
        for hour in range(24):
            watch.tool("list_tickets", {"since": f"2026-05-01T{hour:02}:00"}, "[]")

        assert watch.stopped is None

    def test_what_a_habit_is_can_be_said(self) -> None:
        assert stopped_at(paged(), gap=300.0, slow=0, idle=0) == 8
        assert stopped_at(paged(), gap=300.0, slow=0) is None
        assert stopped_at(paged(), gap=300.0, idle=0) is None

    @pytest.mark.parametrize("answer", [FIVE, LONG, "[]"])
    def test_questions_that_nobody_knows_are_none(self, answer: str) -> None:
        watch = Watch()
        for _ in range(40):
            watch.tool("search", result=answer)

        assert watch.findings == []

    def test_wishes_of_one_turn_are_one(self) -> None:
        watch = Watch()
        for turn in range(3):
            watch.model({"turn": turn}, f"answer {turn}")
            for _ in range(5):
                watch.tool("read", {"path": "cfg"}, LONG, at=10.0 * turn + 10, took=5.0)

        assert watch.stopped is None

    def test_what_may_repeat_is_not_judged(self) -> None:
        watch = Watch(**ALONE)
        for call in paged(repeatable=True):
            watch.tool(**call)

        assert watch.findings == []

    def test_failures_are_told_elsewhere(self) -> None:
        watch = Watch(**ALONE)
        for n in range(20):
            watch.tool("search", {"query": "x", "page": n}, error="it is out of order today")

        assert watch.findings == []


class TestLimits:
    @pytest.mark.parametrize("limit", [5, 8, 15])
    def test_it_stops_at_its_limit_and_not_before(self, limit: int) -> None:
        assert stopped_at(paged(), **ALONE, same_search=limit) == limit

    @pytest.mark.parametrize("limit", ["same_search", "same_warn"])
    def test_zero_switches_it_off(self, limit: str) -> None:
        watch = Watch(**ALONE, **one(limit, 0))
        for call in paged():
            watch.tool(**call)

        assert [rule for _, rule in watch.rules] == (["answers.same_search"] if limit == "same_warn" else [])

    def test_how_much_of_a_question_comes_back_can_be_said(self) -> None:
        assert stopped_at(reworded(), **ALONE, reworded=0.95, reworded_search=0.95) is None

    def test_its_finding_says_all_that_it_rests_on(self) -> None:
        watch = Watch(**ALONE)
        for call in paged():
            watch.tool(**call)

        finding = watch.findings[-1][1]
        assert (finding.detector, finding.rule, finding.severity) == ("answers", "same_search", Severity.STOP)
        assert (finding.reason, finding.observed, finding.limit, finding.call) == ("LOOP", 8.0, 8.0, 8)
        assert [int.from_bytes(span) for span in finding.spans] == list(range(1, 9))
        assert finding.first_span_id == (1).to_bytes(8)
        assert len(finding.prints) == 1
        assert finding.cleared_by

    @pytest.mark.parametrize(
        ("calls", "how"),
        [
            (reworded(), "to the same question in other words"),
            (paged(), "at one place after the other"),
            (list(swept(LONG, "fetch")), "whatever it was asked"),
            (list(swept("ok", "finish")), "though that should have been the end"),
        ],
        ids=["reworded", "paged", "long", "end"],
    )
    def test_it_says_how_the_questions_were_the_same(self, calls: list[dict[str, Any]], how: str) -> None:
        watch = Watch(**ALONE)
        for call in calls:
            watch.tool(**call)

        times = 6 if how == "whatever it was asked" else 8
        assert watch.findings[-1][1].message.endswith(f"gave the same answer {times} times in a row, {how}")
