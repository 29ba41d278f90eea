"""What holds where: a policy resolved for one call, or for one run.

Rule 1: what is said later goes over what is said before: a detector's defaults, the profile, the policy, then
its rules from top to bottom; but a rule that names no detector never makes one stricter than what was said of
it by name. Rule 2: how to react is resolved for the call at which something is seen;
thresholds for a whole run, and for one agent of it. Rule 3: what is resolved is kept, within bounds, so that
the many calls of one place cost one look-up. It does not know any detector.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

from spanfuse_processor.engine.calls import Call
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
Asked = tuple[tuple[int, tuple[str, ...]], ...]
"""What a rule asks of a place: patterns, by where in it the name stands that they are for."""

_STRICTNESS: Final = (Mode.SHADOW, Mode.WARN, Mode.ENFORCE)
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

    __slots__ = ("_asked", "_defaults", "_limits", "_policy", "_reactions", "_resolutions")

    def __init__(self, policy: Policy, defaults: Limits) -> None:
        self._policy = policy
        self._defaults = defaults
        self._asked = tuple(_asked(rule.match) for rule in policy.rules)
        self._limits: dict[Resolution, Limits] = {}
        self._resolutions: dict[tuple[str, ...], Resolution] = {}
        self._reactions: dict[Place, Reaction] = {}
        everything = tuple(range(len(policy.rules)))
        for profile in Profile:
            self._lay(Resolution(profile, everything))

    def profile(self, who: Identity) -> Profile:
        """The profile of a run: a rule's, else what the run says, else the policy's."""
        *_, (_, chosen) = self.profiles(who)
        return chosen

    def profiles(self, who: Identity) -> Iterator[tuple[str, Profile]]:
        """Every word on the profile of a run, and where it stands; the last decides."""
        yield "the policy's profile", self._policy.profile
        if who.profile in _KNOWN:
            yield "the run says so", _KNOWN[who.profile]
        place = _place(who)
        for number, rule in enumerate(self._policy.rules):
            if rule.profile is not None and _fits(self._asked[number], place):
                yield _name(number), rule.profile

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
            known = Reaction()
            for _, said in self.said(place):
                known = known._replace(**said)
            self._reactions[place] = known
        return known

    def layers(self, resolution: Resolution) -> Iterator[tuple[str, Detectors]]:
        """What is laid over the defaults, lowest first, and where it comes from."""
        policy, profile = self._policy, resolution.profile
        yield f"profile {profile.value}", PROFILES[profile]
        yield "detectors", policy.detectors
        for number in resolution.rules:
            yield _name(number), policy.rules[number].detectors

    def said(self, place: Place) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every word on how to react to what a detector sees at `place`, and where it stands, in order."""
        yield "the policy's mode", {"mode": self._policy.mode}
        own = reactions(self._policy.detectors.get(place.detector, {}))
        named = "detectors", own.get("mode")  # the mode that the detector was given by name
        yield "detectors", own
        for where, rule in self._covering(place):
            own = reactions(rule.detectors.get(place.detector, {}))
            if rule.match.detector and rule.mode is not None:
                own["mode"] = rule.mode
            if "mode" in own:
                named = where, own["mode"]
            elif rule.mode is not None:
                by, mode = min((where, rule.mode), named, key=_strictness)
                yield by, {"mode": mode}
            yield where, own

    def _covering(self, place: Place) -> Iterator[tuple[str, PolicyRule]]:
        """The rules for `place`, in order, with their names."""
        for number, rule in enumerate(self._policy.rules):
            if _fits(self._asked[number], place):
                yield _name(number), rule

    def _resolve(self, who: Identity, agent: str) -> Resolution:
        profile = self.profile(who)
        place, asked = _place(who, profile, agent), self._asked
        rules = (n for n, rule in enumerate(self._policy.rules) if rule.detectors and _fits(asked[n], place))
        return Resolution(profile, tuple(rules))

    def _lay(self, resolution: Resolution) -> Limits:
        laid = dict(self._defaults)
        for where, detectors in self.layers(resolution):
            for name in detectors.keys() & laid.keys():
                laid[name] = over(laid[name], detectors[name], (where, name))
        return laid


def covers(match: Match, place: Place) -> bool:
    """Whether a rule that matches so is for `place`. What is not known matches no pattern.

    >>> covers(Match(feature=("chat", "support-*")), Place(feature="support-mail"))
    True
    >>> covers(Match(agent=("*",)), Place(feature="chat"))
    False
    """
    return _fits(_asked(match), place)


def _asked(match: Match) -> Asked:
    asked = ((at, getattr(match, name)) for at, name in enumerate(Place._fields))
    return tuple((at, patterns) for at, patterns in asked if patterns)


def _fits(asked: Asked, place: Place) -> bool:
    for at, patterns in asked:
        name = place[at]
        if not name or not any(fnmatchcase(name, pattern) for pattern in patterns):
            return False
    return True


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
    fields: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in said.items()}
    try:
        return replace(below, **fields)
    except TypeError as error:
        raise PolicyError(path, str(error)) from None


def reactions(said: DetectorLimits | Fields) -> dict[str, Any]:
    """What is said of how to react."""
    if isinstance(said, DetectorLimits):
        return {name: value for name in REACTIONS if (value := getattr(said, name))}
    return {name: value for name, value in said.items() if name in REACTIONS and value is not None}


def _strictness(said: tuple[str, Mode | None]) -> int:
    """Of a mode that somebody gave; one that nobody gave does not count."""
    return len(_STRICTNESS) if said[1] is None else _STRICTNESS.index(said[1])


def _name(number: int) -> str:
    """What people call a rule of the policy."""
    return f"rule {number + 1}"


def _place(who: Identity, profile: str = "", agent: str = "", tool: str = "", detector: str = "") -> Place:
    return Place(who.tenant, who.service, who.namespace, who.feature, profile, agent, tool, detector)
