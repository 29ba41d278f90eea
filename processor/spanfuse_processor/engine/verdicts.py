"""What comes out of the engine: findings, states, directives.

Rule 1: frozen; a verdict is evidence. Rule 2: every directive carries a revision, and whoever holds a
newer one drops the older. Rule 3: texts are for a person or for the model, codes are for machines.
This file does not know who reads a verdict, nor how it travels.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spanfuse_processor.engine.nouns import BreakerKey, Level, MicroUsd
from spanfuse_processor.engine.reach import Degrading, Reach
from spanfuse_processor.engine.wording import sum_of, usd


class Severity(StrEnum):
    """The levels of row W5 that are worth saying: yellow warns, red stops."""

    WARN = "warn"
    STOP = "stop"


class BreakerState(StrEnum):
    """resilience4j's states: the first three move by evidence and time, the rest by operators."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"
    FORCED_OPEN = "forced_open"
    DISABLED = "disabled"


class Action(StrEnum):
    """What a directive asks of the application."""

    STOP = "stop"
    PAUSE = "pause"
    THROTTLE = "throttle"
    DEGRADE = "degrade"
    BLOCK_TOOL = "block_tool"
    LIMIT = "limit"
    REQUIRE_LEASE = "require_lease"


class Mode(StrEnum):
    """SHADOW computes and publishes, WARN tells, ENFORCE acts."""

    SHADOW = "shadow"
    WARN = "warn"
    ENFORCE = "enforce"


class OnExpiry(StrEnum):
    """What holds when a directive's time is up and nobody renewed it."""

    ALLOW = "allow"
    DENY = "deny"
    LOCAL_LIMITS = "local_limits"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a detector saw at one call, with its evidence.

    `observed` reached `limit`. `spans` are the ids of the calls that count, oldest first, at most 16.
    `cleared_by` says in words what would have cleared the suspicion. `reason` is the machine's code: LOOP,
    DRIFT, BATCH, RETRY_STORM, MONOLOGUE, CONTEXT, DEPTH, RECURSION, FAN_OUT, RATE, BURST, STUCK, LIMIT,
    CHANT, SPAN_FLOOD. `rule` names which of the detector's rules it was, as its limits call it.
    `first_span_id` and `span_id` are the first and the last call of what was seen, `prints` the digests
    that came back (arguments, result or error), `cost` what the run had cost by then, which the engine
    adds.
    """

    detector: str
    severity: Severity
    reason: str
    message: str
    span_id: bytes
    call: int
    observed: float
    limit: float
    spans: tuple[bytes, ...] = ()
    cleared_by: str = ""
    rule: str = ""
    first_span_id: bytes = b""
    prints: tuple[str, ...] = ()
    cost: MicroUsd = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a directive was issued, small enough to travel with it. The fields are those of the finding.

    `unit` is that of `observed` and `limit` where they are amounts of a budget: usd (dollars), tokens, calls.
    """

    detector: str = ""
    observed: float = 0.0
    limit: float = 0.0
    trace_id: bytes = b""
    span_ids: tuple[bytes, ...] = ()
    cost: MicroUsd = 0
    rule: str = ""
    first_span_id: bytes = b""
    prints: tuple[str, ...] = ()
    cleared_by: str = ""
    unit: str = ""

    def words(self) -> str:
        """For a person: which rule, between which calls, at what cost so far, what would have cleared it.

        >>> seen = Evidence("repeat", 5, 5, span_ids=(b"A", b"E"), rule="equal", cleared_by="a new result")
        >>> print(seen.words())
        Rule repeat.equal: 5, limit 5. From span 41 to span 45. Would have been cleared by a new result.
        """
        rule = f"{self.detector}.{self.rule}" if self.rule else ""
        sentences = (
            rule and f"Rule {rule}: {self._amount(self.observed)}, limit {self._amount(self.limit)}.",
            self._where(),
            self.cost and f"Cost so far: {usd(self.cost)} USD.",
            self.cleared_by and f"Would have been cleared by {self.cleared_by.rstrip('. ')}.",
        )
        return " ".join(each for each in sentences if each)

    def _amount(self, number: float) -> str:
        """With its unit; two amounts of money have the same decimals."""
        if not self.unit:
            return _figure(number)
        scale = 1_000_000 if self.unit == "usd" else 1
        return sum_of(
            round(number * scale), self.unit, round(self.observed * scale), round(self.limit * scale)
        )

    def _where(self) -> str:
        """From the first call to the last that counts."""
        if not self.span_ids:
            return ""
        first, last = self.first_span_id or self.span_ids[0], self.span_ids[-1]
        spans = f"At span {last.hex()}" if first == last else f"From span {first.hex()} to span {last.hex()}"
        return f"{spans} of trace {self.trace_id.hex()}." if self.trace_id else f"{spans}."


