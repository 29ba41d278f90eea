"""Several agents begin with huge contexts: what they will cost is plain before they have done much.

Rule 1: the first model call of an agent says what each further one will read at least. Rule 2: what a
provider had in its cache costs a tenth, and counts for a tenth. Rule 3: only calls that are dear are looked
at, and only those of agents that something has started. It does not know prices, nor budgets.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from spanfuse_processor.engine.calls import PLAIN_TOKENS, Call
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import CallEnded, CallStarted
from spanfuse_processor.engine.findings import found
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity
from spanfuse_processor.engine.window import NS

AGENT, MODEL = Kind.AGENT, Kind.MODEL  # a member looked up in its enum costs four times as much

DEAR: Final = 100_000
"""Tokens of one call from which on it is looked at."""

KEPT: Final = 64
"""Dear calls, and agents, that are remembered."""


@dataclass(frozen=True, slots=True)
class DearLimits(DetectorLimits):
    """At least `agents` agents whose first model calls, begun within `seconds`, read more than `tokens` in
    all stop a run; half of that warns. 0 tokens switch it off.
    """

    tokens: int = 2_000_000
    agents: int = 3
    seconds: float = 60.0


class First(NamedTuple):
    """The first model call below a span that was dear."""

    started_ns: int
    tokens: int
    span_id: bytes


class DearDetector:
    """Watches the agents of one run.

    >>> from spanfuse_processor.engine.nouns import Usage
    >>> detector = DearDetector(DearLimits(), {})
    >>> for number in range(1, 5):
    ...     fork = CallStarted(bytes(16), bytes([number]), b"root", number * NS, AGENT, "fork")
    ...     _ = detector.started(Call(fork, "run", 2 * number, 0, 1, ("main",), False))
    ...     event = CallEnded(bytes(16), bytes([99, number]), bytes([number]), number * NS, MODEL, "m")
    ...     event.usage = Usage(710_000, 20)
    ...     finding = detector.ended(Call(event, "run", 2 * number + 1, 1, 0, ("main", "fork"), True))
    ...     print(number, finding and (finding.severity.value, finding.message))
    1 None
    2 None
    3 ('stop', '3 agents began within 60 s with 2130000 tokens in all')
    4 None
    """

    name: ClassVar[str] = "dear"
    per: ClassVar[tuple[Unit, ...]] = (Unit.RUN,)
    heeds: ClassVar[frozenset[Kind]] = frozenset({AGENT, MODEL, Kind.OTHER, Kind.WORKFLOW})
    woken_by: ClassVar[frozenset[Kind]] = frozenset({MODEL})
    minds_plain: ClassVar[bool] = DEAR < PLAIN_TOKENS

    __slots__ = ("_agents", "_begun", "_firsts", "_limits", "_told")

    def __init__(self, limits: DearLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._firsts: OrderedDict[bytes, First] = OrderedDict()  # by the span above
        self._agents: OrderedDict[bytes, None] = OrderedDict()  # those that something has started
        self._begun: list[First] = []  # what is known to be an agent's
        self._told: tuple[Severity, ...] = ()

    @staticmethod
    def wakes(call: Call) -> bool:
        """Only when a model has read much."""
        return call.event.kind is MODEL and _tokens(call.event) >= DEAR

    def started(self, call: Call) -> Finding | None:
        """Notes an agent."""
        return self._met(call, call.event) if call.event.kind is AGENT else None

    def ended(self, call: Call) -> Finding | None:
        """Notes an agent, or a model's call; a span between the two hands on what is below it."""
        event = call.event
        kind = event.kind
        if kind is MODEL:
            tokens = _tokens(event)
            return (
                self._keep(call, First(event.started_ns, tokens, event.span_id)) if tokens >= DEAR else None
            )
        if kind is AGENT:
            return self._met(call, event)
        first = self._firsts.get(event.span_id)
        return self._keep(call, first) if first is not None else None

    def _keep(self, call: Call, first: First) -> Finding | None:
        above = call.event.parent_span_id
        known = self._firsts.get(above)
        if not above or (known is not None and known.started_ns <= first.started_ns):
            return None
        self._firsts[above] = first
        if len(self._firsts) > KEPT:
            self._firsts.popitem(last=False)
        return self._began(call, first) if above in self._agents else None

    def _met(self, call: Call, event: CallStarted) -> Finding | None:
        if event.span_id in self._agents or not (call.agents or event.parent_span_id.strip(b"\0")):
            return None
        self._agents[event.span_id] = None
        if len(self._agents) > KEPT:
            self._agents.popitem(last=False)
        first = self._firsts.get(event.span_id)
        return self._began(call, first) if first is not None else None

    def _began(self, call: Call, first: First) -> Finding | None:
        limits = self._limits
        self._begun = sorted((*self._begun, first))[-KEPT:]
        since = self._begun[-1].started_ns - int(limits.seconds * NS)
        near = [each for each in self._begun if each.started_ns >= since]
        tokens = sum(each.tokens for each in near)
        if not 0 < limits.tokens < 2 * tokens or len(near) < limits.agents:
            return None
        severity = Severity.STOP if tokens > limits.tokens else Severity.WARN
        if severity in self._told or Severity.STOP in self._told:
            return None
        self._told += (severity,)
        return found(
            call,
            self.name,
            severity,
            "FAN_OUT",
            f"{len(near)} agents began within {limits.seconds:g} s with {tokens} tokens in all",
            observed=tokens,
            limit=limits.tokens if severity is Severity.STOP else limits.tokens // 2,
            cleared_by="smaller contexts, cached ones, or fewer agents at a time",
            spans=tuple(each.span_id for each in near),
            rule="tokens",
        )


def _tokens(event: CallStarted) -> int:
    """What a call read and paid for; what was cached for a tenth."""
    usage = event.usage if isinstance(event, CallEnded) else None
    if usage is None:
        return 0
    read, cached = usage.input_tokens, usage.cached_tokens
    if not cached:
        return read
    cached = min(cached, read)
    return read - cached + cached // 10
