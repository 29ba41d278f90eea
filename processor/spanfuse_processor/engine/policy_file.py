"""Plain data (as YAML gives it) to a `Policy`.

Rule 1: every problem is a `PolicyError` with the path of the field; files and lines are the rim's.
Rule 2: a detector's section is checked against the limits that the registry names for it, and kept as the
fields that were said, so that profiles and rules can be laid under and over them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Final

from spanfuse_processor.engine.checking import Path, build, fields_of, mapping, unknown
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.engine.policy import (
    REACTIONS,
    Detectors,
    Fields,
    Match,
    Policy,
    PolicyError,
    PolicyRule,
    Price,
    Profile,
    ToolRule,
)
from spanfuse_processor.engine.policy_budgets import budgets_of
from spanfuse_processor.engine.verdicts import Mode

_MAPPINGS: Final = frozenset({"detectors", "rules", "tools", "prices", "fallback", "budgets"})
"""Sections that hold more than plain fields."""


def policy_from_mapping(values: object, path: Path = ("policy",), mode: Mode | None = None) -> Policy:
    """The policy that a file's `policy` section describes; absent fields keep their defaults. `mode` is said
    elsewhere and goes over the policy's; budgets that name none have it too.

    Raises:
        PolicyError: with the path of the field that is wrong.
    """
    given = mapping(values, "fields", path)
    plain = {name: value for name, value in given.items() if name not in _MAPPINGS}
    policy = build(Policy, plain, path)
    mode = mode or policy.mode
    return dataclasses.replace(
        policy,
        mode=mode,
        budgets=budgets_of(given.get("budgets", {}), mode, (*path, "budgets")),
        detectors=_detectors(given.get("detectors", {}), (*path, "detectors")),
        rules=_rules(given.get("rules", ()), (*path, "rules")),
        tools=_tools(given.get("tools", {}), (*path, "tools")),
        prices=_prices(given.get("prices", {}), (*path, "prices")),
        fallback=_fallback(given.get("fallback"), (*path, "fallback")),
    )


def _detectors(values: object, path: Path) -> Detectors:
    limits = {}
    for name, section in mapping(values, "detectors", path).items():
        if name not in DETECTORS:
            raise PolicyError((*path, str(name)), unknown("detector", str(name), DETECTORS))
        limits[name] = _limits(name, section, (*path, name))
    return MappingProxyType(limits)


def _limits(name: str, section: object, path: Path) -> Fields:
    """The fields of a detector's limits that are said. Its rules go by the names of its thresholds."""
    cls = DETECTORS[name][1]
    said = fields_of(cls, section, path)
    known = {each.name for each in dataclasses.fields(cls)} - REACTIONS
    for field in ("only_warn", "also_stop"):
        for rule in said.get(field, ()):
            if rule not in known:
                raise PolicyError((*path, field), unknown(f"rule {rule!r}", rule, known))
    return MappingProxyType(said)


def _rules(values: object, path: Path) -> tuple[PolicyRule, ...]:
    if not isinstance(values, list | tuple):
        raise PolicyError(path, f"expected a list of rules, got {type(values).__name__}")
    return tuple(_rule(value, (*path, str(at))) for at, value in enumerate(values))


def _rule(values: object, path: Path) -> PolicyRule:
    given = mapping(values, "fields", path)
    plain = {name: value for name, value in given.items() if name not in ("match", "detectors")}
    said = fields_of(PolicyRule, plain, path)
    match = _match(given.get("match", {}), (*path, "match"))
    detectors = _detectors(given.get("detectors", {}), (*path, "detectors"))
    try:
        rule = PolicyRule(**said, match=match, detectors=detectors)
    except PolicyError as error:
        raise PolicyError((*path, *error.path), error.problem) from None
    if match.agent:
        _refuse_what_no_agent_has(detectors, (*path, "detectors"))
    return rule


def _match(values: object, path: Path) -> Match:
    """One pattern may stand without its list. A name that nothing can have is refused."""
    given = mapping(values, "fields", path)
    listed = {name: [value] if isinstance(value, str) else value for name, value in given.items()}
    match = build(Match, listed, path)
    for field, known in (("detector", tuple(DETECTORS)), ("profile", tuple(each.value for each in Profile))):
        for pattern in getattr(match, field):
            if not any(fnmatchcase(name, pattern) for name in known):
                raise PolicyError((*path, field), unknown(field, pattern, known))
    return match


def _refuse_what_no_agent_has(detectors: Detectors, path: Path) -> None:
    for name, said in detectors.items():
        thresholds = sorted(said.keys() - REACTIONS) if isinstance(said, Mapping) else ()
        if thresholds and Unit.LANE not in DETECTORS[name][0].per:
            problem = f"{name} watches whole runs: an agent cannot have it for itself"
            raise PolicyError((*path, name, thresholds[0]), problem)


def _tools(values: object, path: Path) -> Mapping[str, ToolRule]:
    tools = mapping(values, "tools", path)
    return MappingProxyType(
        {str(name): build(ToolRule, rule, (*path, str(name))) for name, rule in tools.items()}
    )


def _prices(values: object, path: Path) -> Mapping[str, Price]:
    given = mapping(values, "prices by model", path)
    return MappingProxyType({str(name): _price(price, (*path, str(name))) for name, price in given.items()})


def _fallback(values: object, path: Path) -> Price | None:
    return None if values is None else _price(values, path)


def _price(values: object, path: Path) -> Price:
    """Half a price would be free in its other half."""
    for name in ("input", "output"):
        if name not in mapping(values, "prices", path):
            raise PolicyError((*path, name), "it is missing: name both input and output, 0 for what is free")
    return build(Price, values, path)
