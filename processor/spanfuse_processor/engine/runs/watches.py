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
    """One detector's place among those of a unit, a bit: how to make it, and for which calls it is woken.

    Never for those of a kind that is not in `woken_by`, and where it does not mind plain ones for none of
    these.
    """

    bit: int
    make: Callable[[], Detector]
    wakes: Callable[[Call], bool] | None
    woken_by: frozenset[Kind]
    minds_plain: bool
    only_warns: bool
    minds_time: bool


class Posts(NamedTuple):
    """The detectors of a unit for which certain limits hold, by the kind of calls that they look at, in the
    order of judging."""

    by_kind: Mapping[Kind, tuple[Post, ...]]


Seat = tuple[Callable[[Call], bool] | None, int, Post]
"""A post: for which calls its detector is to be made, or None and where in a watch it is.

It is a plain tuple, for that is taken apart in half the time: as it is for every detector at every call.
"""


class Crew:
    """Which detectors of a unit were made. One is shared by all units that have made the same.

    Attributes:
        by_kind: who looks at calls of a kind, in the order of judging.
        plain: who does at those that are plain.
        first: the crew of which nobody was made.
        alone: the watch of all units of which nobody was made.
    """

    __slots__ = ("_bits", "_next", "_posts", "alone", "by_kind", "first", "plain")

    def __init__(self, posts: Posts, bits: int = 0, first: Crew | None = None) -> None:
        self._posts = posts
        self._bits = bits
        self._next: dict[int, Crew] = {}  # by the bit of whoever is made next
        self.first: Final = first or self
        self.alone: Final[Watch] = (self,)
        self.by_kind: Final = {
            kind: tuple(self._seat(post) for post in those if bits & post.bit or kind in post.woken_by)
            for kind, those in posts.by_kind.items()
        }
        self.plain: Final = {
            kind: tuple(seat for seat in seats if seat[0] is None or seat[2].minds_plain)
            for kind, seats in self.by_kind.items()
        }

    def place(self, post: Post) -> int:
        """Where in a watch, behind its crew, the detector of a post is, or would be."""
        return 1 + (self._bits & post.bit - 1).bit_count()

    def _seat(self, post: Post) -> Seat:
        made = self._bits & post.bit
        return (None, self.place(post), post) if made else (post.wakes or _at_once, 0, post)

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
        return crew.alone

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
    woken_by, minds = getattr(cls, "woken_by", _heeds(cls)), getattr(cls, "minds", None)
    minds_plain = minds(limits) if minds is not None else getattr(cls, "minds_plain", True)
    return Post(bit, lambda: cls(limits, tools), wakes, woken_by, minds_plain, only_warns, minds_time)


Watch = tuple[Any, ...]
"""The detectors of one unit, as a value: the crew, then those that were made, one after the other.

Whoever keeps it keeps what comes back in its place: as a rule the same."""


def detectors_of(watch: Watch) -> tuple[Detector, ...]:
    """The detectors that were made, in the order of judging."""
    return watch[1:]


def anew(watch: Watch) -> Watch:
    """The same detectors, which have seen nothing."""
    return watch[0].first.alone  # type: ignore[no-any-return]


def look(watch: Watch, call: Call) -> tuple[Watch, tuple[Finding, ...]]:
    """What the detectors say of a call, in the order of judging; as a rule nothing."""
    more, crew = 0, watch[0]
    findings: tuple[Finding, ...] = ()
    for wakes, at, post in (crew.plain if call.plain else crew.by_kind)[call.event.kind]:
        if wakes is None:
            detector = watch[at + more]
        elif wakes(call):
            watch, detector = _with(watch, post)
            more += 1  # those behind it have moved
        else:  # nearly always
            continue
        finding = detector.ended(call) if call.ended else detector.started(call)
        if finding is not None:
            findings += (_tamed(finding) if post.only_warns else finding,)
    return watch, findings


def mind(watch: Watch, open: Open) -> tuple[Watch, tuple[Finding, ...], float]:
    """What they say of a call that is open, and in how many seconds to ask them again."""
    more, again = 0, inf
    findings: tuple[Finding, ...] = ()
    for wakes, at, post in watch[0].by_kind[open.call.event.kind]:
        if post.minds_time and (post.wakes is None or post.wakes(open.call)):
            if wakes is None:
                detector = watch[at + more]
            else:
                watch, detector = _with(watch, post)
                more += 1
            finding, wait = cast(MindsTime, detector).still_open(open)
            again = min(again, wait)
            if finding is not None:
                findings += (_tamed(finding) if post.only_warns else finding,)
    return watch, findings, again


def paid(watch: Watch, span_id: bytes, cost: MicroUsd) -> None:
    """The price of a call has come late."""
    for detector in detectors_of(watch):
        if isinstance(detector, MindsMoney):
            detector.paid(span_id, cost)


def _with(watch: Watch, post: Post) -> tuple[Watch, Detector]:
    """The same with the detector of one more post."""
    crew, *those = watch
    detector = post.make()
    those.insert(crew.place(post) - 1, detector)
    return (crew.joined(post), *those), detector


def _at_once(call: Call) -> bool:
    """What makes a detector that has to see all calls."""
    return True


def _tamed(finding: Finding) -> Finding:
    stops = finding.severity is Severity.STOP
    return replace(finding, severity=Severity.WARN) if stops else finding
