"""Money in the engine: prices that come later, calls that nobody can price."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.engine.driving import Plain, engine, look, tell
from tests.engine.making import Book, detectors, ended, model, span

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Kind, Usage
from spanfuse_processor.engine.policy import Bounds, Policy, Price, ToolRule
from spanfuse_processor.engine.pricing import YOCTO_PER_MICRO, Rates
from spanfuse_processor.engine.tree.spending import Amended


class TestMoney:
    def test_a_price_that_comes_later_is_settled_at_the_next_event(self) -> None:
        book = Book()
        made = engine(book=book)
        tell(made, [model(1, model="slow", name="slow")])
        awaited = (made.stats().prices_awaited, look(made).cost)
        book.slow = Rates(YOCTO_PER_MICRO, YOCTO_PER_MICRO)

        tell(made, [ended(2)])

        assert awaited == (1, 0)
        assert (look(made).cost, look(made).unpriced_calls, made.stats().prices_awaited) == (110, 0, 0)

    def test_a_price_that_comes_after_the_stop_belongs_before_it(self) -> None:
        book = Book()
        made = engine(book=book)
        tell(made, [model(9, model="slow", name="slow"), ended(1), ended(2), ended(3)])
        book.slow = Rates(YOCTO_PER_MICRO, YOCTO_PER_MICRO)

        assert (look(made).cost, look(made).cost_after) == (110, 0)

    def test_a_price_that_comes_after_the_run_was_put_away_is_still_charged(self) -> None:
        book = Book()
        made = engine(book=book)
        tell(made, [model(9, model="slow", name="slow")])
        made.advance(10_000.0)
        book.slow = Rates(YOCTO_PER_MICRO, YOCTO_PER_MICRO)

        made.advance(10_001.0)

        assert (look(made).cost, look(made).unpriced_calls) == (110, 0)

    def test_a_duplicate_waits_for_no_price(self) -> None:
        made = engine()

        tell(made, [model(1, model="slow", name="slow")] * 2)

        assert made.stats().prices_awaited == 1

    def test_what_nobody_can_price_is_counted_by_model(self) -> None:
        made = engine()

        tell(made, [model(1, model="odd", name="odd")] * 2)

        assert (look(made).cost, look(made).unpriced_calls) == (0, 1)
        assert made.stats().unpriced_models == {"odd": 1}

    def test_a_model_call_without_usage_is_counted_unless_it_failed(self) -> None:
        made = engine()

        tell(made, [model(1, usage=None), model(2, usage=None, error="timeout")])

        assert (made.stats().usage_missing, look(made).unpriced_calls) == (1, 0)

    def test_a_duplicate_that_says_more_is_priced_by_what_it_says(self) -> None:
        made = engine()

        tell(made, [model(1, tokens=10), model(1, tokens=1000)])

        assert (look(made).cost, made.stats().conflicts, look(made).calls) == (1100, 1, 1)


class TestWhatDetectorsSee:
    """A call comes with what its run has used by then."""

    def test_the_sums_of_the_run_grow_with_each_call(self) -> None:
        calls = heard([model(1, tokens=100), ended(2), model(3, tokens=1000)])

        assert [(call.run_cost, call.run_tokens) for call in calls] == [(110, 110), (110, 110), (1210, 1210)]

    def test_a_price_that_came_later_is_in_them(self) -> None:
        book = Book()

        def told() -> Iterator[CallEnded]:
            yield model(1, model="slow", name="slow")
            book.slow = Rates(YOCTO_PER_MICRO, YOCTO_PER_MICRO)
            yield ended(2)

        assert [call.run_cost for call in heard(told(), book)] == [0, 110]

    def test_a_call_that_wraps_another_is_not_in_them_twice(self) -> None:
        calls = heard([model(2, 1, tokens=100), model(1, tokens=100)])

        assert [(call.run_cost, call.run_tokens) for call in calls] == [(110, 110), (110, 110)]

    def test_tokens_from_a_cache_are_left_out(self) -> None:
        calls = heard([model(1, usage=Usage(1000, 10, cached_tokens=900))])

        assert calls[0].run_tokens == 110

    def test_the_window_is_the_models_and_no_tools(self) -> None:
        book = Book()
        book.slow = Rates(YOCTO_PER_MICRO, YOCTO_PER_MICRO, window=8_192)

        calls = heard([model(1, model="slow"), ended(2), model(3), model(4, usage=None)], book)

        assert [call.window for call in calls] == [8_192, 0, 0, 0]


class TestPolicy:
    """What a policy says of prices."""

    def test_its_prices_go_before_those_of_the_book(self) -> None:
        made = engine(Policy(prices={"go*": Price(10.0, 0.0), "lama": Price()}))

        tell(made, [model(1), model(2, model="lama", name="lama")])

        assert (look(made).cost, look(made).unpriced_calls, made.stats().unpriced) == (1000, 0, 0)

    def test_its_fallback_is_charged_for_what_nobody_knows_and_counted_as_unpriced(self) -> None:
        policy = Policy(fallback=Price(5.0, 0.0))
        calls = heard([model(1), model(2, model="odd", name="odder")], policy=policy)
        made = engine(policy)
        tell(made, [model(1), model(2, model="odd", name="odder")])

        assert [(call.cost, call.estimated, call.unpriced) for call in calls] == [
            (110, False, False),
            (500, True, True),
        ]
        assert (look(made).cost, look(made).unpriced_calls) == (610, 0)
        assert (made.stats().unpriced_models, made.stats().guessed) == ({"odd": 1}, 1)

    def test_the_model_that_was_asked_for_goes_before_the_fallback(self) -> None:
        policy = Policy(fallback=Price(5.0, 0.0))

        assert [call.cost for call in heard([model(1, model="odd", name="good")], policy=policy)] == [110]

    def test_and_so_does_what_the_emitter_says(self) -> None:
        policy = Policy(fallback=Price(5.0, 0.0))
        calls = heard([model(1, model="odd", name="odd", cost=77)], policy=policy)

        assert [(call.cost, call.estimated) for call in calls] == [(77, False)]

    def test_a_fallback_that_comes_late_is_counted_as_unpriced_too(self) -> None:
        book = Book()
        made = engine(Policy(fallback=Price(5.0, 0.0)), book)
        tell(made, [model(1, model="slow", name="slow")])
        book.slow = None

        assert (look(made).cost, made.stats().unpriced_models) == (500, {"slow": 1})

    def test_the_fee_of_a_tool_is_what_its_call_costs_and_in_the_sums_of_the_run(self) -> None:
        policy = Policy(tools={"search": ToolRule(fee=0.01)})
        calls = heard(
            [ended(1, name="search"), ended(2, name="read"), ended(3, name="search")], policy=policy
        )

        assert [(call.cost, call.run_cost) for call in calls] == [
            (10_000, 10_000),
            (None, 10_000),
            (10_000, 20_000),
        ]

    def test_a_tool_may_say_itself_what_it_cost(self) -> None:
        assert [call.run_cost for call in heard([ended(1, cost=2_500)])] == [2_500]
        fee = Policy(tools={"tool": ToolRule(fee=0.01)})
        assert [call.run_cost for call in heard([ended(1, cost=2_500)], policy=fee)] == [10_000]

    def test_a_call_that_failed_and_an_agent_have_no_fee_but_a_failed_tool_has(self) -> None:
        policy = Policy(tools={"tool": ToolRule(fee=0.01), "agent": ToolRule(fee=0.01)})
        agent = ended(2, kind=Kind.AGENT, cost=5)

        assert [call.cost for call in heard([ended(1, error="x"), agent], policy=policy)] == [10_000, None]


class TestServices:
    def test_a_call_costs_what_the_way_it_was_served_costs(self) -> None:
        book = Book()
        batch = Rates(YOCTO_PER_MICRO // 2, YOCTO_PER_MICRO // 2)
        book.slow = Rates(YOCTO_PER_MICRO, YOCTO_PER_MICRO, services=(("batch", batch),))

        calls = heard(
            [model(at, model="slow", service=how) for at, how in ((1, "default"), (2, "batch"))], book
        )

        assert [call.cost for call in calls] == [110, 55]

    def test_also_where_the_price_comes_late(self) -> None:
        book = Book()
        made = engine(book=book)
        tell(made, [model(1, model="slow", name="slow", service="batch")])
        batch = Rates(YOCTO_PER_MICRO // 2, YOCTO_PER_MICRO // 2)
        book.slow = Rates(YOCTO_PER_MICRO, YOCTO_PER_MICRO, services=(("batch", batch),))

        assert look(made).cost == 55


class TestGuesses:
    def test_a_guess_is_marked_and_counted_and_gives_way_to_what_is_reported(self) -> None:
        made = engine()
        tell(made, [model(1, tokens=1000, estimated=True)])
        before = look(made).cost
        tell(made, [model(1, tokens=100)])

        assert (before, look(made).cost) == (1100, 110)
        assert (made.stats().estimated, made.stats().corrected) == (1, 1)
        assert [call.estimated for call in heard([model(1, estimated=True), model(2)])] == [True, False]

    def test_what_was_charged_on_presumption_is_a_guess_that_gives_way(self) -> None:
        made = engine()
        tell(made, [model(1, usage=None, error="timeout", estimated=True, presumed=500)])
        before = look(made)
        tell(made, [model(1, tokens=100)])

        assert (before.cost, before.unpriced_calls, look(made).cost) == (500, 0, 110)
        assert (made.stats().estimated, made.stats().corrected, made.stats().usage_missing) == (1, 1, 0)

    def test_it_holds_for_a_part_of_an_answer_too_and_needs_no_price(self) -> None:
        for name in ("good", "slow", "odd"):
            (call,) = heard([model(1, model=name, name=name, estimated=True, presumed=500)])

            assert (call.cost, call.estimated, call.unpriced) == (500, True, False)

    def test_it_counts_once_beside_who_knows_what_was_used(self) -> None:
        made = engine()
        tell(made, [model(2, 1, usage=None, estimated=True, presumed=500), model(1)])

        assert look(made).cost == 110

    def test_and_past_the_bound_of_a_run(self) -> None:
        made = engine(Policy(bounds=Bounds(nodes_per_run=1)))
        tell(made, [model(1), model(2, usage=None, estimated=True, presumed=500)])

        assert look(made).cost == 610

    def test_tries_that_failed_unseen_are_counted_and_not_charged(self) -> None:
        made = engine()
        tell(made, [model(1, resends=2)])

        assert (made.stats().resends, look(made).cost) == (2, 110)


class TestAmendments:
    """Who keeps count beside the engine hears what a call comes to after all."""

    def test_a_price_that_came_late_is_told_wherever_its_run_is_by_then(self) -> None:
        for wait in (0.0, 10_000.0):
            told: list[Amended] = []
            book = Book()
            made = Engine(Policy(), book, (Plain(),), detectors(), amend=told.append)
            tell(made, [model(1, model="slow", name="slow")])
            made.advance(wait)
            book.slow = Rates(YOCTO_PER_MICRO, YOCTO_PER_MICRO)
            made.advance(wait + 1.0)

            assert [(each.span_id, each.usage, each.cost) for each in told] == [
                (span(1), Usage(100, 10), 110)
            ]

    def test_a_call_that_another_tells_again_is_told_to_be_nothing(self) -> None:
        told: list[Amended] = []
        made = Engine(Policy(), Book(), (Plain(),), detectors(), amend=told.append)
        tell(made, [model(1), model(2, 1)])

        assert [(each.span_id, each.usage, each.cost) for each in told] == [(span(1), Usage(), 0)]


def heard(events: Iterable[CallEnded], book: Book | None = None, policy: Policy | None = None) -> list[Call]:
    """The calls that an engine makes of `events`."""
    calls: list[Call] = []
    made = Engine(
        policy or Policy(),
        book or Book(),
        (Plain(),),
        detectors(),
        observer=lambda call, _: calls.append(call),
    )
    for event in events:
        made.observe(event, 0.0)
    return calls
