"""Money before and after a call: its estimate, what it would cost at worst, what it cost; and what is learnt.

A model of 100 calls, a request of 4,000 characters, prices with all that the book has. Against an empty call.
"""

from __future__ import annotations

from tests.benchmarks.timing import each, middle, tail, timer

from spanfuse_processor.engine.estimates import Estimator, worst_cost
from spanfuse_processor.engine.genai_book import GenaiPrices
from spanfuse_processor.engine.nouns import Usage
from spanfuse_processor.engine.policy import Price
from spanfuse_processor.engine.pricing import Rates
from spanfuse_processor.engine.tariff import Tariff

DAY = 20_780
USED = Usage(1_000, 200, cached_tokens=640, reasoning_tokens=64)


def main(quick: bool = False) -> dict[str, float]:
    """p50 and p99 in microseconds."""
    times = 2_000 if quick else 50_000
    estimator = Estimator()
    for number in range(100):
        estimator.learn("gpt-5", 4_000 + number, Usage(1_000 + number, 200 + number))
    book = Tariff({"local/*": Price()}, Price(5.0, 20.0), GenaiPrices())
    rates = book.rates("openai", "gpt-5", DAY)
    assert isinstance(rates, Rates)
    figures = {"baseline: empty call, p50 us": timer()}
    estimate = each(lambda: worst_cost(rates, estimator.expect("gpt-5", 4_000)), times)
    figures["an estimate in tokens and money: p50 us"] = middle(estimate)
    figures["an estimate in tokens and money: p99 us"] = tail(estimate)
    figures["a call's cost: p50 us"] = middle(each(lambda: rates.cost(USED), times))
    figures["the same, served as priority: p50 us"] = middle(
        each(lambda: rates.cost(USED, "priority"), times)
    )
    figures["rates of a known model, with a policy's prices: p50 us"] = middle(
        each(lambda: book.rates("openai", "gpt-5", DAY), times)
    )
    figures["learning from a call: p50 us"] = middle(
        each(lambda: estimator.learn("gpt-5", 4_000, USED), times)
    )
    return figures
