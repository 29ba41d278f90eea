"""Amounts, shares and times as people read them.

Rule 1: amounts that differ look different, and what is small is not rounded to nothing: two significant
digits at least, as many decimals as that takes, and never fewer than two. Rule 2: amounts that are read
together have the same decimals. It knows the measures of budgets by their names: usd, tokens, calls.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

_PLACES: Final = (2, 3, 4, 5, 6)
_MICRO: Final = 1_000_000
_UNITS: Final = {"usd": "USD"}


def usd(amount: int, *beside: int) -> str:
    """Micro-dollars in dollars. `beside` are amounts that are read together with this one.

    >>> usd(8_100_000), usd(1_234_567_890), usd(1_100), usd(7), usd(20_660, 20_000), usd(20_000, 20_660)
    ('8.10', '1,234.57', '0.0011', '0.000007', '0.021', '0.020')
    """
    together = {amount, *beside}
    return f"{amount / _MICRO:,.{next(each for each in _PLACES if _tells(together, each))}f}"


def figure(amount: int, measure: str, *beside: int) -> str:
    """An amount without its unit.

    >>> figure(1_500_000, "usd"), figure(12_000, "tokens")
    ('1.50', '12,000')
    """
    return usd(amount, *beside) if measure == "usd" else f"{amount:,}"


def sum_of(amount: int, measure: str, *beside: int) -> str:
    """An amount with its unit.

    >>> sum_of(1_100, "usd", 700), sum_of(1, "calls"), sum_of(0, "calls"), sum_of(12_000, "tokens")
    ('0.0011 USD', '1 call', '0 calls', '12,000 tokens')
    """
    return f"{figure(amount, measure, *beside)} {_unit(amount, measure)}"


def part_of(part: int, whole: int, measure: str) -> str:
    """How much of how much, so that the two can be told apart.

    >>> part_of(20_660, 20_000, "usd"), part_of(1, 1, "calls"), part_of(9_999_999, 10_000_000, "usd")
    ('0.021 of 0.020 USD', '1 of 1 call', '9.999999 of 10.000000 USD')
    """
    return f"{figure(part, measure, whole)} of {sum_of(whole, measure, part)}"


def is_or_are(amount: int, measure: str) -> str:
    """The verb that goes with an amount.

    >>> is_or_are(2_000_000, "usd"), is_or_are(1, "calls"), is_or_are(0, "calls")
    ('is', 'is', 'are')
    """
    return "is" if measure == "usd" or amount == 1 else "are"


def percent(share: float) -> str:
    """A share of a whole.

    >>> percent(0.8), percent(0.005), percent(1.033), percent(0.00012), percent(0.0)
    ('80 %', '0.5 %', '103.3 %', '0.012 %', '0 %')
    """
    number = 100.0 * share
    return f"{number:,.1f} %".replace(".0 %", " %") if abs(number) >= 1 else f"{number:.2g} %"


def duration(seconds: float) -> str:
    """How long, as people say it.

    >>> duration(0.3), duration(42.4), duration(600), duration(9_000), duration(11_520), duration(200_000)
    ('less than a second', '42 s', '10 min', '2 h 30 min', '3 h 12 min', '2.3 days')
    """
    if seconds < 1:
        return "less than a second"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    if seconds < 172_800:
        return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"
    return f"{seconds / 86_400:.1f} days"


def moment(wall: float) -> str:
    """A moment, to the minute.

    >>> moment(1_796_083_200.0)
    '2026-12-01 00:00 UTC'
    """
    return f"{datetime.fromtimestamp(wall, UTC):%Y-%m-%d %H:%M} UTC"


def _tells(together: set[int], places: int) -> bool:
    """Whether so many decimals show of each amount what is worth seeing, and each apart from the others."""
    step = 10 ** (6 - places)
    if step == 1:
        return True
    shown = {round(each / step) for each in together}
    return len(shown) == len(together) and all(
        each % step == 0 or abs(each) >= 10 * step for each in together
    )


def _unit(amount: int, measure: str) -> str:
    unit = _UNITS.get(measure, measure)
    return unit.removesuffix("s") if amount == 1 and measure != "usd" else unit
