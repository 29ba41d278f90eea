"""A budget as a file says it: its fields, and what their words stand for.

Rule 1: money is in US dollars with six decimals at most, so that it is exact in micro-dollars. Rule 2: times
are words that people write (`1h`, `90s`, `06:00`, `80%`), or plain numbers. It does not know which fields go
together.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Final

from spanfuse_processor.engine.budget import Forecasting, Measure, Period, Reaction
from spanfuse_processor.engine.checking import Path, number
from spanfuse_processor.engine.nouns import MicroUsd
from spanfuse_processor.engine.policy import PolicyError
from spanfuse_processor.engine.reach import Reach
from spanfuse_processor.engine.verdicts import Mode

SECONDS: Final = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)")
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?")
_SHARE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_MICRO: Final = 6


class Weekday(StrEnum):
    """A day of the week, in the order of `Budget.weekday`."""

    MONDAY = "monday"
    TUESDAY = "tuesday"
    WEDNESDAY = "wednesday"
    THURSDAY = "thursday"
    FRIDAY = "friday"
    SATURDAY = "saturday"
    SUNDAY = "sunday"


@dataclass(frozen=True, slots=True)
class MarkSection:
    """A mark: from `at` on, a share of the limit (`80%`, or 0.8), `react`."""

    at: float = 1.0
    react: Reaction = Reaction.WARN


@dataclass(frozen=True, slots=True)
class DegradeSection:
    """What calls give up while the budget is short.

    `models` says a cheaper model for a model, or for a shell-style pattern of models. `tools` are patterns of
    tools that are no longer offered. Answers have at most `output_tokens`; 0: as before. They have at most
    this `temperature`; null: as before.
    """

    models: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    output_tokens: int = 0
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class BudgetSection:
    """A budget: how much in each period, for which calls, and what happens when it runs out.

    Say exactly one of `usd` (US dollars), `tokens` (of model calls, input and output) and `calls` (of models,
    embeddings and tools). `period` is for how long that lasts. `match` says which calls are charged, by
    shell-style patterns of who pays; a field left out matches all. `per` names fields by whose values it is
    counted apart, as in `[user]`: each has the whole limit. Calendar periods begin in the time zone `zone`
    (an IANA name). They begin at the time of day `reset` (`06:00`); of an hour, so many minutes past. A week
    begins on `weekday`, a month on `day` (1 to 28). A rolling period is as long as `window` (`90m`, `24h`).
    With `strict` nothing is spent that was not reserved before: calls are refused that there is no money for.
    Of a strict budget each application may still spend `safe` when the processor cannot be reached. A call
    waits up to `patience` (5s) for what other calls hold of it, before it is refused. At each of the `marks`
    something is done; without any: warn at 50% and 80%, stop at 100%. `forecast` says what is done when it is
    going to run out. `degrade` says what calls give up where something reacts with degrade. While it
    throttles, `pace` model calls a second are let through. After throttling for `block_after` (60s; 0: never)
    it stops. `mode` is how its reactions are meant, null for that of the policy.
    """

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None
    period: Period = Period.DAILY
    match: Reach = Reach()
    per: tuple[str, ...] = ()
    zone: str = "UTC"
    reset: str = "00:00"
    weekday: Weekday = Weekday.MONDAY
    day: int = field(default=1, metadata={"least": 1, "most": 28})
    window: str = "0s"
    strict: bool = False
    safe: float = 0.0
    patience: str = "5s"
    marks: tuple[MarkSection, ...] = ()
    forecast: Forecasting = Forecasting()
    degrade: DegradeSection = DegradeSection()
    pace: float = field(default=0.5, metadata={"least": 0.001})
    block_after: str = "60s"
    mode: Mode | None = None


def amount(measure: Measure, value: object, path: Path) -> int:
    """In the measure's own unit.

    >>> amount(Measure.USD, 0.1, ())
    100000

    Raises:
        PolicyError: no number, less than nothing, or not whole in that unit.
    """
    exact = Decimal(str(number(value, path)))
    if not exact.is_finite() or exact < 0:
        raise PolicyError(path, f"must be finite and not negative, got {value!r}")
    if measure is Measure.USD:
        exact = exact.scaleb(_MICRO)
    if exact != exact.to_integral_value():
        finest = "a millionth of a dollar" if measure is Measure.USD else "one"
        raise PolicyError(path, f"{value!r} is finer than {finest}")
    return int(exact)


def dollars(micro: MicroUsd) -> Decimal:
    """Micro-dollars as money."""
    return Decimal(micro).scaleb(-_MICRO)


def duration(value: object, path: Path) -> float:
    """Seconds.

    >>> duration("90m", ())
    5400.0

    Raises:
        PolicyError: no duration.
    """
    found = _DURATION.fullmatch(str(value).strip())
    expected = "a time like 90s, 30m, 24h or 7d"
    seconds = float(found[1]) * SECONDS[found[2]] if found else float(number(value, path, expected))
    if not 0 <= seconds < math.inf:
        raise PolicyError(path, f"expected {expected}, got {value!r}")
    return seconds


def clock(value: object, path: Path) -> int:
    """Seconds after midnight of a time of day. YAML takes 10:30 without quotes for 630, which is understood.

    Raises:
        PolicyError: no time of day.
    """
    found = _CLOCK.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is not None:
        hours, minutes, seconds = int(found[1]), int(found[2]), int(found[3] or 0)
        if hours < 24 and minutes < 60 and seconds < 60:
            return (hours * 60 + minutes) * 60 + seconds
    if isinstance(value, int) and 60 <= value < 24 * 60:
        return value * 60
    raise PolicyError(path, f"expected a time of day like '06:00', got {value!r}")


def share(value: object, path: Path) -> float:
    """A part of the limit.

    >>> share("80%", ()), share(0.8, ())
    (0.8, 0.8)

    Raises:
        PolicyError: no share, or none of it.
    """
    found = _SHARE.fullmatch(value.strip()) if isinstance(value, str) else None
    expected = "a share of the limit, like 80% or 0.8"
    part = float(Decimal(found[1]) / 100) if found else number(value, path, expected)
    if not 0 < part <= 10:
        raise PolicyError(path, f"expected {expected}, got {value!r}")
    return float(part)


def listed(values: object) -> object:
    """One name may stand without its list."""
    return [values] if isinstance(values, str) else values
