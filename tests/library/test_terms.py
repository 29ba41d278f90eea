"""Prices and rules of tools that change under the parts that hold them."""

from __future__ import annotations

from tests.engine.making import Book

from spanfuse.terms import Terms
from spanfuse_processor.engine.policy import Policy, Price, ToolRule
from spanfuse_processor.engine.pricing import YOCTO_PER_MICRO, Rates


def price(terms: Terms, model: str) -> int | None:
    rates = terms.rates("", model, 0)
    return rates.input if isinstance(rates, Rates) else None


def test_a_policys_price_goes_over_the_books() -> None:
    terms = Terms(Policy(prices={"good": Price(input=3.0)}), Book())

    assert price(terms, "good") == 3 * YOCTO_PER_MICRO
    assert price(terms, "dear") == 10 * YOCTO_PER_MICRO


def test_another_policy_holds_for_whoever_has_them_already() -> None:
    terms = Terms(Policy(tools={"search": ToolRule(fee=0.5)}), Book())
    tools = terms.tools

    terms.obey(Policy(prices={"good": Price(input=5.0)}, tools={"pay": ToolRule(repeatable=True)}))

    assert price(terms, "good") == 5 * YOCTO_PER_MICRO
    assert list(tools) == ["pay"]
    assert tools["pay"].repeatable


def test_a_fallback_prices_what_nobody_knows() -> None:
    terms = Terms(Policy(fallback=Price(input=7.0)), Book())

    assert price(terms, "nobody-knows-it") == 7 * YOCTO_PER_MICRO