def _figure(number: float) -> str:
    """A number as people write it.

    >>> _figure(5.0), _figure(2_000_000.0), _figure(1 / 3)
    ('5', '2,000,000', '0.3333')
    """
    return f"{round(number, 4):,.10g}"


@dataclass(frozen=True, slots=True)
class Leasing:
    """What calls take from a lease before they are made: an amount in `measure` (usd, tokens or calls) of the
    account that is counted apart by the fields `per` of who pays. When others hold what is left they wait up
    to `patience` seconds."""

    measure: str
    per: tuple[str, ...] = ()
    patience: float = 5.0


@dataclass(frozen=True, slots=True)
class Directive:
    """An order to every application that runs under `key`.

    `id` is stable: a newer revision of the same id replaces the older. `ttl` is in seconds, counted
    by the receiver on its own monotonic clock from receipt. `issued_ns` is wall time, 0 until the host
    stamps it. `params` are the numbers of the action (for example calls_per_second), empty for STOP.

    The key of a budget says whose order it is; which calls it is for is `reach`, which other keys do not
    have. `degrading` is what a DEGRADE asks calls to give up, `leasing` what a REQUIRE_LEASE has them take.
    """

    id: str
    revision: int
    key: BreakerKey
    action: Action = Action.STOP
    mode: Mode = Mode.ENFORCE
    ttl: float = 86_400.0
    on_expiry: OnExpiry = OnExpiry.ALLOW
    cancel_in_flight: bool = True
    grace: float = 0.0
    priority: int = 0
    reason: str = ""
    message: str = ""
    model_message: str = ""
    evidence: Evidence = Evidence()
    issuer: str = ""
    issued_ns: int = 0
    params: tuple[tuple[str, float], ...] = ()
    reach: Reach | None = None
    degrading: Degrading | None = None
    leasing: Leasing | None = None

    @property
    def wide(self) -> bool:
        """Whether it is for the calls of a reach, not for those of its key."""
        return self.key.level is Level.BUDGET


@dataclass(frozen=True, slots=True)
class Removal:
    """A directive is withdrawn; `revision` is that of the withdrawal."""

    id: str
    revision: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Transition:
    """One move of one breaker; `generation` is the new one."""

    key: BreakerKey
    before: BreakerState
    after: BreakerState
    generation: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """One thing that the engine has to say about a run or another key.

    A finding that moved nothing has no transition; an operator's order has no finding. `removal` withdraws
    the directive of an earlier verdict. `key` says whose state it is about (None: that of the run);
    `run` is empty where no run is concerned, `trace_id` is that of the offending call.
    """

    run: str
    finding: Finding | None = None
    transition: Transition | None = None
    directive: Directive | None = None
    removal: Removal | None = None
    ended_ns: int = 0  # event time of the offending call's end, for detection latency
    agent: str = ""
    key: BreakerKey | None = None
    trace_id: bytes = b""

    @property
    def level(self) -> Level:
        """The run's, or that of what the run belongs to."""
        return self.key.level if self.key else Level.RUN
