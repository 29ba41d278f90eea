"""`spanfuse check --explain`: what a policy means at one place."""

from __future__ import annotations

from typing import Any

import pytest

from spanfuse_processor.commands.explaining import explain, read_place
from spanfuse_processor.engine.policy_file import policy_from_mapping
from spanfuse_processor.engine.scoping import Place

POLICY: Any = {
    "mode": "warn",
    "detectors": {"nesting": {"max_depth": 4}, "rate": {"mode": "shadow"}},
    "rules": [
        {
            "match": {"feature": "chat"},
            "mode": "enforce",
            "detectors": {"repeat": {"equal": 7, "only_warn": ["failures"]}},
        },
        {"match": {"feature": "nightly-*"}, "profile": "batch"},
        {"match": {"agent": "main", "detector": "nesting"}, "mode": "shadow"},
        {"match": {"agent": "main"}, "detectors": {"repeat": {"writes": 9}}},
    ],
}


def said(text: str) -> list[str]:
    return list(explain(policy_from_mapping(POLICY), read_place(text)))


def test_a_place_is_read_as_an_operator_writes_it() -> None:
    assert read_place(" feature=chat, agent=a/b ,profile=long") == Place(
        feature="chat", agent="a/b", profile="long"
    )
    assert read_place("") == Place()


@pytest.mark.parametrize(
    ("text", "words"),
    [("featur=x", "did you mean 'feature'"), ("tool", "write tool=VALUE"), ("x=1", "known are")],
)
def test_a_place_that_is_none_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_place(text)


def test_where_no_rule_matches_the_policy_and_its_defaults_hold() -> None:
    assert said("feature=mail") == [
        "profile: interactive (the policy's profile)",
        "mode: warn (the policy's mode)",
        "  rate: shadow (detectors)",
        "limits that differ from the defaults:",
        "  nesting.max_depth: 4, by default 3 (detectors)",
    ]


def test_what_rules_change_is_said_with_the_rule_that_does_it() -> None:
    lines = said("feature=chat,agent=main,tool=search")

    assert lines == [
        "profile: interactive (the policy's profile)",
        "mode: enforce (rule 1)",
        "  nesting: shadow (rule 3)",
        "  rate: shadow (detectors)",
        "repeat only warns of failures (rule 1)",
        "limits that differ from the defaults:",
        "  repeat.equal: 7, by default 5 (rule 1)",
        "  repeat.writes: 9, by default 5 (rule 4)",
        "  nesting.max_depth: 4, by default 3 (detectors)",
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("feature=nightly-1", "profile: batch (rule 2)"),
        ("feature=nightly-1,profile=long", "profile: batch (rule 2)"),
        ("profile=long", "profile: long (the run says so)"),
    ],
)
def test_the_profile_is_said_with_who_chose_it(text: str, line: str) -> None:
    assert said(text)[0] == line


def test_what_a_profile_changes_is_said() -> None:
    assert "  rate.per_minute: 120, by default 20 (profile batch)" in said("profile=batch")


def test_a_policy_of_defaults_has_nothing_to_say() -> None:
    lines = list(explain(policy_from_mapping({}), Place()))

    assert lines == [
        "profile: interactive (the policy's profile)",
        "mode: enforce (the policy's mode)",
        "limits: the defaults",
    ]
