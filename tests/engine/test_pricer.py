"""The pricer: the model that answered, else the one asked for; prices that come later."""

from __future__ import annotations

from dataclasses import replace

from tests.engine.making import NOON, Book, model

from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import MicroUsd, Usage
from spanfuse_processor.engine.pricer import MAX_WAITING, Pricer, Waiting
from spanfuse_processor.engine.pricing import PENDING, YOCTO_PER_MICRO, Rates
from spanfuse_processor.engine.stats import EngineStats

DAY = NOON // 86_400_000_000_000
FLAT = Rates(YOCTO_PER_MICRO, YOCTO_PER_MICRO)


class Desk:
    """A pricer, its book, its counts, and what it paid."""

    def __init__(self) -> None:
        self.book = Book()
        self.stats = EngineStats()
        self.pricer = Pricer(self.book, self.stats)
        self.paid: list[tuple[str, MicroUsd]] = []

    def price(self, event: CallEnded) -> object:
        assert event.usage is not None
        return self.pricer.price(event, event.usage)

    def wait(self, run: str, event: CallEnded) -> None:
        assert event.usage is not None
        self.pricer.wait(run, event, event.usage, stopped=False)

    def settle(self) -> None:
        self.pricer.settle(self.pay)

    def pay(self, call: Waiting, cost: MicroUsd) -> None:
        self.paid.append((call.run, cost))


def test_the_model_that_answered_is_priced_before_the_one_that_was_asked_for() -> None:
    assert Desk().price(model(1, model="dear", name="good")) == 1100


def test_where_nobody_knows_the_answering_model_the_one_asked_for_is_priced() -> None:
    assert Desk().price(model(1, model="good-2026-01-01", name="good")) == 110


def test_an_unknown_model_has_no_price_and_is_counted_by_name() -> None:
    desk = Desk()
    event = model(1, model="odd", name="odder")

    assert desk.price(event) is None
    for _ in range(2):
        desk.pricer.unpriced(event)
    assert (desk.stats.unpriced, desk.stats.unpriced_models) == (2, {"odd": 2})


def test_what_the_emitter_says_holds_only_where_the_book_is_silent() -> None:
    desk = Desk()

    assert desk.price(model(1, model="odd", name="odd", cost=77)) == 77
    assert desk.price(model(2, model="good", cost=77)) == 110
    assert (desk.stats.hinted, desk.stats.unpriced) == (1, 0)


def test_the_book_is_asked_once_for_each_model_and_day() -> None:
    desk = Desk()

    for number in range(5):
        desk.price(model(number))

    assert desk.book.asked == [("", "good", DAY)]


def test_a_models_window_is_known_with_its_price_and_not_before() -> None:
    desk = Desk()
    event = model(1, model="slow", name="slow")

    desk.price(event)
    before, desk.book.slow = desk.pricer.known(event), replace(FLAT, window=128_000)
    desk.price(event)

    assert (before, desk.pricer.known(event)) == (None, desk.book.slow)


def test_a_model_that_no_book_knows_has_no_window() -> None:
    desk = Desk()
    event = model(1, model="odd", name="odd")

    desk.price(event)

    assert desk.pricer.known(event) is None


def test_a_price_that_is_being_looked_up_is_pending_and_asked_for_again() -> None:
    desk = Desk()

    first = desk.price(model(1, model="slow"))
    desk.book.slow = FLAT

    assert (first, desk.price(model(2, model="slow"))) == (PENDING, 110)


def test_waiting_calls_are_paid_in_order_once_the_book_answers() -> None:
    desk = Desk()
    for number, run in ((1, "a"), (2, "b")):
        desk.wait(run, model(number, model="slow", name="slow"))

    desk.settle()
    before = list(desk.paid)
    desk.book.slow = FLAT
    desk.settle()

    assert (before, desk.paid, desk.pricer.waiting) == ([], [("a", 110), ("b", 110)], 0)


def test_a_model_whose_price_never_comes_does_not_keep_others_waiting() -> None:
    desk = Desk()
    desk.wait("a", model(1, model="slow", name="slow"))
    desk.wait("b", model(2, model="good", name="good"))

    desk.settle()
    desk.settle()

    assert desk.paid == [("b", 110)]


def test_a_price_that_turns_out_not_to_exist_leaves_the_call_unpriced() -> None:
    desk = Desk()
    desk.wait("a", model(1, model="slow", name="slow"))
    desk.book.slow = None

    desk.settle()

    assert (desk.paid, desk.stats.unpriced_models) == ([], {"slow": 1})


def test_only_so_many_calls_wait() -> None:
    desk = Desk()
    event = model(1, model="slow", name="slow")
    for _ in range(MAX_WAITING + 1):
        desk.pricer.wait("a", event, Usage(1), stopped=False)

    assert (desk.pricer.waiting, desk.stats.unpriced) == (MAX_WAITING, 1)
