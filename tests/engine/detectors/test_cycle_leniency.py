"""Cycles that are none: progress clears them, a ring that waits goes round for long, a habit is no loop."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.detectors.watching import Watch, step, stopped_at

ALONE: dict[str, Any] = {"only": ("cycle",)}


class TestProgress:
    def test_edits_between_tests_whose_failures_change_clear_it(self) -> None:
        watch = Watch()
        for n in range(20):
            watch.tool("edit", {"path": f"f{n % 3}", "patch": n}, "ok")
            watch.tool("bash", {"command": "npm test"}, error=f"{20 - n} failing")

        assert watch.stopped is None

    def test_a_write_not_seen_before_clears_it(self) -> None:
        calls = []
        for n in range(20):
            calls += [step("a"), step("b"), {"name": "edit", "arguments": {"text": f"v{n}"}, "result": "ok"}]

        assert stopped_at(calls) is None

    def test_a_write_that_restores_what_was_does_not(self) -> None:
        """A, B, A, B: each change undoes the one before, and the test that fails says so."""
        calls = []
        for n in range(20):
            calls += [
                {"name": "edit", "arguments": {"path": "f", "text": f"version {n % 2}"}, "result": "ok"},
                {"name": "bash", "arguments": {"command": "test"}, "error": f"test {n % 2} is red"},
            ]

        assert stopped_at(calls) == 10

    def test_nor_does_one_that_changes_nothing(self) -> None:
        """Read, an edit that misses, a test that is red: the commonest of stuck shapes."""
        calls = [
            step("file"),
            {"name": "edit", "arguments": {"old": "x", "new": "y"}, "error": "old text is not there"},
            {"name": "bash", "arguments": {"command": "test"}, "error": "3 failing"},
        ]

        assert stopped_at(calls * 9) == 8

    def test_a_user_who_speaks_clears_it(self) -> None:
        watch = Watch()
        for question in range(9):
            watch.model({"question": question}, f"answer {question}", user_turn=True)
            for letter in "abab":
                watch.tool(**step(letter))
            watch.model({"question": question, "seen": 4}, f"so {question}")

        assert watch.stopped is None

    def test_what_was_cleared_is_told_of_again(self) -> None:
        watch = Watch(**ALONE)
        for n in range(3):
            for call in [*[step("a"), step("b")] * 3, step("new", result=f"{n}")]:
                watch.tool(**call)

        assert watch.rules == [(6, "cycle.rounds"), (13, "cycle.rounds"), (20, "cycle.rounds")]


class TestWaiting:
    def test_where_one_waits_the_ring_waits(self) -> None:
        calls = [step("log"), {"name": "sleep", "arguments": {}, "result": ""}] * 30

        assert stopped_at(calls, gap=8.0) is None
        assert stopped_at(calls, gap=1.0) == 25  # 12 of them no waits

    def test_a_ring_that_waits_warns_late(self) -> None:
        watch = Watch(gap=8.0)
        for _ in range(20):
            watch.tool(**step("log"))
            watch.tool("sleep", {}, "")

        assert watch.rules == [(12, "cycle.waits")]

    def test_what_waits_and_fails_for_good_is_no_wait(self) -> None:
        calls = [step("log"), {"name": "check_status", "arguments": {}, "error": "no such job"}]

        assert stopped_at(calls * 9) == 8

    def test_to_try_again_what_passes_by_itself_is_to_wait(self) -> None:
        calls = [step("log"), {"name": "fetch", "arguments": {}, "error": "HTTP 503"}]

        assert stopped_at(calls * 20, gap=8.0) is None
        assert stopped_at(calls * 20, gap=1.0) == 25
        assert stopped_at(calls * 20, gap=1.0, stale=0) == 30

    def test_patience_with_what_passes_is_no_staleness(self) -> None:
        calls = [step("a"), *[{"name": "fetch", "arguments": {}, "error": "HTTP 503"}] * 3, step("a")]
        calls += [{"name": "fetch", "arguments": {}, "error": "HTTP 503"}] * 40

        assert stopped_at(calls, gap=20.0) is None

    @pytest.mark.parametrize(("gap", "call"), [(29.0, 8), (32.0, None)])
    def test_an_agent_that_rests_in_between_has_a_habit(self, gap: float, call: int | None) -> None:
        assert stopped_at([step("a"), step("b")] * 15, gap=gap, took=1.0) == call

    def test_a_habit_is_told_of_once(self) -> None:
        watch = Watch(gap=300.0)
        for call in [step("a"), step("b")] * 15:
            watch.tool(**call)

        assert watch.rules == [(6, "cycle.rounds")]

    def test_what_a_habit_is_can_be_said(self) -> None:
        assert stopped_at([step("a"), step("b")] * 15, gap=300.0, slow=0, idle=0) == 8
        assert stopped_at([step("a"), step("b")] * 15, gap=300.0, slow=0) is None
        assert stopped_at([step("a"), step("b")] * 15, gap=300.0, idle=0) is None


class TestTurns:
    def test_equal_reads_of_one_turn_make_no_ring(self) -> None:
        watch = Watch()
        watch.model({"turn": 1}, "answer")
        for letter in "abababab":
            watch.tool(**step(letter, at=10.0, took=5.0))

        assert watch.findings == []

    def test_what_may_repeat_makes_none_either(self) -> None:
        calls = [step("a", repeatable=True), step("b", repeatable=True)] * 20

        assert stopped_at(calls) is None
