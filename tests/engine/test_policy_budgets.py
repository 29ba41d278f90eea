"""Budgets as YAML gives them: everything that may be said, and every mistake by its field."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from spanfuse_processor.engine.budget import MARKS, Budget, Forecasting, Mark, Measure, Period, Reaction
from spanfuse_processor.engine.policy import PolicyError
from spanfuse_processor.engine.policy_file import policy_from_mapping
from spanfuse_processor.engine.reach import Degrading, Reach
from spanfuse_processor.engine.schema import policy_schema
from spanfuse_processor.engine.verdicts import Mode

WHOLE = """
mode: warn
budgets:
  everything: {usd: 100, period: monthly, day: 3, zone: Europe/Berlin, reset: 10:30}
  chat:
    usd: 0.1
    match: {feature: [chat, "support-*"], tenant: acme}
    per: user
    strict: true
    safe: 0.02
    patience: 30s
    marks:
      - {at: 1.0, react: stop}
      - {at: 80%, react: throttle}
    pace: 0.2
    block_after: 2m
    mode: enforce
  tokens:
    tokens: 1000000
    period: rolling
    window: 24h
    forecast: {react: degrade, within: 0.2, after: 0.05, calls: 10}
    degrade: {models: {"gpt-4o*": gpt-4o-mini}, tools: web_search, output_tokens: 500, temperature: 0}
  weeks: {calls: 5000, period: weekly, weekday: sunday, per: [tenant, user]}
