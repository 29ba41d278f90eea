"""The last act's facts: a feature with an allowance, and an agent that spends it faster and faster.

The budget is 1 USD an hour, but nobody wants to watch for an hour: it rolls over a minute instead. A budget
that rolls is the same in all its proportions, however long its window is: a second here is a minute of it.
Rule 1: what the agent does in the beginning could go on for ever within both budgets. Rule 2: data only.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Final

from spanfuse.demo.scenarios import MATERIALS, MODEL

FEATURE: Final = "research"
MONEY, CALLS = "research", "research-calls"
"""The names of the two budgets that cover each of its calls."""

LIMIT_USD: Final = 1.0
MOST_CALLS: Final = 150
PERIOD: Final = 60.0
"""Seconds that stand for the hour."""

CHEAPER: Final = "gpt-4o-mini"
FEWER: Final = 150
"""Output tokens of an answer while money is short."""

POLICY: Final = f"""\
policy:
  budgets:
    {MONEY}: # watched by its forecast
      usd: {LIMIT_USD}
      period: rolling
      window: {PERIOD:.0f}s
      match:
        feature: {FEATURE}
      forecast:
        react: degrade
        within: 0.33
      degrade:
        models:
          {MODEL}: {CHEAPER}
        output_tokens: {FEWER}
      marks:
        - at: 100%
          react: stop
    {CALLS}: # watched by a mark
      calls: {MOST_CALLS}
      period: rolling
      window: {PERIOD:.0f}s
      match:
        feature: {FEATURE}
      forecast:
        within: 0
      marks:
        - at: 75%
          react: throttle
        - at: 100%
          react: stop
      block_after: 0s
"""
"""What the operator of the demo has written down, as a section of the configuration file."""

STEADY: Final = 4.0
"""Seconds for which one helper works alone."""
NEXT_HELPER: Final = 0.3
"""Seconds after which there is one more, from then on."""
HELPERS: Final = 10
PAUSE: Final = 0.46
"""Seconds between two reports of one helper."""
SLOW_CALLS: Final = 3
"""Calls that have been held back, after which enough has been seen."""
LONGEST: Final = 40.0
"""Seconds after which the agent ends, whatever it has seen."""


def requests() -> Iterator[str]:
    """What is to be written: never the same twice, so that no loop is there to be found."""
    for number in count():
        for material in MATERIALS.split(", "):
            yield f"Write a report of 500 words on the market of {material} in {1900 + number}."
