"""Prices hold for any usage: what is charged is what its parts cost, and no count makes money."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.nouns import Details, Usage
from spanfuse_processor.engine.pricing import YOCTO_PER_MICRO, DetailRates, Rates

price = st.integers(0, 100).map(lambda cents: cents * YOCTO_PER_MICRO // 100)
maybe = st.none() | price
count = st.integers(0, 10**7)
details = st.builds(Details, *[count] * 8)
usage = st.builds(Usage, count, count, count, count, count, st.none() | details)
more = st.none() | st.builds(DetailRates, *[maybe] * 7, price)
flat = st.builds(Rates, price, price, maybe, maybe, maybe, price, details=more)


@st.composite
def sound(draw: st.DrawFn) -> Usage:
    """A usage whose parts are parts of it."""
    heard, seen, read, written, text = draw(st.tuples(*[st.integers(0, 10**6)] * 5))
    heard_read, seen_read = draw(st.tuples(*[st.integers(0, 10**5)] * 2))
    spoken, drawn, thought, said = draw(st.tuples(*[st.integers(0, 10**6)] * 4))
    return Usage(
        text + heard + heard_read + seen + seen_read + read + written,
        spoken + drawn + thought + said,
        read + heard_read + seen_read,
        written,
        thought,
        Details(
            draw(st.integers(0, written)),
            *(heard + heard_read, heard_read, spoken, seen + seen_read, seen_read, drawn),
            draw(st.integers(0, 5)),
        ),
    )


def boxed(rates: Rates, used: Usage) -> Fraction:
    """The cost with every token in one box."""
    part, prices = used.details or Details(), rates.details or DetailRates()

    def first(*known: int | None) -> int:
        return next(each for each in known if each is not None)

    heard, seen = part.audio_input - part.audio_cached, part.image_input - part.image_cached
    plain = used.input_tokens - used.cached_tokens - used.cache_write_tokens - heard - seen
    read = used.cached_tokens - part.audio_cached - part.image_cached
    said = used.output_tokens - used.reasoning_tokens - part.audio_output - part.image_output
    written = first(rates.cache_write, rates.input)
    total = (
        plain * rates.input
        + read * first(rates.cached, rates.input)
        + (used.cache_write_tokens - part.kept) * written
        + part.kept * first(prices.kept, written)
        + heard * first(prices.audio_input, rates.input)
        + seen * first(prices.image_input, rates.input)
        + part.audio_cached * first(prices.audio_cached, rates.cached, prices.audio_input, rates.input)
        + part.image_cached * first(prices.image_cached, rates.cached, prices.image_input, rates.input)
        + said * rates.output
        + used.reasoning_tokens * first(rates.reasoning, rates.output)
        + part.audio_output * first(prices.audio_output, rates.output)
        + part.image_output * first(prices.image_output, rates.output)
        + part.searches * prices.search
        + rates.call
    )
    return Fraction(total, YOCTO_PER_MICRO)


@given(flat, sound())
def test_what_is_charged_is_what_every_token_costs_in_the_one_box_that_it_is_in(
    rates: Rates, used: Usage
) -> None:
    assert rates.cost(used) == int(boxed(rates, used) + Fraction(1, 2))


@given(flat, usage)
def test_no_counts_however_odd_make_a_call_earn_money(rates: Rates, used: Usage) -> None:
    assert rates.cost(used) >= 0


@given(flat, sound(), st.integers(0, 10**6))
def test_more_of_the_same_is_never_cheaper(rates: Rates, used: Usage, by: int) -> None:
    more_asked = replace(used, input_tokens=used.input_tokens + by)
    more_said = replace(used, output_tokens=used.output_tokens + by)

    assert rates.cost(used) <= min(rates.cost(more_asked), rates.cost(more_said))


@given(flat, flat, sound())
def test_a_call_is_charged_as_it_was_served_and_as_standard_where_that_has_no_price(
    standard: Rates, batch: Rates, used: Usage
) -> None:
    rates = replace(standard, services=(("batch", batch),))

    assert rates.cost(used, "batch") == batch.cost(used)
    assert rates.cost(used, "default") == rates.cost(used) == standard.cost(used)


@given(flat, flat, sound(), st.integers(0, 5 * 10**6))
def test_over_its_start_a_tier_holds_for_every_token(
    low: Rates, high: Rates, used: Usage, start: int
) -> None:
    rates = replace(low, tiers=((start, high),))

    assert rates.cost(used) == (high if used.input_tokens > start else low).cost(used)
