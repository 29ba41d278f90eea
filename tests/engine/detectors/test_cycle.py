"""Cycles: rings of any length, the same few calls in any order, and what is none."""

from __future__ import annotations

from itertools import cycle, islice
from string import ascii_letters
from typing import Any

import pytest
from tests.engine.detectors.watching import Watch, one, step, stopped_at

from spanfuse_processor.engine.verdicts import Severity

ALONE: dict[str, Any] = {"only": ("cycle",)}


def ring(period: int, calls: int = 90) -> list[dict[str, Any]]:
    return list(islice(cycle(step(letter) for letter in ascii_letters[:period]), calls))


class TestRings:
    @pytest.mark.parametrize(
        ("period", "call"), [(2, 8), (3, 8), (4, 10), (5, 12), (6, 14), (7, 16), (8, 18), (9, 20), (10, 22)]
    )
    def test_the_third_round_stops_as_soon_as_it_is_plain(self, period: int, call: int) -> None:
        assert stopped_at(ring(period)) == call

    @pytest.mark.parametrize("period", [11, 12, 20, 32])
    def test_a_long_ring_stops_as_a_rule_for_any_order_has_it(self, period: int) -> None:
        assert stopped_at(ring(period)) == period + 12

    @pytest.mark.parametrize("period", [11, 12, 20, 32])
    def test_or_in_its_third_round_where_that_rule_is_off(self, period: int) -> None:
        assert stopped_at(ring(period), stale=0) == 2 * period + 2

    def test_beyond_the_window_only_the_rule_for_any_order_is_left(self) -> None:
        assert stopped_at(ring(33), stale=0) is None
        assert stopped_at(ring(40)) == 40 + 12

    def test_it_warns_before_it_stops_and_each_once(self) -> None:
        watch = Watch(**ALONE)
        for call in ring(2):
            watch.tool(**call)

        assert watch.rules == [(6, "cycle.rounds"), (8, "cycle.rounds")]

    @pytest.mark.parametrize(("period", "call"), [(2, 6), (3, 8), (4, 10)])
    def test_one_in_which_every_call_fails_needs_no_eighth(self, period: int, call: int) -> None:
        calls = [each | {"error": "it did not work"} for each in ring(period)]

        assert stopped_at(calls, **ALONE) == call
        assert stopped_at(calls, **ALONE, failing=0) == max(8, call)

    def test_one_success_in_it_makes_it_a_ring_like_others(self) -> None:
        calls = [each | ({"error": "it did not work"} if n % 2 else {}) for n, each in enumerate(ring(2))]

        assert stopped_at(calls, **ALONE) == 8

    def test_a_return_alone_is_no_cycle(self) -> None:
        watch = Watch()
        for letter in "ABA":
            watch.tool(**step(letter))

        assert watch.findings == []

    def test_a_cycle_whose_results_change_is_none(self) -> None:
        calls = [step("ab"[n % 2], result=f"r{n}") for n in range(60)]

        assert stopped_at(calls) is None

    def test_nor_is_one_in_which_one_call_brings_something_new(self) -> None:
        calls = [step("abc"[n % 3], **({"result": f"{n}"} if n % 3 == 2 else {})) for n in range(60)]

        assert stopped_at(calls) is None

    def test_calls_that_are_all_the_same_are_no_cycle(self) -> None:
        watch = Watch(**ALONE)
        for _ in range(40):
            watch.tool(**step("a"))

        assert watch.findings == []

    def test_four_of_one_and_one_of_another_are_one(self) -> None:
        assert stopped_at([*[step("a")] * 4, step("b")] * 9, **ALONE) == 12

    @pytest.mark.parametrize("noisy", ["arguments", "result"])
    def test_noise_on_one_side_hides_no_ring(self, noisy: str) -> None:
        calls = []
        for n in range(20):
            asked = {"path": "b", "attempt": n}
            noise = {"arguments": asked} if noisy == "arguments" else {"result": f"took {n} ms"}
            calls += [step("a"), step("b", **noise)]

        assert stopped_at(calls) == 8

    def test_two_things_that_differ_in_nothing_but_noise_are_a_ring_of_two(self) -> None:
        ids = ("9b2e77d0-0001-4000-8000-00000000abcd", "5c1f0a44-0002-4000-8000-00000000beef")
        calls = [
            {
                "name": "get_ticket",
                "arguments": {"team": 1, "nonce": n % 2},
                "result": f"{ids[n % 2]} is open",
            }
            for n in range(20)
        ]

        assert stopped_at(calls) == 8

    def test_models_and_tools_are_rings_of_their_own(self) -> None:
        watch = Watch()
        for n in range(20):
            watch.model(f"messages {n % 2}", f"call {n % 2}")
            watch.tool(**step("ab"[n % 2]))

        assert watch.stopped == 2 * 8 - 1  # the models' eighth

    def test_agents_that_send_each_other_a_task_go_round(self) -> None:
        watch = Watch()
        for n in range(20):
            watch.agent(("writer", "critic")[n % 2], {"task": f"the part of {n % 2}"})

        assert watch.stopped == 8


