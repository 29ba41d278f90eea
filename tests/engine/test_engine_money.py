"""Money in the engine: prices that come later, calls that nobody can price."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.engine.driving import Plain, engine, look, tell
from tests.engine.making import Book, detectors, ended, model

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Usage
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.pricing import YOCTO_PER_MICRO, Rates


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


def heard(events: Iterable[CallEnded], book: Book | None = None) -> list[Call]:
    """The calls that an engine makes of `events`."""
    calls: list[Call] = []
    made = Engine(
        Policy(), book or Book(), (Plain(),), detectors(), observer=lambda call, _: calls.append(call)
    )
    for event in events:
        made.observe(event, 0.0)
    return calls
