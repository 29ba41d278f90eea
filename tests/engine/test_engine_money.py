"""Money in the engine: prices that come later, calls that nobody can price."""

from __future__ import annotations

from tests.engine.driving import engine, look, tell
from tests.engine.making import Book, ended, model

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
