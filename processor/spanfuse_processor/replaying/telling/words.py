"""Figures and calls in words, as a person reads them.

Rule 1: plain ASCII but for names, and names are shown as they are, nothing in them moves a terminal. It does
not know where they are shown.
"""

from __future__ import annotations

from typing import Final

from spanfuse_processor.engine import Kind, MicroUsd
from spanfuse_processor.replaying.journal import Step
from spanfuse_processor.terminal import printable

_NS: Final = 1_000_000_000
_MINUTE: Final = 60


def money(cost: MicroUsd) -> str:
    """US dollars, to the last micro-dollar.

    >>> money(14_000)
    '0.014000'
    """
    return f"{cost / 1_000_000:,.6f}"


def count(number: int, noun: str) -> str:
    """So many of something.

    >>> count(1, "call"), count(1200, "call")
    ('1 call', '1,200 calls')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def duration(ns: int) -> str:
    """A time span, in tenths of a second at first.

    >>> duration(2_050_000_000), duration(125 * 10**9), duration(4_000 * 10**9)
    ('2.0s', '2:05', '1:06:40')
    """
    seconds = ns / _NS
    if seconds < 2 * _MINUTE:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(int(seconds), _MINUTE)
    hours, minutes = divmod(minutes, _MINUTE)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def size(number: int) -> str:
    """The size of a result.

    >>> size(18), size(2_048)
    ('18', '2.0k')
    """
    return str(number) if number < 1_000 else f"{number / 1_000:.1f}k"


def called(step: Step) -> str:
    """What was called: a tool by its name alone, anything else with what it is."""
    name = printable(step.name) or "?"
    if step.kind is Kind.TOOL:
        return name
    return f"{step.kind.value} {name}"


def answer(step: Step) -> str:
    """What came back: how it failed, or the digest of the result and its size."""
    if step.error:
        return f"failed: {printable(step.error)}"
    if step.empty:
        return "empty"
    return f"{step.came} {size(step.size)}" if step.came else ""
