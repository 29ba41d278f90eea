"""Who watches: which detectors look at which calls, and those of one unit of state, made when first needed.

Rule 1: the order is the registry's (row L11: loops before resources). Rule 2: a detector that has seen
nothing it heeds does not exist. Rule 3: units for which the same limits hold share everything but what
their detectors have seen. Rule 4: what a unit only warns of is warned of here. It does not know what a
finding moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf
from typing import Any, Final, NamedTuple, cast

from spanfuse_processor.engine.calls import Call, Open
from spanfuse_processor.engine.detector import Detector, MindsMoney, MindsTime, Unit
from spanfuse_processor.engine.nouns import Identity, Kind, MicroUsd
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.scoping import KEPT, Limits, Resolution, Scoping
from spanfuse_processor.engine.verdicts import Finding, Severity

Registry = Mapping[str, tuple[type[Detector], type[DetectorLimits]]]


class Post(NamedTuple):
    """One detector's place among those of a unit, a bit: how to make it, and for which calls it is woken."""

    bit: int
    make: Callable[[], Detector]
    wakes: Callable[[Call], bool] | None
    only_warns: bool
    minds_time: bool


class Posts(NamedTuple):
    """The detectors of a unit for which certain limits hold, by the kind of calls that they look at, in the
    order of judging."""

    by_kind: Mapping[Kind, tuple[Post, ...]]


class Seat(NamedTuple):
    """A post, and where among those that were made its detector is; -1: it was not made."""

    at: int
    post: Post


class Crew:
    """Which detectors of a unit were made. One is shared by all units that have made the same.

    Attributes:
        by_kind: who looks at calls of a kind, in the order of judging.
        first: the crew of which nobody was made.
    """

    __slots__ = ("_bits", "_next", "_posts", "by_kind", "first")

    def __init__(self, posts: Posts, bits: int = 0, first: Crew | None = None) -> None:
        self._posts = posts
        self._bits = bits
        self._next: dict[int, Crew] = {}  # by the bit of whoever is made next
        self.first: Final = first or self
        self.by_kind: Final = {
            kind: tuple(Seat(self.place(post) if bits & post.bit else -1, post) for post in those)
            for kind, those in posts.by_kind.items()
        }

    def place(self, post: Post) -> int:
        """Where among those that were made the detector of a post is, or would be."""
        return (self._bits & post.bit - 1).bit_count()

    def joined(self, post: Post) -> Crew:
        """The crew that has the detector of one more post."""
        crew = self._next.get(post.bit)
        if crew is None:
            crew = self._next[post.bit] = Crew(self._posts, self._bits | post.bit, self.first)
        return crew


class Watches:
    """The detectors of every unit of one kind.

    Attributes:
        heeded: the kinds of calls that any of them looks at.
    """

    __slots__ = ("_classes", "_crews", "_scoping", "_tools", "_unit", "heeded")

    def __init__(
        self, unit: Unit, registry: Registry, scoping: Scoping, tools: Mapping[str, ToolRule]
    ) -> None:
        self._unit = unit
        self._classes = {name: cls for name, (cls, _) in registry.items() if unit in cls.per}
        self._scoping = scoping
        self._tools = tools
        self._crews: dict[Resolution, Crew] = {}  # those that have made nothing yet
        self.heeded: Final = frozenset(kind for cls in self._classes.values() for kind in _heeds(cls))

    def begin(self, who: Identity, agent: str = "") -> Watch:
        """The watch of a unit that begins; `agent` where it is that of one agent."""
        resolution = self._scoping.resolution(who, agent)
        crew = self._crews.get(resolution)
        if crew is None:
            if len(self._crews) >= KEPT:
                self._crews.clear()
            crew = self._crews[resolution] = Crew(self._post(self._scoping.limits(resolution)))
        return Watch(crew)

    def _post(self, limits: Limits) -> Posts:
        posts = [
            (_post(1 << at, self._unit, cls, limits[name], self._tools), _heeds(cls))
            for at, (name, cls) in enumerate(self._classes.items())
        ]
        return Posts({kind: tuple(post for post, heeds in posts if kind in heeds) for kind in Kind})


def _heeds(cls: type[Detector]) -> frozenset[Kind]:
    return frozenset(getattr(cls, "heeds", Kind))


def _post(bit: int, unit: Unit, cls: type[Detector], limits: Any, tools: Mapping[str, ToolRule]) -> Post:
    only_warns = unit in getattr(cls, "only_warns", ())
    minds_time = issubclass(cls, MindsTime)
    waker = getattr(cls, "waker", None)
    wakes = waker(limits) if waker is not None else getattr(cls, "wakes", None)
    return Post(bit, lambda: cls(limits, tools), wakes, only_warns, minds_time)


class Watch:
    """The detectors of one unit: those that were made, one after the other, and which these are."""

    __slots__ = ("_crew", "_made")

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._made: tuple[Detector, ...] = ()

    def anew(self) -> Watch:
        """The same detectors, which have seen nothing."""
        return Watch(self._crew.first)

    def look(self, call: Call) -> tuple[Finding, ...]:
        """What the detectors say of a call, in the order of judging; as a rule nothing."""
        made, more = self._made, 0
        findings: tuple[Finding, ...] = ()
        for at, post in self._crew.by_kind[call.event.kind]:
            _, _, wakes, only_warns, _ = post  # attributes would cost more, and this is done for every call
            if at >= 0:
                detector = made[at + more]
            elif wakes is not None and not wakes(call):
                continue
            else:
                detector = self._make(post)
                made, more = self._made, more + 1  # those behind it have moved
            finding = detector.ended(call) if call.ended else detector.started(call)
            if finding is not None:
                findings += (_tamed(finding) if only_warns else finding,)
        return findings

    def mind(self, open: Open) -> tuple[tuple[Finding, ...], float]:
        """What they say of a call that is open, and in how many seconds to ask them again."""
        findings: tuple[Finding, ...] = ()
        again, more = inf, 0
        for at, post in self._crew.by_kind[open.call.event.kind]:
            if post.minds_time and (post.wakes is None or post.wakes(open.call)):
                detector = self._made[at + more] if at >= 0 else self._make(post)
                more += at < 0
                finding, wait = cast(MindsTime, detector).still_open(open)
                again = min(again, wait)
                if finding is not None:
                    findings += (_tamed(finding) if post.only_warns else finding,)
        return findings, again

    def paid(self, span_id: bytes, cost: MicroUsd) -> None:
        """The price of a call has come late."""
        for detector in self._made:
            if isinstance(detector, MindsMoney):
                detector.paid(span_id, cost)

    def _make(self, post: Post) -> Detector:
        at = self._crew.place(post)
        detector = post.make()
        self._made = (*self._made[:at], detector, *self._made[at:])
        self._crew = self._crew.joined(post)
        return detector


def _tamed(finding: Finding) -> Finding:
    stops = finding.severity is Severity.STOP
    return replace(finding, severity=Severity.WARN) if stops else finding