"""


def test_numbers_that_yaml_takes_for_texts_are_numbers() -> None:
    said = yaml.safe_load(
        "budgets:\n"
        "  a: {usd: 1e-06, strict: true, safe: 1e-6, marks: [{at: 5e-1}], pace: 1e-1}\n"
        "  b: {tokens: 1E3, period: rolling, window: 1e3}\n"
        "prices: {m: {input: 1e-2, output: 2.5E-1}}\n"
    )
    assert said["budgets"]["a"]["usd"] == "1e-06"

    policy = policy_from_mapping(said)

    a, b = policy.budgets
    assert (a.limit, a.safe, a.marks, a.pace) == (1, 1, (Mark(0.5),), 0.1)
    assert (b.limit, type(b.limit), b.window) == (1_000, int, 1_000.0)
    assert (policy.prices["m"].input, policy.prices["m"].output) == (0.01, 0.25)


def test_a_file_says_budgets_in_the_words_of_people() -> None:
    everything, chat, tokens, weeks = policy_from_mapping(yaml.safe_load(WHOLE)).budgets

    assert everything == Budget(
        "everything",
        100_000_000,
        period=Period.MONTHLY,
        day=3,
        zone="Europe/Berlin",
        reset=37_800,
        mode=Mode.WARN,
        marks=MARKS,
    )
    assert chat == Budget(
        "chat",
        100_000,
        reach=Reach(feature=("chat", "support-*"), tenant=("acme",)),
        per=("user",),
        strict=True,
        safe=20_000,
        patience=30.0,
        marks=(Mark(0.8, Reaction.THROTTLE), Mark(1.0, Reaction.STOP)),
        pace=0.2,
        block_after=120.0,
    )
    assert tokens == Budget(
        "tokens",
        1_000_000,
        Measure.TOKENS,
        Period.ROLLING,
        window=86_400.0,
        forecast=Forecasting(Reaction.DEGRADE, 0.2, 0.05, 10),
        degrading=Degrading((("gpt-4o*", "gpt-4o-mini"),), ("web_search",), 500, 0.0),
        mode=Mode.WARN,
    )
    assert weeks == Budget(
        "weeks", 5_000, Measure.CALLS, Period.WEEKLY, weekday=6, per=("tenant", "user"), mode=Mode.WARN
    )


def test_a_mode_from_elsewhere_goes_to_budgets_that_name_none() -> None:
    policy = policy_from_mapping(yaml.safe_load(WHOLE), mode=Mode.SHADOW)

    assert policy.mode is Mode.SHADOW
    assert [each.mode for each in policy.budgets] == [Mode.SHADOW, Mode.ENFORCE, Mode.SHADOW, Mode.SHADOW]


@pytest.mark.parametrize(
    ("said", "field", "words"),
    [
        ({}, "", "how much? say one of usd, tokens, calls"),
        ({"usd": 1, "calls": 2}, "calls", "usd and calls are two budgets"),
        ({"usd": 0}, "usd", "must be more than 0"),
        ({"usd": "ten"}, "usd", "expected a number"),
        ({"usd": "5 USD"}, "usd", "expected a number, got '5 USD': write it without quotes, unit and commas"),
        ({"usd": "1e-07"}, "usd", "finer than a millionth"),
        ({"usd": "1e999"}, "usd", "finite"),
        ({"tokens": "1e-3"}, "tokens", "expected a whole number"),
        ({"usd": 1, "block_after": "1e999"}, "block_after", "expected a time like"),
        ({"usd": 1, "block_after": True}, "block_after", "expected a time like"),
        ({"usd": 1, "marks": [{"at": "2e1"}]}, "marks.0.at", "expected a share"),
        ({"usd": 0.0000001}, "usd", "finer than a millionth of a dollar"),
        ({"usd": float("inf")}, "usd", "finite"),
        ({"tokens": 1.5}, "tokens", "a whole number"),
        ({"usd": 1, "perod": "daily"}, "perod", "did you mean 'period'?"),
        ({"usd": 1, "period": "dayly"}, "period", "did you mean 'daily'?"),
        ({"usd": 1, "match": {"featur": "x"}}, "match.featur", "did you mean 'feature'?"),
        ({"usd": 1, "match": {"feature": 7}}, "match.feature", "a list of names"),
        ({"usd": 1, "per": ["usr"]}, "per", "did you mean 'user'?"),
        ({"usd": 1, "per": ["user", "user"]}, "per", "twice"),
        ({"usd": 1, "per": 5}, "per", "a list of names"),
        ({"usd": 1, "zone": "Europe/Berln"}, "zone", "did you mean 'Europe/Berlin'?"),
        ({"usd": 1, "zone": "../etc/passwd"}, "zone", "expected the name of a time zone"),
        ({"usd": 1, "reset": "25:00"}, "reset", "expected a time of day like '06:00'"),
        ({"usd": 1, "reset": 6}, "reset", "expected a time of day"),
        ({"usd": 1, "period": "hourly", "reset": "01:00"}, "reset", "write '00:15'"),
        ({"usd": 1, "period": "monthly", "day": 31}, "day", "must be 1 to 28"),
        ({"usd": 1, "day": 3}, "day", "only a period that is monthly has it, and this one is daily"),
        ({"usd": 1, "weekday": "sunday"}, "weekday", "only a period that is weekly"),
        ({"usd": 1, "period": "weekly", "weekday": "sun"}, "weekday", "expected one of monday"),
        ({"usd": 1, "period": "run", "zone": "UTC"}, "zone", "hourly, daily, weekly, monthly has it"),
        ({"usd": 1, "period": "rolling"}, "window", "a rolling budget needs one"),
        ({"usd": 1, "period": "rolling", "window": "10s"}, "window", "of 60s at least"),
        ({"usd": 1, "period": "rolling", "window": "a day"}, "window", "a time like 90s"),
        ({"usd": 1, "window": "1h"}, "window", "only a period that is rolling"),
        ({"usd": 1, "safe": 0.5}, "safe", "only a strict budget"),
        ({"usd": 1, "patience": "1s"}, "patience", "only a strict budget"),
        ({"usd": 1, "strict": True, "safe": 2}, "safe", "more than the whole"),
        ({"usd": 1, "marks": {"at": 1}}, "marks", "a list of marks"),
        ({"usd": 1, "marks": [{"react": "stop"}]}, "marks.0", "say at"),
        ({"usd": 1, "marks": [{"at": "eighty"}]}, "marks.0.at", "like 80% or 0.8"),
        ({"usd": 1, "marks": [{"at": 80}]}, "marks.0.at", "like 80% or 0.8"),
        ({"usd": 1, "marks": [{"at": 0.8, "react": "stopp"}]}, "marks.0.react", "did you mean 'stop'?"),
        ({"usd": 1, "marks": [{"at": 0.8, "react": "degrade"}]}, "marks.0", "nothing to give up"),
        ({"usd": 1, "forecast": {"react": "degrade"}}, "forecast", "nothing to give up"),
        ({"usd": 1, "forecast": {"within": 2}}, "forecast.within", "must be 0 to 1"),
        ({"usd": 1, "degrade": {"models": {"a": 5}}}, "degrade.models.a", "a cheaper model"),
        ({"usd": 1, "pace": 0}, "pace", "at least 0.001"),
        ({"usd": 1, "block_after": "soon"}, "block_after", "a time like"),
        ({"usd": 1, "mode": "enforced"}, "mode", "did you mean 'enforce'?"),
    ],
)
def test_a_mistake_is_named_by_its_field(said: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(PolicyError, match=r"^policy\.budgets\.x") as refused:
        policy_from_mapping({"budgets": {"x": said}})

    assert ".".join(refused.value.path) == f"policy.budgets.x{'.' if field else ''}{field}"
    assert words in refused.value.problem


@pytest.mark.parametrize("name", ["", "a b", "a[b]", 7])
def test_a_name_that_would_be_misread_is_refused(name: Any) -> None:
    with pytest.raises(PolicyError, match="expected a name"):
        policy_from_mapping({"budgets": {name: {"usd": 1}}})


def test_what_is_no_mapping_of_budgets_is_refused() -> None:
    with pytest.raises(PolicyError, match="expected a mapping of budgets by name, got list"):
        policy_from_mapping({"budgets": [{"usd": 1}]})


def test_the_schema_takes_one_measure_and_describes_what_people_write() -> None:
    budget = policy_schema()["properties"]["budgets"]["additionalProperties"]

    assert budget["oneOf"] == [{"required": ["usd"]}, {"required": ["tokens"]}, {"required": ["calls"]}]
    assert budget["properties"]["marks"]["items"]["required"] == ["at"]
    assert {"type": "string"} in budget["properties"]["window"]["anyOf"]
    assert set(budget["properties"]["match"]["properties"]) >= {"user", "model", "run"}
