"""The contract of a detector: one call in, at most one finding out.

Rule 1: a detector sees a `Call`, never the tree, the breaker or another detector. Rule 2: it lives in event
time (`started_ns`, `ended_ns`) and has no clock. Rule 3: its state is bounded, whatever arrives.
Rule 4: it fires each severity at most once per episode; the engine decides what a finding moves.
One instance serves one unit of state (see `Unit`); it is made when the first call comes that it heeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar, Protocol, runtime_checkable

from spanfuse_processor.engine.calls import Call, Open
from spanfuse_processor.engine.nouns import MicroUsd
from spanfuse_processor.engine.policy import ToolRule
from spanfuse_processor.engine.verdicts import Finding


class Unit(StrEnum):
    """Of what a detector keeps one instance each."""

    LANE = "lane"  # one agent at work in one run, its calls in order: see `lanes`
    RUN = "run"
    FEATURE = "feature"


class Detector(Protocol):
    """Watches the calls of one unit of state.

    Attributes:
        name: as it appears in verdicts, metrics and policy.
        per: the units of which the engine keeps an instance.

    A class may also name units in `only_warns`: there, what would be a stop is a warning. In `heeds` the
    kinds of calls that it looks at, when it does not look at all of them. And it may have a static method
    `wakes(call) -> bool`: no instance is made before a call for which it says yes, so that the many runs
    in which nothing of its kind happens cost nothing. Where that depends on the limits it has, instead, a
    static method `waker(limits)` that returns such a function. It is not even asked about a call of a kind
    that is not in `woken_by`, nor about one that is `plain` where `minds_plain` is False. Where that depends
    on the limits, it has instead a static method `minds(limits)` that says so.
    """

    name: ClassVar[str]
    per: ClassVar[tuple[Unit, ...]]

    def __init__(self, limits: Any, tools: Mapping[str, ToolRule]) -> None:
        """`limits` is the detector's own frozen dataclass, `tools` what policy says of single tools."""

    def started(self, call: Call) -> Finding | None:
        """A call began (known only from our own library). Most detectors say nothing."""

    def ended(self, call: Call) -> Finding | None:
        """A call ended; returns what was seen, or None."""


@runtime_checkable
class MindsMoney(Protocol):
    """A detector of runs that adds up what calls cost: it is told when a price comes late."""

    def paid(self, span_id: bytes, cost: MicroUsd) -> None:
        """The cost of a call is known, which was not when the call ended."""


@runtime_checkable
class MindsTime(Protocol):
    """A detector of runs that also looks at what is open. It still has no clock: it is told seconds."""

    def still_open(self, open: Open) -> tuple[Finding | None, float]:
        """A call is open. Returns what was seen, and in how many seconds to ask again (`inf`: never).

        First asked soon after the beginning; life that the call shows in the meantime does not hold up the
        next question.
        """
