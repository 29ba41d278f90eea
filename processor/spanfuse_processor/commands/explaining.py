"""What a policy means at one place, in words: `spanfuse check --explain`.

Rule 1: it asks the engine's own resolver, so that it cannot say anything else than what is obeyed. Rule 2: of
everything it says where it stands in the file; of what is as everywhere it says nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from spanfuse_processor.commands.explaining_budgets import explain_budgets
from spanfuse_processor.engine.checking import unknown
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.engine.nouns import Identity
from spanfuse_processor.engine.policy import REACTIONS, DetectorLimits, Policy
from spanfuse_processor.engine.reach import PAYER_FIELDS, Payer
from spanfuse_processor.engine.scoping import Place, Resolution, Scoping, over

ASKED = tuple(dict.fromkeys([*(name for name in Place._fields if name != "detector"), *PAYER_FIELDS]))


def read_place(text: str) -> tuple[Place, Payer]:
    """The place that `feature=chat,agent=main` names, and who pays there.

    Raises:
        ValueError: a name that no rule and no budget asks for, or one without a value.
    """
    named: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if name not in ASKED:
            raise ValueError(unknown(f"name {name!r}", name, ASKED))
        if not value:
            raise ValueError(f"{name} has no value: write {name}=VALUE")
        named[name] = value
    place = {name: value for name, value in named.items() if name in Place._fields}
    return Place(**place), Payer(**{name: value for name, value in named.items() if name in PAYER_FIELDS})


def explain(policy: Policy, place: Place, payer: Payer) -> Iterator[str]:
    """The lines that say what is done at `place` about what is seen, which limits hold, and which budgets
    `payer` is charged to."""
    defaults = {name: limits() for name, (_, limits) in DETECTORS.items()}
    scoping = Scoping(policy, defaults)
    who = Identity(
        service=place.service,
        tenant=place.tenant,
        namespace=place.namespace,
        feature=place.feature,
        profile=place.profile,
    )
    *_, (where, profile) = scoping.profiles(who)
    place = place._replace(profile=profile)
    yield f"profile: {profile.value} ({where})"
    yield from _modes(scoping, place)
    yield from _tiers(scoping, place)
    yield from _limits(scoping, who, place.agent)
    yield from explain_budgets(policy, payer)


def _modes(scoping: Scoping, place: Place) -> Iterator[str]:
    """The mode of most, then of each detector that has another."""
    modes = {name: _last(scoping, place._replace(detector=name), "mode") for name in DETECTORS}
    common = max(modes.values(), key=list(modes.values()).count)
    yield f"mode: {common[0].value} ({common[1]})"
    for name, (mode, where) in modes.items():
        if mode is not common[0]:
            yield f"  {name}: {mode.value} ({where})"


def _tiers(scoping: Scoping, place: Place) -> Iterator[str]:
    for name in DETECTORS:
        for field, words in (("only_warn", "only warns of"), ("also_stop", "also stops at")):
            rules, where = _last(scoping, place._replace(detector=name), field)
            if rules:
                yield f"{name} {words} {', '.join(rules)} ({where})"


def _last(scoping: Scoping, place: Place, field: str) -> tuple[Any, str]:
    """The last word on how to react, and where it stands."""
    words = [(said[field], where) for where, said in scoping.said(place) if field in said]
    return words[-1] if words else ((), "")


def _limits(scoping: Scoping, who: Identity, agent: str) -> Iterator[str]:
    of_run, of_agent = scoping.resolution(who), scoping.resolution(who, agent)
    lines = [
        line
        for name, (cls, limits) in DETECTORS.items()
        for line in _changed(scoping, of_agent if Unit.LANE in cls.per else of_run, name, limits())
    ]
    yield "limits that differ from the defaults:" if lines else "limits: the defaults"
    yield from lines


def _changed(scoping: Scoping, resolution: Resolution, name: str, default: DetectorLimits) -> Iterator[str]:
    made = default
    where: dict[str, str] = {}
    for layer, detectors in scoping.layers(resolution):
        below, made = made, over(made, detectors.get(name, {}))
        where |= {each: layer for each in _fields(made) if getattr(made, each) != getattr(below, each)}
    for each in _fields(made):
        now, before = getattr(made, each), getattr(default, each)
        if now != before:
            yield f"  {name}.{each}: {now:,.10g}, by default {before:,.10g} ({where[each]})"


def _fields(limits: DetectorLimits) -> list[str]:
    return [each.name for each in dataclasses.fields(limits) if each.name not in REACTIONS]
