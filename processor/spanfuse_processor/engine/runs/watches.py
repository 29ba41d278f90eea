"""Who watches: which detectors look at which calls, and those of one unit of state, made when first needed.

Rule 1: the order is the registry's (row L11: loops before resources). Rule 2: a detector that has seen
nothing it heeds does not exist. Rule 3: what a unit only warns of is warned of here. It does not know what
a finding moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from spanfuse_processor.engine.detector import Detector, Unit
from spanfuse_processor.engine.events import Call
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import DetectorLimits, Policy
from spanfuse_processor.engine.verdicts import Finding, Severity

Registry = Mapping[str, tuple[type[Detector], type[DetectorLimits]]]


class Post(NamedTuple):
    """One detector's place among those of a unit: how to make it, and for which calls it is woken."""

    at: int
    make: Callable[[], Detector]
    wakes: Callable[[Call], bool] | None
    only_warns: bool


class Watches:
    """The detectors of every unit of one kind.

    Attributes:
        by_kind: the posts that look at calls of a kind, in the order of judging.
        size: how many there are.
    """

    __slots__ = ("by_kind", "size")

    def __init__(self, unit: Unit, registry: Registry, policy: Policy) -> None:
        named = [(name, cls, limits) for name, (cls, limits) in registry.items() if unit in cls.per]
        posts = [
            (_post(at, unit, cls, policy.detectors.get(name) or limits(), policy), cls)
            for at, (name, cls, limits) in enumerate(named)
        ]
        self.size: Final = len(posts)
        self.by_kind: Final = {
            kind: tuple(post for post, cls in posts if kind in getattr(cls, "heeds", Kind)) for kind in Kind
        }


def _post(at: int, unit: Unit, cls: type[Detector], limits: Any, policy: Policy) -> Post:
    only_warns = unit in getattr(cls, "only_warns", ())
    return Post(at, lambda: cls(limits, policy.tools), getattr(cls, "wakes", None), only_warns)


class Watch:
    """The detectors of one unit."""

    __slots__ = ("_made", "_watches")

    def __init__(self, watches: Watches) -> None:
        self._watches = watches
        self._made: list[Detector | None] | None = None

    def look(self, call: Call) -> tuple[Finding, ...]:
        """What the detectors say of a call, in the order of judging; as a rule nothing."""
        made = self._made
        findings: tuple[Finding, ...] = ()
        for post in self._watches.by_kind[call.event.kind]:
            detector = made[post.at] if made is not None else None
            if detector is None:
                if post.wakes is not None and not post.wakes(call):
                    continue
                detector = post.make()
                if made is None:
                    made = self._made = [None] * self._watches.size
                made[post.at] = detector
            finding = detector.ended(call) if call.ended else detector.started(call)
            if finding is not None:
                findings += (_tamed(finding) if post.only_warns else finding,)
        return findings


def _tamed(finding: Finding) -> Finding:
    stops = finding.severity is Severity.STOP
    return replace(finding, severity=Severity.WARN) if stops else finding
