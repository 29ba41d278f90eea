"""Plain data to a policy: everything that may be set, and every mistake by its field."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from spanfuse_processor.engine.policy import Match, Policy, PolicyError, PolicyRule, Price, Profile, ToolRule
from spanfuse_processor.engine.policy_file import policy_from_mapping
from spanfuse_processor.engine.verdicts import Mode

WHOLE = """
mode: warn
profile: batch
detectors:
  nesting: {max_depth: 4, mode: enforce}
  rate: {also_stop: [per_minute]}
rules:
  - match: {feature: chat, agent: [main, "helper-*"]}
    mode: enforce
    detectors: {repeat: {equal: 7, only_warn: [failures]}}
  - match: {namespace: nightly}
    profile: long
  - match: {detector: "re*", tool: get_page}
    mode: shadow
"""


def test_a_file_sets_modes_profiles_limits_and_tiers_for_all_and_for_parts() -> None:
    policy = policy_from_mapping(yaml.safe_load(WHOLE))

    assert policy == Policy(
        mode=Mode.WARN,
        profile=Profile.BATCH,
        detectors={
            "nesting": {"max_depth": 4, "mode": Mode.ENFORCE},
            "rate": {"also_stop": ("per_minute",)},
        },
        rules=(
            PolicyRule(
                Match(feature=("chat",), agent=("main", "helper-*")),
                Mode.ENFORCE,
                detectors={"repeat": {"equal": 7, "only_warn": ("failures",)}},
            ),
            PolicyRule(Match(namespace=("nightly",)), profile=Profile.LONG),
            PolicyRule(Match(detector=("re*",), tool=("get_page",)), Mode.SHADOW),
        ),
    )


def test_nothing_is_a_policy_of_defaults() -> None:
    assert policy_from_mapping({}) == Policy()


@pytest.mark.parametrize(
    ("values", "field", "words"),
    [
        ({"moed": "warn"}, "policy.moed", "unknown field: did you mean 'mode'?"),
        ({"mode": "enforced"}, "policy.mode", "did you mean 'enforce'?"),
        ({"profile": "bach"}, "policy.profile", "did you mean 'batch'?"),
        ({"detectors": {"repaet": {}}}, "policy.detectors.repaet", "did you mean 'repeat'?"),
        ({"detectors": {"rate": {"burts": 1}}}, "policy.detectors.rate.burts", "did you mean 'burst'?"),
        (
            {"detectors": {"rate": {"only_warn": ["burts"]}}},
            "policy.detectors.rate.only_warn",
            "unknown rule 'burts': did you mean 'burst'?",
        ),
        ({"detectors": {"rate": {"also_stop": ["mode"]}}}, "policy.detectors.rate.also_stop", "unknown rule"),
        ({"rules": {"match": {}}}, "policy.rules", "expected a list of rules, got dict"),
        ({"rules": ["x"]}, "policy.rules.0", "expected a mapping of fields, got str"),
        ({"rules": [{"mode": "warn"}, {"match": {}}]}, "policy.rules.1", "it sets nothing"),
        ({"rules": [{"mood": "warn"}]}, "policy.rules.0.mood", "did you mean 'mode'?"),
        ({"rules": [{"match": {"feture": "x"}, "mode": "warn"}]}, "policy.rules.0.match.feture", "'feature'"),
        ({"rules": [{"match": {"tool": 7}, "mode": "warn"}]}, "policy.rules.0.match.tool", "a list of names"),
        (
            {"rules": [{"match": {"detector": "reepat"}, "mode": "warn"}]},
            "policy.rules.0.match.detector",
            "did you mean 'repeat'?",
        ),
        (
            {"rules": [{"match": {"profile": "bat"}, "mode": "warn"}]},
            "policy.rules.0.match.profile",
            "did you mean 'batch'?",
        ),
        (
            {"rules": [{"match": {"tool": "x"}, "detectors": {"repeat": {"equal": 9}}}]},
            "policy.rules.0.detectors.repeat.equal",
            "a tool cannot have it for itself",
        ),
        (
            {"rules": [{"match": {"agent": "x"}, "detectors": {"nesting": {"max_depth": 9}}}]},
            "policy.rules.0.detectors.nesting.max_depth",
            "nesting watches whole runs",
        ),
        (
            {"rules": [{"match": {"agent": "x"}, "profile": "long"}]},
            "policy.rules.0.profile",
            "a profile is a whole run's",
        ),
        ({"prices": {"x": {"input": 1}}}, "policy.prices.x.output", "name both input and output"),
        ({"prices": {"x": {"input": -1, "output": 1}}}, "policy.prices.x.input", "not negative"),
        ({"prices": {"x": {"inptu": 1, "input": 1, "output": 0}}}, "policy.prices.x.inptu", "'input'"),
        ({"prices": ["x"]}, "policy.prices", "expected a mapping of prices by model"),
        ({"fallback": {}}, "policy.fallback.input", "name both input and output"),
        ({"tools": {"search": {"fee": "much"}}}, "policy.tools.search.fee", "expected a number"),
    ],
)
def test_a_mistake_is_refused_by_its_field_with_what_may_have_been_meant(
    values: Any, field: str, words: str
) -> None:
    with pytest.raises(PolicyError) as refused:
        policy_from_mapping(values)

    assert str(refused.value).startswith(f"{field}: ")
    assert words in refused.value.problem


def test_prices_of_models_a_price_for_the_others_and_fees_of_tools_are_money() -> None:
    policy = policy_from_mapping(
        {
            "prices": {
                "llama*": {"input": 0, "output": 0},
                "gpt-4o": {"input": 2.5, "output": 8, "cached": 1},
            },
            "fallback": {"input": 5, "output": 20},
            "tools": {"search": {"fee": 0.01}},
        }
    )

    assert policy.prices == {"llama*": Price(), "gpt-4o": Price(2.5, 8.0, 1.0)}
    assert policy.fallback == Price(5.0, 20.0)
    assert policy.tools == {"search": ToolRule(fee=0.01)}


def test_how_to_react_may_depend_on_an_agent_whatever_the_detector_watches() -> None:
    values = {"rules": [{"match": {"agent": "x"}, "detectors": {"nesting": {"only_warn": ["max_depth"]}}}]}

    (rule,) = policy_from_mapping(values).rules

    assert rule.detectors == {"nesting": {"only_warn": ("max_depth",)}}