class TestAnyOrder:
    LETTERS = "ABCD" + "ACBDCADBBADC" * 4

    def test_twelve_calls_that_bring_nothing_new_stop(self) -> None:
        watch = Watch()
        for letter in self.LETTERS[:40]:
            watch.tool(**step(letter))

        assert watch.rules == [(4 + 6, "cycle.stale"), (4 + 12, "cycle.stale")]
        assert watch.findings[-1][1].message == "the last 12 calls brought nothing new"

    def test_however_long_ago_they_were_seen(self) -> None:
        calls = [step(f"file {n}") for n in range(60)]

        assert stopped_at([*calls, *calls]) == 60 + 12

    def test_one_new_call_begins_anew(self) -> None:
        calls: list[dict[str, Any]] = [step(letter) for letter in "ABCD"]
        for n in range(9):
            calls += [*(step(letter) for letter in "ACBDCADBBAD"), step("new", result=f"{n}")]

        assert stopped_at(calls) is None

    def test_after_some_of_them_equal_calls_in_a_row_are_still_told_as_such(self) -> None:
        watch = Watch()
        for letter in "ABCD" + "AC" + "BBBBBBBBB":
            watch.tool(**step(letter))

        assert (6 + 5, "repeat.equal") in watch.rules
        assert watch.stopped == 6 + 5


class TestLimits:
    @pytest.mark.parametrize(("calls", "call"), [(4, 6), (9, 9), (12, 12)])
    def test_the_fewest_calls_of_a_ring_can_be_said(self, calls: int, call: int) -> None:
        assert stopped_at(ring(2), **ALONE, calls=calls) == call

    @pytest.mark.parametrize(("rounds", "call"), [(1, 8), (3, 14), (4, 18)])
    def test_the_rounds_that_are_forgiven_can_be_said(self, rounds: int, call: int) -> None:
        assert stopped_at(ring(4), **ALONE, rounds=rounds, stale=0) == call

    @pytest.mark.parametrize("limit", [7, 12, 20])
    def test_how_many_calls_may_bring_nothing_new_can_be_said(self, limit: int) -> None:
        calls = [step(letter) for letter in TestAnyOrder.LETTERS]

        assert stopped_at(calls, **ALONE, stale=limit) == 4 + limit

    @pytest.mark.parametrize("limit", ["calls", "rounds"])
    def test_zero_switches_rings_off(self, limit: str) -> None:
        watch = Watch(**ALONE, stale=0, **one(limit, 0))
        for call in ring(3):
            watch.tool(**call)

        assert watch.findings == []

    def test_zero_switches_the_rule_for_any_order_off(self) -> None:
        watch = Watch(**ALONE, stale=0, calls=0)
        for letter in TestAnyOrder.LETTERS:
            watch.tool(**step(letter))

        assert watch.findings == []

    def test_zero_switches_the_rule_of_waits_off(self) -> None:
        watch = Watch(**ALONE, gap=1.0, waits=0, stale=0)
        for _ in range(40):
            watch.tool(**step("log"))
            watch.tool("sleep", {}, "")

        assert watch.findings == []


class TestWhatIsSaid:
    def test_the_message_names_the_cycle(self) -> None:
        watch = Watch()
        for n in range(8):
            watch.tool(("read_a", "read_b")[n % 2], {}, n % 2)

        assert watch.findings[-1][1].message == (
            "a cycle of 2 calls (read_a, read_b) went round 4 times with equal results"
        )

    def test_a_long_one_is_cut(self) -> None:
        watch = Watch(stale=0)
        for call in ring(12):
            watch.tool(**call)

        message = watch.findings[-1][1].message
        assert message.startswith("a cycle of 12 calls (read_")
        assert message.endswith(", ...) went round 2 times with equal results")

    @pytest.mark.parametrize(("failing", "reason"), [("a", "LOOP"), ("ab", "RETRY_STORM")])
    def test_it_is_a_storm_only_when_every_call_of_it_failed(self, failing: str, reason: str) -> None:
        watch = Watch(**ALONE)
        for n in range(8):
            letter = "ab"[n % 2]
            watch.tool(f"read_{letter}", {}, **({"error": letter} if letter in failing else {"result": "x"}))

        assert watch.findings[-1][1].reason == reason

    def test_its_finding_says_all_that_it_rests_on(self) -> None:
        watch = Watch()
        for call in ring(3):
            watch.tool(**call)

        finding = watch.findings[-1][1]
        assert (finding.detector, finding.rule, finding.severity) == ("cycle", "rounds", Severity.STOP)
        assert (finding.observed, finding.limit, finding.call) == (8.0, 8.0, 8)
        assert [int.from_bytes(span) for span in finding.spans] == list(range(1, 9))
        assert finding.first_span_id == (1).to_bytes(8)
        assert finding.cleared_by
