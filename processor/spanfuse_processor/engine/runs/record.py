"""What is kept of a run for as long as anything is: what it came to, and what was said of it.

Rule 1: it survives the run's tree and detectors, and is small. Rule 2: the first stop and the first warning
are kept for good; of the other findings the first hundred. It does not know how runs are found, nor what
moves a breaker.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal, NamedTuple

from spanfuse_processor.engine.calls import Call, News
from spanfuse_processor.engine.directives import OPERATOR
from spanfuse_processor.engine.nouns import Identity, Kind, MicroUsd
from spanfuse_processor.engine.tree.totals import Totals
from spanfuse_processor.engine.verdicts import Action, Finding, Severity

MAX_FINDINGS: Final = 100

AGENT, UNKNOWN = Kind.AGENT, News.UNKNOWN  # a member looked up in its enum costs four times as much

Judged = Literal["all", "some", "none"]


class Light(StrEnum):
    """The level of a run (row W5)."""

    GREEN = "green"  # nothing to say
    YELLOW = "yellow"  # something was seen
    RED = "red"  # a stop is due: enforced or, where the mode is another, only told


class Mark(NamedTuple):
    """Where a run was first stopped, or first warned of. `action` is what was asked: stop, warn or
    shadow."""

    span_id: bytes
    call: int
    detector: str
    action: str


class Record:
    """What is kept of a run for as long as anything is. `number` counts runs in order of appearance."""

    __slots__ = (
        "agent",
        "blind",
        "compared",
        "cost_at_stop",
        "cost_after",
        "findings",
        "id",
        "identity",
        "keys",
        "last_ns",
        "number",
        "ordered",
        "over",
        "started_ns",
        "stop",
        "totals",
        "trace_id",
        "warn",
    )

    def __init__(
        self, run_id: str, number: int, trace_id: bytes, identity: Identity, started_ns: int
    ) -> None:
        self.id = run_id
        self.number = number
        self.trace_id = trace_id  # the first
        self.identity = identity
        self.agent = ""  # whose run it is: its root's, until that has ended whoever was first heard of
        self.started_ns = self.last_ns = started_ns  # event time of what came first, and of the latest
        self.totals = Totals()
        self.keys: tuple[bytes | str, ...] = ()  # by which its spans find it, too: traces, conversations ...
        self.compared = self.blind = 0  # calls of tools and models that could be compared, and could not
        self.findings: list[Finding] | None = None
        self.stop: Mark | None = None
        self.warn: Mark | None = None
        self.ordered = False  # a directive was issued and not taken back
        self.cost_at_stop: MicroUsd | None = None  # while stopped
        self.over = False  # its root has ended, or it was put away, and nothing new has begun
        self.cost_after: MicroUsd = 0  # spent while stopped, of stops that are over

    def count(self, call: Call) -> None:
        """Counts a call of an agent at work."""
        if call.news is not UNKNOWN:
            self.compared += 1
        elif call.event.kind is not AGENT:
            self.blind += 1

    def note(self, finding: Finding, action: str) -> None:
        """Keeps a finding, and marks the first of its severity."""
        if self.findings is None:
            self.findings = []
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(finding)
        elif finding.severity is Severity.STOP and self.stop is None:
            self.findings[-1] = finding
        if finding.severity is Severity.STOP:
            self._stopped(Mark(finding.span_id, finding.call, finding.detector, action))
        elif self.warn is None:
            self.warn = Mark(finding.span_id, finding.call, finding.detector, action)

    def killed(self) -> None:
        """An operator stopped it, after whatever call came last."""
        self._stopped(Mark(b"", self.totals.calls, OPERATOR, Action.STOP.value))

    def released(self) -> None:
        """A stop was taken back; what it was for stays on record."""
        self.cost_after = self.spent_after()
        self.cost_at_stop = None
        self.ordered = False

    def spent_after(self) -> MicroUsd:
        """What was spent after the stop, or while any stop held."""
        if self.cost_at_stop is None:
            return self.cost_after
        return self.cost_after + self.totals.cost - self.cost_at_stop

    @property
    def judged(self) -> Judged:
        """Of which of its calls it could be told whether they repeat."""
        if not self.blind:
            return "all"
        return "some" if self.compared else "none"

    @property
    def light(self) -> Light:
        """What is the case now: a stop that was taken back leaves yellow behind."""
        if self.cost_at_stop is not None:
            return Light.RED
        return Light.YELLOW if self.findings or self.stop else Light.GREEN

    def merge(self, other: Record) -> None:
        """Takes over a younger run's record; the older verdict stays. Totals are merged by the trees."""
        self.keys += other.keys
        self.agent = self.agent or other.agent
        self.compared += other.compared
        self.blind += other.blind
        self.findings = [*(self.findings or ()), *(other.findings or ())][:MAX_FINDINGS] or None
        self.warn = self.warn or other.warn
        self.started_ns = min(self.started_ns, other.started_ns)
        self.last_ns = max(self.last_ns, other.last_ns)
        before = other.totals.cost - other.spent_after()
        if self.stop is None and other.stop is not None:
            self.stop, self.ordered = other.stop, other.ordered
            self.cost_at_stop = self.totals.cost + before if other.cost_at_stop is not None else None
            self.cost_after = other.cost_after
        elif self.cost_at_stop is not None:
            self.cost_at_stop += before

    @property
    def halted(self) -> bool:
        """A stop was enforced; whether it was taken back or not."""
        return self.stop is not None and self.stop.action == Action.STOP

    def _stopped(self, mark: Mark) -> None:
        self.stop = self.stop or mark
        if self.cost_at_stop is None:
            self.cost_at_stop = self.totals.cost
