"""Storms of models: failures, equal amounts within seconds, and tries that nobody sees."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.detectors.watching import Watch

ALONE: dict[str, Any] = {"only": ("storm",)}


class TestFailures:
    @pytest.mark.parametrize(
        "error", ["HTTP 422", "permission denied", "maximum context length is 8192 tokens"]
    )
    def test_what_can_never_work_stops_at_the_fourth(self, error: str) -> None:
        watch = Watch()
        for _ in range(20):
            watch.model(error=error)

        assert watch.rules[:2] == [(3, "storm.denied"), (4, "storm.denied")]

    def test_a_model_that_is_refused_at_once_again_and_again_stops(self) -> None:
        watch = Watch(gap=0.1)
        for _ in range(20):
            watch.model(error="429", took=0.05)

        assert watch.stopped == 13

    def test_a_model_that_is_asked_patiently_while_it_is_refused_does_not(self) -> None:
        watch = Watch(gap=20.0)
        for _ in range(40):
            watch.model(error="429")

        assert watch.findings == []

    @pytest.mark.parametrize(("gap", "call"), [(2.0, 8), (20.0, None)])
    def test_a_model_that_fails_in_whatever_way_is_asked_patiently(
        self, gap: float, call: int | None
    ) -> None:
        watch = Watch(gap=gap)
        for _ in range(40):
            watch.model(error="it went wrong")

        assert watch.stopped == call

    def test_no_patience_mends_an_answer_that_is_refused(self) -> None:
        """It was paid for and read; the next is asked for in the same words."""
        watch = Watch(gap=20.0)
        for number in range(20):
            watch.model(error="no code block was found in the answer", tokens=(900 + 40 * number, 60))

        assert watch.rules[:2] == [(5, "storm.permanent_any"), (6, "storm.permanent_any")]

    def test_answers_that_are_refused_for_other_reasons_mend_one_after_the_other(self) -> None:
        watch = Watch(gap=20.0, only=("storm",))
        for word in "abcdefghijkl":
            watch.model(error=f"step {word * 3} has no end", tokens=(900, 60))

        assert watch.findings == []


class TestSameAmount:
    """Row L6: the same model, the same size of input, four times within thirty seconds, for nothing."""

    def test_four_failures_warn(self) -> None:
        watch = Watch(**ALONE)
        for _ in range(9):
            watch.model(error="the answer could not be read", tokens=(900, 0))

        assert watch.rules[0] == (4, "storm.same_size")
        assert [number for number, rule in watch.rules if rule == "storm.same_size"] == [4]

    def test_and_so_do_answers_that_bring_nothing_new(self) -> None:
        watch = Watch(**ALONE)
        for _ in range(9):
            watch.model("the same", "the same answer", tokens=(900, 20))

        assert watch.rules == [(1 + 4, "storm.same_size")]

    @pytest.mark.parametrize("sizes", [range(900, 909), [900, 901] * 5])
    def test_other_sizes_do_not(self, sizes: Any) -> None:
        watch = Watch(**ALONE)
        for size in sizes:
            watch.model(error=f"bad answer {chr(size - 803)}", tokens=(size, 0))

        assert watch.findings == []

    def test_nor_do_four_models_asked_the_same(self) -> None:
        watch = Watch(**ALONE)
        for n in range(5):
            watch.model("the same", error="it is too busy to think", tokens=(900, 0), name=f"model-{n}")

        assert watch.findings == []

    def test_nor_does_what_takes_longer(self) -> None:
        watch = Watch(**ALONE, gap=11.0)
        for n in range(5):
            watch.model(error=f"bad answer {chr(97 + n)}", tokens=(900, 0))

        assert watch.findings == []

    def test_an_answer_that_is_new_clears_it(self) -> None:
        watch = Watch(**ALONE)
        for n in range(20):
            if n % 4 == 3:
                watch.model({"n": n}, f"answer {n}", tokens=(900, 20))
            else:
                watch.model(error="it could not be read", tokens=(900, 0))

        assert watch.findings == []

    @pytest.mark.parametrize(("limit", "call"), [(0, None), (2, 2), (6, 6)])
    def test_its_limit_can_be_said(self, limit: int, call: int | None) -> None:
        watch = Watch(**ALONE, same_size=limit, failed=0)
        for _ in range(9):
            watch.model(error="the answer could not be read", tokens=(900, 0))

        assert watch.warned == call
        assert watch.stopped is None


class TestHidden:
    def test_what_a_client_tries_again_by_itself_warns(self) -> None:
        watch = Watch(**ALONE)
        for n in range(9):
            watch.model({"n": n}, f"answer {n}", resends=3)

        assert watch.rules == [(4, "storm.hidden")]

    def test_a_call_that_succeeds_at_once_clears_it(self) -> None:
        watch = Watch(**ALONE)
        for n in range(30):
            watch.model({"n": n}, f"answer {n}", resends=3 if n % 4 else 0)

        assert watch.findings == []

    def test_zero_switches_it_off(self) -> None:
        watch = Watch(**ALONE, hidden=0)
        for n in range(30):
            watch.model({"n": n}, f"answer {n}", resends=3)

        assert watch.findings == []
