"""The call tree: every call counts once, and so does every token."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.making import agent, ended, model, span, trace
from tests.engine.trees import PRINTS, added, stats, tree

from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Fingerprints, Kind, Usage
from spanfuse_processor.engine.tree.cells import MOST


class TestDuplicates:
    def test_an_equal_duplicate_is_dropped_and_counted(self) -> None:
        made = tree()
        added(made, model(1), 110)

        assert made.add(model(1), 110) is None
        assert (made.totals.calls, made.totals.cost, stats(made).duplicates) == (1, 110, 1)

    def test_a_duplicate_that_says_more_is_charged_what_it_says(self) -> None:
        made = tree()
        added(made, model(1, tokens=10), 11)

        made.add(model(1, tokens=1000), 1100)
        made.reconcile(model(1, tokens=1000), price=lambda _, usage: usage.input_tokens)

        assert (made.totals.input_tokens, made.totals.cost, stats(made).conflicts) == (1000, 1000, 1)

    def test_a_duplicate_that_says_less_changes_nothing(self) -> None:
        made = tree()
        added(made, model(1, tokens=1000), 1100)

        made.reconcile(model(1, tokens=10), price=lambda *_: 11)

        assert (made.totals.input_tokens, made.totals.cost, stats(made).conflicts) == (1000, 1100, 1)

    def test_each_count_is_the_larger_of_the_two(self) -> None:
        made = tree()
        added(made, model(1, usage=Usage(10, 9, 1, 2)), 1)

        made.reconcile(model(1, usage=Usage(20, 3, 5, 0)), price=lambda *_: 2)

        totals = made.totals
        assert (totals.input_tokens, totals.output_tokens) == (20, 9)
        assert (totals.cached_tokens, totals.cache_write_tokens) == (5, 2)

    def test_usage_that_comes_with_the_second_telling_is_charged_once(self) -> None:
        made = tree()
        added(made, model(1, usage=None))

        made.reconcile(model(1), price=lambda *_: 110)

        assert (made.totals.input_tokens, made.totals.cost) == (100, 110)

    def test_the_same_id_with_another_kind_is_a_conflict_and_the_first_stays(self) -> None:
        made = tree()
        added(made, ended(1, kind=Kind.TOOL))

        made.reconcile(model(1), price=lambda *_: 110)

        assert (stats(made).conflicts, made.totals.cost) == (1, 0)


class TestToolCalls:
    def told(self, number: int, prints: Fingerprints | None = None, **more: Any) -> CallEnded:
        return ended(number, tool_call_id="call_1", prints=prints, **more)

    def test_a_tool_call_that_two_spans_tell_counts_once(self) -> None:
        made = tree()

        first, second = made.add(self.told(1, PRINTS)), made.add(self.told(2, PRINTS))

        assert first is not None
        assert second is None
        assert (made.totals.calls, stats(made).twins) == (1, 1)

    def test_the_telling_with_the_content_is_judged_in_place_of_one_without(self) -> None:
        made = tree()
        first, second, third = (made.add(self.told(n, p)) for n, p in ((1, None), (2, PRINTS), (3, PRINTS)))

        assert first is not None
        assert second is not None
        assert third is None
        assert (first.number, second.number, made.totals.calls) == (1, 1, 1)

    def test_the_same_id_on_another_tool_is_another_call(self) -> None:
        made = tree()

        calls = [made.add(self.told(1, name="search")), made.add(self.told(2, name="fetch"))]

        assert all(calls)

    def test_a_span_that_is_told_already_still_holds_its_children_up(self) -> None:
        made = tree()
        added(made, agent(1, name="boss"))
        added(made, self.told(2, PRINTS, parent=1))
        made.add(self.told(3, PRINTS, parent=2))

        assert added(made, ended(4, 3)).agents == ("boss",)


class TestTotals:
    def test_only_model_calls_are_summed(self) -> None:
        made = tree()
        added(made, model(2, 1), 110)
        added(made, ended(3, 1, Kind.EMBEDDINGS, usage=Usage(50)), 50)
        added(made, agent(1, usage=Usage(150, 10)), 160)

        assert (made.totals.input_tokens, made.totals.output_tokens, made.totals.cost) == (150, 10, 160)

    def test_a_call_without_a_price_is_unpriced_and_not_free(self) -> None:
        made = tree()

        added(made, model(1), None)

        assert (made.totals.unpriced, made.totals.cost) == (1, 0)

    @pytest.mark.parametrize("order", [(1, 2), (2, 1)])
    def test_a_model_call_that_wraps_another_is_not_charged_again(self, order: tuple[int, int]) -> None:
        made = tree()
        events = {1: model(1, tokens=100), 2: model(2, 1, tokens=100)}

        for number in order:
            made.add(events[number], 110)

        assert (made.totals.input_tokens, made.totals.cost) == (100, 110)

    @pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (1, 3, 2), (3, 1, 2)])
    def test_a_wrapper_is_known_through_spans_that_are_no_calls(self, order: tuple[int, ...]) -> None:
        made = tree()
        events = {1: model(1), 2: ended(2, 1, Kind.OTHER), 3: model(3, 2)}

        for number in order:
            made.add(events[number], 110)

        assert made.totals.cost == 110

    @pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (3, 1, 2)])
    def test_a_model_call_made_by_a_tool_below_a_model_call_is_one_of_its_own(
        self, order: tuple[int, ...]
    ) -> None:
        made = tree()
        events = {1: model(1), 2: ended(2, 1, Kind.TOOL), 3: model(3, 2)}

        for number in order:
            made.add(events[number], None if number == 2 else 110)

        assert made.totals.cost == 220

    def test_a_wrapper_is_charged_when_what_it_wraps_reports_no_usage(self) -> None:
        made = tree()
        made.add(model(2, 1, usage=None))
        made.add(model(1), 110)

        assert made.totals.cost == 110

    def test_a_price_that_comes_later_is_settled(self) -> None:
        made = tree()
        added(made, model(1), None)

        made.settle(trace(1), span(1), Usage(100, 10), 110)
        made.settle(trace(1), span(1), Usage(100, 10), 110)

        assert (made.totals.unpriced, made.totals.cost) == (0, 110)

    def test_absurd_counts_are_clamped(self) -> None:
        made = tree()

        added(made, model(1, usage=Usage(2**70, -5)), 2**70)

        assert (made.totals.input_tokens, made.totals.output_tokens, made.totals.cost) == (MOST, 0, MOST)
