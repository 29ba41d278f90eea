"""Payments over a purse with so much in it, and a book with one answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.library.making import Clock, chat, scope
from tests.library.purses.till import Till
from tests.waiting import until

from spanfuse.board import Board
from spanfuse.errors import BreakerOpen
from spanfuse.expecting import Expecting
from spanfuse.gate import Gate
from spanfuse.payment import Payment
from spanfuse.payments import Payments, Sources
from spanfuse.provider import Intent
from spanfuse_processor.engine import names
from spanfuse_processor.engine.policy import ToolRule
from spanfuse_processor.engine.pricing import YOCTO_PER_MICRO, Pending, Rates

RATES = Rates(0, 100 * YOCTO_PER_MICRO)  # 100 USD a million of what is said: 100 micro-dollars a token
COST = 1_000  # of ten tokens


class Book:
    """A book with one answer."""

    def __init__(self, answer: Rates | Pending | None = RATES) -> None:
        self.answer = answer

    def rates(self, provider: str, model: str, day: int) -> Rates | Pending | None:
        return self.answer


def payments(till: Till, book: Book | None = None, clock: Clock | None = None, **more: Any) -> Payments:
    board = Board(clock or Clock())
    sources = Sources(Expecting(), book or Book(), {"search": ToolRule(fee=0.002), "free": ToolRule()})
    return Payments(board, Gate(board), till, sources, **more)


def asked(most: int = 10) -> Intent:
    """A model call that is to say so many tokens at most."""
    return chat("hi", attributes={names.MAX_TOKENS: most})


def paid(by: Payments, intent: Intent | None = None) -> Payment:
    payment = by.pay(intent or asked(), scope())
    assert payment is not None
    return payment


def refused(by: Payments, intent: Intent | None = None) -> BreakerOpen:
    with pytest.raises(BreakerOpen) as caught:
        by.pay(intent or asked(), scope())
    return caught.value


def waits(by: Payments, meanwhile: Callable[[], object]) -> list[object]:
    """What a thread got that had to wait while something happened."""
    results: list[object] = []

    def pay() -> None:
        try:
            results.append(by.pay(asked(), scope()))
        except BreakerOpen as refusal:
            results.append(refusal)

    thread = threading.Thread(target=pay)
    thread.start()
    until(lambda: by.purse.room.waiting)
    meanwhile()
    by.purse.room.made()
    thread.join(5.0)
    assert by.purse.room.waiting == 0
    return results
