"""The contract of a detector: one call in, at most one finding out.

Rule 1: a detector sees a `Call`, never the tree, the breaker or another detector. Rule 2: it lives in event
time (`started_ns`, `ended_ns`) and has no clock. Rule 3: its state is bounded, whatever arrives.
Rule 4: it fires each severity at most once per episode; the engine decides what a finding moves.
One instance serves one unit of state (a run, or a feature: see `per`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from spanfuse_processor.engine.events import Call
from spanfuse_processor.engine.nouns import Level
from spanfuse_processor.engine.policy import ToolRule
from spanfuse_processor.engine.verdicts import Finding


class Detector(Protocol):
    """Watches the calls of one unit of state.

    Attributes:
        name: as it appears in verdicts, metrics and policy.
        per: the levels at which the engine keeps an instance: RUN, and FEATURE where L10 asks for it.

    A class may also name levels in `only_warns`: there, what would be a stop is a warning. And in `heeds`
    the kinds of calls that it looks at, when it does not look at all of them.
    """

    name: ClassVar[str]
    per: ClassVar[tuple[Level, ...]]

    def __init__(self, limits: Any, tools: Mapping[str, ToolRule]) -> None:
        """`limits` is the detector's own frozen dataclass, `tools` what policy says of single tools."""

    def started(self, call: Call) -> Finding | None:
        """A call began (known only from our own library). Most detectors say nothing."""

    def ended(self, call: Call) -> Finding | None:
        """A call ended; returns what was seen, or None."""
