"""A policy: what a rule cannot mean is refused when the rule is made."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.making import CountLimits

from spanfuse_processor.engine.policy import Match, Policy, PolicyError, PolicyRule, Profile
from spanfuse_processor.engine.verdicts import Mode


def test_two_equal_policies_are_equal() -> None:
    rules = (PolicyRule(Match(feature=("chat",)), Mode.WARN, detectors={"third": {"stop": 9}}),)

    assert Policy(rules=rules) == Policy(rules=tuple(rules))


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({}, "policy", "it sets nothing"),
        ({"match": Match(feature=("chat",))}, "policy", "it sets nothing"),
        ({"profile": Profile.LONG, "match": Match(agent=("a",))}, "profile", "a whole run's"),
        ({"profile": Profile.LONG, "match": Match(tool=("a",))}, "profile", "a whole run's"),
        ({"profile": Profile.LONG, "match": Match(profile=("batch",))}, "profile", "a whole run's"),
        (
            {"detectors": {"third": {"mode": Mode.WARN}}, "match": Match(detector=("third",))},
            "match.detector",
            "under `detectors` alone",
        ),
        (
            {"detectors": {"third": {"mode": Mode.WARN, "stop": 9}}, "match": Match(tool=("a",))},
            "detectors.third.stop",
            "a tool cannot have it for itself, only also_stop, mode, only_warn",
        ),
        ({"detectors": {"third": CountLimits()}, "match": Match(tool=("a",))}, "detectors.third", "a tool"),
    ],
)
def test_a_rule_that_can_mean_nothing_is_refused(fields: Any, field: str, words: str) -> None:
    with pytest.raises(PolicyError) as refused:
        PolicyRule(**fields)

    assert str(refused.value).startswith(field)
    assert words in refused.value.problem


@pytest.mark.parametrize(
    "fields",
    [
        {"mode": Mode.SHADOW},
        {"mode": Mode.SHADOW, "match": Match(agent=("a",), tool=("b",), detector=("third",))},
        {"profile": Profile.LONG, "match": Match(tenant=("a",), service=("b",), namespace=("c",))},
        {"detectors": {"third": {"mode": Mode.WARN, "only_warn": ("stop",)}}, "match": Match(tool=("a",))},
        {"detectors": {"third": {"stop": 9}}, "match": Match(agent=("a",), profile=("batch",))},
    ],
)
def test_a_rule_that_means_something_is_made(fields: Any) -> None:
    rule = PolicyRule(**fields)

    assert {name: getattr(rule, name) for name in fields} == fields
