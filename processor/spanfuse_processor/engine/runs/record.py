"""What is kept of a run for as long as anything is: what it came to, and what was said of it.

Rule 1: it survives the run's tree and detectors, and is small: it is its own sums, and runs of which nothing
was said share that. Rule 2: the first stop and the first warning are kept for good; of the other findings the
first hundred. It does not know how runs are found, nor what
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


class Said:
    """What was said of a run: the findings that are kept, the first stop and the first warning.

    `ordered`: a directive was issued and not taken back. `cost_at_stop` is None but while it is stopped,
    `cost_after` what was spent while stopped, of stops that are over.
    """

    __slots__ = ("cost_after", "cost_at_stop", "findings", "ordered", "stop", "warn")

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.stop: Mark | None = None
        self.warn: Mark | None = None
        self.ordered = False
        self.cost_at_stop: MicroUsd | None = None
        self.cost_after: MicroUsd = 0


NOTHING_SAID: Final = Said()
"""Of most runs. One for all of them, so nobody writes into it: see `Record.say`."""


class Record(Totals):
    """What is kept of a run for as long as anything is. `number` counts runs in order of appearance."""

    __slots__ = (
        "_keys",
        "agent",
        "blind",
        "compared",
        "id",
        "identity",
        "last_ns",
        "number",
        "over",
        "said",
        "started_ns",
        "trace_id",
    )

    def __init__(
        self, run_id: str, number: int, trace_id: bytes, identity: Identity, started_ns: int
    ) -> None:
        super().__init__()
        self.id = run_id
        self.number = number
        self.trace_id = trace_id  # the first
        self.identity = identity
        self.agent = ""  # whose run it is: its root's, until that has ended whoever was first heard of
        self.started_ns = self.last_ns = started_ns  # event time of what came first, and of the latest
        self._keys: bytes | tuple[bytes | str, ...] = ()  # one as it is: most have no more
        self.compared = self.blind = 0  # calls of tools and models that could be compared, and could not
        self.over = False  # its root has ended, or it was put away, and nothing new has begun
        self.said = NOTHING_SAID  # to be read

    @property
    def keys(self) -> tuple[bytes | str, ...]:
        """By which its spans find it, too: traces, conversations, runs that it absorbed."""
        return (self._keys,) if isinstance(self._keys, bytes) else self._keys

    def claim(self, *keys: bytes | str) -> None:
        """They find it by these as well."""
        known = (*self.keys, *keys)
        self._keys = known[0] if len(known) == 1 and isinstance(known[0], bytes) else known

    def say(self) -> Said:
        """What was said of it, to be added to."""
        if self.said is NOTHING_SAID:
            self.said = Said()
        return self.said

    def count(self, call: Call) -> None:
        """Counts a call of an agent at work."""
        if call.news is not UNKNOWN:
            self.compared += 1
        elif call.event.kind is not AGENT:
            self.blind += 1

    def note(self, finding: Finding, action: str) -> None:
        """Keeps a finding, and marks the first of its severity."""
        said, stops = self.say(), finding.severity is Severity.STOP
        if len(said.findings) < MAX_FINDINGS:
            said.findings.append(finding)
        elif stops and said.stop is None:
            said.findings[-1] = finding
        if stops:
            self._stopped(Mark(finding.span_id, finding.call, finding.detector, action))
        elif said.warn is None:
            said.warn = Mark(finding.span_id, finding.call, finding.detector, action)

    def killed(self) -> None:
        """An operator stopped it, after whatever call came last."""
        self._stopped(Mark(b"", self.calls, OPERATOR, Action.STOP.value))

    def released(self) -> None:
        """A stop was taken back; what it was for stays on record."""
        if self.said is not NOTHING_SAID:
            self.said.cost_after = self.spent_after()
            self.said.cost_at_stop = None
            self.said.ordered = False

    def spent_after(self) -> MicroUsd:
        """What was spent after the stop, or while any stop held."""
        said = self.said
        if said.cost_at_stop is None:
            return said.cost_after
        return said.cost_after + self.cost - said.cost_at_stop

    @property
    def stopped(self) -> bool:
        """Whether a stop is due now."""
        return self.said.cost_at_stop is not None

    @property
    def judged(self) -> Judged:
        """Of which of its calls it could be told whether they repeat."""
        if not self.blind:
            return "all"
        return "some" if self.compared else "none"

    @property
    def light(self) -> Light:
        """What is the case now: a stop that was taken back leaves yellow behind."""
        if self.stopped:
            return Light.RED
        return Light.YELLOW if self.said.findings or self.said.stop else Light.GREEN

    def merge(self, other: Record) -> None:
        """Takes over a younger run's record; the older verdict stays. The sums are merged by the trees."""
        self.claim(*other.keys)
        self.agent = self.agent or other.agent
        self.compared += other.compared
        self.blind += other.blind
        self.started_ns = min(self.started_ns, other.started_ns)
        self.last_ns = max(self.last_ns, other.last_ns)
        if self.said is not NOTHING_SAID or other.said is not NOTHING_SAID:
            self._merge(self.say(), other.said, other.cost - other.spent_after())

    def _merge(self, mine: Said, others: Said, before: MicroUsd) -> None:
        """The same of what was said; `before` is what the other had spent while nothing stopped it."""
        mine.findings = [*mine.findings, *others.findings][:MAX_FINDINGS]
        mine.warn = mine.warn or others.warn
        if mine.stop is None and others.stop is not None:
            mine.stop, mine.ordered = others.stop, others.ordered
            mine.cost_at_stop = self.cost + before if others.cost_at_stop is not None else None
            mine.cost_after = others.cost_after
        elif mine.cost_at_stop is not None:
            mine.cost_at_stop += before

    @property
    def halted(self) -> bool:
        """A stop was enforced; whether it was taken back or not."""
        return self.said.stop is not None and self.said.stop.action == Action.STOP

    def _stopped(self, mark: Mark) -> None:
        said = self.say()
        said.stop = said.stop or mark
        if said.cost_at_stop is None:
            said.cost_at_stop = self.cost
