"""What a run has spent: each call once, guesses give way, and who follows hears of every change."""

from __future__ import annotations

from typing import Any

from tests.engine.making import ended, model, span, trace

from spanfuse_processor.engine.calltree import CallTree
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Details, Kind, MicroUsd, Usage
from spanfuse_processor.engine.stats import EngineStats
from spanfuse_processor.engine.tree.spending import MAX_GUESSES, Amended, Spending


class Ledger:
    """A tree, and the cost of each call as somebody has it who only hears of it."""

    def __init__(self) -> None:
        self.costs: dict[bytes, MicroUsd | None] = {}
        self.told: list[Amended] = []
        self.stats = EngineStats()
        self.tree = CallTree("r1", 1000, self.stats, spending=Spending(self.stats, self.amend))

    def amend(self, amended: Amended) -> None:
        self.told.append(amended)
        self.costs[amended.span_id] = amended.cost

    def add(self, event: CallEnded) -> None:
        cost = None if event.usage is None else self.price(event, event.usage)
        call = self.tree.add(event, cost)
        if call is None:
            self.tree.reconcile(event, self.price)
        elif event.usage is not None:
            self.costs[event.span_id] = cost if call.counts else 0

    @staticmethod
    def price(event: CallEnded, usage: Usage) -> MicroUsd | None:
        return usage.input_tokens + usage.output_tokens if event.model == "good" else None

    @property
    def spent(self) -> int:
        """What is in the totals, and in the books of who hears of it: the same, always."""
        heard = sum(cost or 0 for cost in self.costs.values())
        assert heard == self.tree.totals.cost
        return heard


def ledger(*events: CallEnded) -> Ledger:
    made = Ledger()
    for event in events:
        made.add(event)
    return made


def guess(number: int, parent: int = 0, tokens: int = 1000, **more: Any) -> CallEnded:
    return model(number, parent, tokens, estimated=True, **more)


class TestGuesses:
    def test_a_usage_that_arrives_takes_the_place_of_a_guess_also_when_it_is_less(self) -> None:
        made = ledger(guess(1, tokens=1000), model(1, tokens=100))

        assert (made.spent, made.tree.totals.input_tokens) == (110, 100)
        assert (made.stats.corrected, made.stats.conflicts) == (1, 0)

    def test_a_guess_that_comes_after_what_was_reported_changes_nothing(self) -> None:
        made = ledger(model(1, tokens=100), guess(1, tokens=1000))

        assert (made.spent, made.stats.corrected, made.stats.conflicts) == (110, 0, 0)

    def test_a_guess_that_was_right_is_no_guess_from_then_on(self) -> None:
        made = ledger(guess(1, tokens=100), model(1, tokens=100), guess(1, tokens=9000))

        assert (made.spent, made.stats.corrected) == (110, 1)

    def test_of_two_guesses_the_larger_is_charged(self) -> None:
        assert ledger(guess(1, tokens=100), guess(1, tokens=1000)).spent == 1100

    def test_a_guess_gives_way_to_what_is_told_above_it(self) -> None:
        made = ledger(guess(2, 1, tokens=1000), model(1, tokens=100))

        assert (made.spent, made.tree.totals.input_tokens) == (110, 100)

    def test_also_with_a_wrapper_between_that_is_no_model_call(self) -> None:
        made = ledger(guess(3, 2), ended(2, 1, Kind.OTHER), model(1, tokens=100))

        assert made.spent == 110

    def test_and_when_what_is_above_was_told_first(self) -> None:
        made = ledger(model(1, tokens=100), guess(2, 1, tokens=1000))

        assert (made.spent, made.costs[span(2)]) == (110, 0)

    def test_a_guess_around_what_was_reported_does_not_count(self) -> None:
        assert ledger(model(2, 1, tokens=100), guess(1, tokens=1000)).spent == 110
        assert ledger(guess(1, tokens=1000), model(2, 1, tokens=100)).spent == 110

    def test_a_tool_between_makes_them_two_calls(self) -> None:
        made = ledger(guess(3, 2, tokens=1000), ended(2, 1), model(1, tokens=100))

        assert made.spent == 1210

    def test_only_so_many_guesses_are_remembered(self) -> None:
        guesses = [guess(number, 1, tokens=10) for number in range(2, MAX_GUESSES + 3)]
        made = ledger(*guesses, model(1, tokens=100))

        assert made.spent == 110 + 11  # the oldest stays: it costs too much rather than too little


class TestWhoFollows:
    def test_hears_that_a_call_turned_out_to_wrap_another(self) -> None:
        made = ledger(model(1, tokens=100), model(2, 1, tokens=100))

        assert (made.spent, made.costs) == (110, {span(1): 0, span(2): 110})

    def test_is_told_at_once_when_that_is_known_before(self) -> None:
        made = ledger(model(2, 1, tokens=100), model(1, tokens=100))

        assert (made.spent, made.told) == (110, [])

    def test_hears_a_price_that_came_late(self) -> None:
        made = ledger(model(1, tokens=100, model="odd", name="odd"))
        made.tree.settle(trace(1), span(1), Usage(100, 10), 77)
        made.tree.settle(trace(1), span(1), Usage(100, 10), 78)

        assert (made.spent, made.told) == (77, [Amended(trace(1), span(1), Usage(100, 10), 77)])

    def test_hears_larger_counts_of_the_same_call(self) -> None:
        assert ledger(model(1, tokens=10), model(1, tokens=1000)).spent == 1100

    def test_hears_when_two_runs_turn_out_to_be_one(self) -> None:
        made, other = ledger(model(1, tokens=100)), ledger()
        other.add(model(2, 1, tokens=100))
        made.tree.absorb(other.tree)

        assert (made.tree.totals.cost, made.told[-1].span_id, made.told[-1].cost) == (110, span(1), 0)


def test_a_fee_of_a_tool_is_in_the_totals_once() -> None:
    made = CallTree("r1", 1000, EngineStats())
    for event in (ended(1, tool_call_id="c1"), ended(1, tool_call_id="c1"), ended(2, tool_call_id="c1")):
        made.add(event, 10_000)

    assert (made.totals.cost, made.totals.unpriced) == (10_000, 0)


def test_details_are_kept_when_counts_are_compared() -> None:
    priced: list[Usage] = []

    def price(event: CallEnded, usage: Usage) -> None:
        priced.append(usage)

    made = CallTree("r1", 1000, EngineStats())
    made.add(model(1), 110)
    made.reconcile(model(1, usage=Usage(500, 5, details=Details(audio_input=9))), price)

    assert priced == [Usage(500, 10, details=Details(audio_input=9))]
