"""The application's price book: never waits, looks each price up once."""

from __future__ import annotations

import threading

import pytest
from tests.waiting import until

from spanfuse import prices
from spanfuse.prices import ThreadedPrices, day_of
from spanfuse_processor.engine.pricing import PENDING, Pending, Rates

MINI = ("openai", "gpt-4o-mini", 20_000)


class SlowBook:
    """Answers when it is let."""

    def __init__(self, answer: Rates | None = None, error: Exception | None = None) -> None:
        self.let = threading.Event()
        self.asked: list[tuple[str, str, int]] = []
        self._answer = answer
        self._error = error

    def rates(self, provider: str, model: str, day: int) -> Rates | Pending | None:
        self.let.wait(5)
        self.asked.append((provider, model, day))
        if self._error:
            raise self._error
        return self._answer


def test_a_price_is_pending_until_it_has_been_looked_up_behind() -> None:
    book = SlowBook(Rates(input=1, output=2))
    threaded = ThreadedPrices(lambda: book)

    assert threaded.rates(*MINI) is PENDING
    assert threaded.rates(*MINI) is PENDING
    book.let.set()
    until(lambda: threaded.rates(*MINI) == Rates(input=1, output=2))

    assert book.asked == [MINI]


def test_an_unknown_model_is_none_and_not_asked_again() -> None:
    book = SlowBook(None)
    book.let.set()
    threaded = ThreadedPrices(lambda: book)

    threaded.rates(*MINI)
    until(lambda: threaded.rates(*MINI) is None)

    assert book.asked == [MINI]


def test_a_book_that_fails_makes_the_price_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPANFUSE_RERAISE", "0")
    book = SlowBook(error=ValueError("torn page"))
    book.let.set()
    threaded = ThreadedPrices(lambda: book)

    threaded.rates(*MINI)

    until(lambda: threaded.rates(*MINI) is None)


def test_the_day_is_counted_from_the_epoch() -> None:
    assert day_of(86_400 * 10**9 - 1) == 0
    assert day_of(86_400 * 10**9) == 1


def test_the_process_has_one_book() -> None:
    before = prices.shared()

    assert prices.shared() is before
    prices.forget_shared()
    assert prices.shared() is not before


def test_the_real_book_knows_a_real_model() -> None:
    threaded = ThreadedPrices()
    threaded.warm_up()

    until(lambda: isinstance(threaded.rates(*MINI), Rates), timeout=20)
