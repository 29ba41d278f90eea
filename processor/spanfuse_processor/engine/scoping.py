"""What holds where: a policy resolved for one call, or for one run.

Rule 1: what is said later goes over what is said before: a detector's defaults, the profile, the policy, then
its rules from top to bottom. Rule 2: how to react is resolved for the call at which something is seen;
thresholds for a whole run, and for one agent of it. Rule 3: what is resolved is kept, within bounds, so that
the many calls of one place cost one look-up. It does not know any detector.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

from spanfuse_processor.engine.events import Call
from spanfuse_processor.engine.nouns import Identity, Kind
from spanfuse_processor.engine.policy import (
    REACTIONS,
    DetectorLimits,
    Detectors,
    Fields,
    Match,
    Policy,
    PolicyError,
    PolicyRule,
    Profile,
)
from spanfuse_processor.engine.profiles import PROFILES
from spanfuse_processor.engine.verdicts import Finding, Mode, Severity

KEPT: Final = 4_096
"""Places whose resolution is kept; then all are forgotten and resolved anew."""

Limits = Mapping[str, DetectorLimits]
_KNOWN: Final = {profile.value: profile for profile in Profile}


class Place(NamedTuple):
    """Where a call is, as far as rules ask. Empty: not known, or not of one agent, tool or detector."""

    tenant: str = ""
    service: str = ""
    namespace: str = ""
    feature: str = ""
    profile: str = ""
    agent: str = ""
    tool: str = ""
    detector: str = ""


class Reaction(NamedTuple):
    """How to react to what one detector sees at one place."""

    mode: Mode = Mode.ENFORCE
    only_warn: tuple[str, ...] = ()
    also_stop: tuple[str, ...] = ()

    def severity(self, finding: Finding) -> Severity:
        """What a finding is worth."""
        if finding.severity is Severity.STOP:
            return Severity.WARN if finding.rule in self.only_warn else Severity.STOP
        return Severity.STOP if finding.rule in self.also_stop else Severity.WARN


class Resolution(NamedTuple):
    """Which limits hold: those of a profile, with the policy's rules of these numbers over them."""

    profile: Profile
    rules: tuple[int, ...] = ()


class Scoping:
    """Resolves one policy. `defaults` are the detectors' own limits, by name.

    Raises:
        PolicyError: the policy sets a limit that its detector does not have.
    """

    __slots__ = ("_defaults", "_limits", "_policy", "_reactions", "_resolutions")

    def __init__(self, policy: Policy, defaults: Limits) -> None:
        self._policy = policy
        self._defaults = defaults
        self._limits: dict[Resolution, Limits] = {}
        self._resolutions: dict[tuple[str, ...], Resolution] = {}
        self._reactions: dict[Place, Reaction] = {}
        everything = tuple(range(len(policy.rules)))
        for profile in Profile:
            self._lay(Resolution(profile, everything))

    def profile(self, who: Identity) -> Profile:
        """The profile of a run: a rule's, else what the run says, else the policy's."""
        place = _place(who)
        chosen = _KNOWN.get(who.profile, self._policy.profile)
        for rule in self._policy.rules:
            if rule.profile is not None and covers(rule.match, place):
                chosen = rule.profile
        return chosen

    def resolution(self, who: Identity, agent: str = "") -> Resolution:
        """Which limits hold for a run, or for one agent of it."""
        key = (who.tenant, who.service, who.namespace, who.feature, who.profile, agent)
        known = self._resolutions.get(key)
        if known is None:
            if len(self._resolutions) >= KEPT:
                self._resolutions.clear()
            known = self._resolutions[key] = self._resolve(who, agent)
        return known

    def limits(self, resolution: Resolution) -> Limits:
        """Every detector's limits; the same object for the same resolution."""
        known = self._limits.get(resolution)
        if known is None:
            if len(self._limits) >= KEPT:
                self._limits.clear()
            known = self._limits[resolution] = self._lay(resolution)
        return known

    def reaction(self, call: Call, detector: str) -> Reaction:
        """How to react to what `detector` saw at a call."""
        event = call.event
        tool = event.name if event.kind is Kind.TOOL else ""
        profile = self.resolution(event.identity).profile
        place = _place(event.identity, profile, agent_of(call), tool, detector)
        known = self._reactions.get(place)
        if known is None:
            if len(self._reactions) >= KEPT:
                self._reactions.clear()
            known = self._reactions[place] = self._react(place)
        return known

    def layers(self, resolution: Resolution) -> Iterator[tuple[str, Detectors]]:
        """What is laid over the defaults, lowest first, and where it comes from."""
        policy, profile = self._policy, resolution.profile
        yield f"profile {profile.value}", PROFILES[profile]
        yield "detectors", policy.detectors
        for number in resolution.rules:
            yield f"rule {number + 1}", policy.rules[number].detectors

    def covering(self, place: Place) -> Iterator[tuple[int, PolicyRule]]:
        """The rules for `place`, in order, with their numbers."""
        return ((at, rule) for at, rule in enumerate(self._policy.rules) if covers(rule.match, place))

    def _resolve(self, who: Identity, agent: str) -> Resolution:
        profile = self.profile(who)
        place = _place(who, profile, agent)
        rules = [number for number, rule in self.covering(place) if rule.detectors]
        return Resolution(profile, tuple(rules))

    def _lay(self, resolution: Resolution) -> Limits:
        laid = dict(self._defaults)
        for where, detectors in self.layers(resolution):
            for name in detectors.keys() & laid.keys():
                laid[name] = over(laid[name], detectors[name], (where, name))
        return laid

    def _react(self, place: Place) -> Reaction:
        policy, detector = self._policy, place.detector
        said: dict[str, Any] = {"mode": policy.mode} | reactions(policy.detectors.get(detector, {}))
        for _, rule in self.covering(place):
            if rule.mode is not None:
                said["mode"] = rule.mode
            said |= reactions(rule.detectors.get(detector, {}))
        return Reaction(**said)


def covers(match: Match, place: Place) -> bool:
    """Whether a rule that matches so is for `place`. What is not known matches no pattern.

    >>> covers(Match(feature=("chat", "support-*")), Place(feature="support-mail"))
    True
    >>> covers(Match(agent=("*",)), Place(feature="chat"))
    False
    """
    return all(
        name and any(fnmatchcase(name, pattern) for pattern in patterns)
        for name, patterns in ((getattr(place, field), getattr(match, field)) for field in Place._fields)
        if patterns
    )


def agent_of(call: Call) -> str:
    """The innermost agent around a call; of the outermost agent's own, itself."""
    event, above = call.event, call.agents[-1] if call.agents else ""
    return above or event.agent if event.kind is Kind.AGENT else event.agent or above


def over(below: DetectorLimits, said: DetectorLimits | Fields, path: tuple[str, ...] = ()) -> DetectorLimits:
    """Limits with what is said laid over them.

    Raises:
        PolicyError: a field that they do not have.
    """
    if isinstance(said, DetectorLimits):
        return said
    try:
        return replace(below, **said)  # type: ignore[arg-type]
    except TypeError as error:
        raise PolicyError(path, str(error)) from None


def reactions(said: DetectorLimits | Fields) -> dict[str, Any]:
    """What is said of how to react."""
    if isinstance(said, DetectorLimits):
        return {name: value for name in REACTIONS if (value := getattr(said, name))}
    return {name: value for name, value in said.items() if name in REACTIONS and value is not None}


def _place(who: Identity, profile: str = "", agent: str = "", tool: str = "", detector: str = "") -> Place:
    return Place(who.tenant, who.service, who.namespace, who.feature, profile, agent, tool, detector)
