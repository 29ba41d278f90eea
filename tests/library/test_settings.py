"""Settings: arguments over the environment over defaults, and clear words for what cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from spanfuse.errors import SettingsError
from spanfuse.settings import ENVIRONMENT, Settings, inherited, load, policy_of
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.verdicts import Mode


def test_an_argument_goes_before_the_environment_and_the_environment_before_the_default() -> None:
    environment = {"SPANFUSE_ENDPOINT": "there:4317", "SPANFUSE_FEATURE": "chat"}

    settings = load({"endpoint": "here:4317"}, environment)

    assert (settings.endpoint, settings.feature, settings.token) == ("here:4317", "chat", "")


def test_none_and_an_empty_variable_count_as_absent() -> None:
    settings = load({"endpoint": None}, {"SPANFUSE_ENDPOINT": "", "SPANFUSE_DISABLED": ""})

    assert (settings.endpoint, settings.disabled) == ("", False)


def test_every_field_but_those_of_code_has_a_variable() -> None:
    assert set(ENVIRONMENT) == set(Settings.__dataclass_fields__) - {"policy", "instance", "on_event"}


@pytest.mark.parametrize(
    ("text", "meant"), [("1", True), ("TRUE", True), ("on", True), ("0", False), ("no", False)]
)
def test_a_switch_reads_the_usual_words(text: str, meant: bool) -> None:
    assert load({}, {"SPANFUSE_DISABLED": text}).disabled is meant


@pytest.mark.parametrize(
    ("options", "environment", "words"),
    [
        ({}, {"SPANFUSE_INSECURE": "maybe"}, "SPANFUSE_INSECURE"),
        ({"endpont": "x"}, {}, "no such setting: endpont"),
        ({"disabled": "yes"}, {}, "disabled='yes' is no bool"),
        ({"mode": "soft"}, {}, "shadow, warn, enforce"),
    ],
)
def test_what_cannot_be_used_is_named(
    options: dict[str, object], environment: dict[str, str], words: str
) -> None:
    with pytest.raises(SettingsError, match=words):
        load(options, environment)


def test_secrets_are_not_shown() -> None:
    assert "hush" not in repr(load({"token": "hush", "fingerprint_key": "hush"}, {}))


def test_each_process_is_an_instance_of_its_own() -> None:
    assert load({}, {}).instance != load({}, {}).instance


def test_a_policy_is_read_from_the_section_of_a_file_and_the_mode_goes_over_it(tmp_path: Path) -> None:
    file = tmp_path / "spanfuse.yaml"
    file.write_text("listen: {}\npolicy:\n  mode: warn\n  tools:\n    poll: {repeatable: true}\n")

    as_written = policy_of(Settings(config=str(file)))
    over_it = policy_of(Settings(config=str(file), mode="shadow"))

    assert as_written.mode is Mode.WARN
    assert as_written.tools["poll"].repeatable
    assert over_it.mode is Mode.SHADOW


def test_a_policy_made_in_code_goes_before_a_file() -> None:
    policy = Policy(mode=Mode.WARN)

    assert policy_of(Settings(config="/nowhere", policy=policy)) == policy


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("policy:\n  mode: soft\n", r"policy\.yaml:2: policy\.mode: "),
        ("policy:\n  tools:\n    x: {repetable: true}\n", "repetable"),
        ("- a list\n", "mapping"),
        ("policy: [unclosed\n", "policy.yaml"),
        (None, "policy.yaml"),
    ],
)
def test_a_bad_policy_is_refused_with_its_file_and_field(
    tmp_path: Path, content: str | None, words: str
) -> None:
    file = tmp_path / "policy.yaml"
    if content is not None:
        file.write_text(content)

    with pytest.raises(SettingsError, match=words):
        policy_of(Settings(config=str(file)))


def test_what_a_parent_process_hands_over_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAGGAGE", "spanfuse.run.id=r1")

    assert inherited() == {"baggage": "spanfuse.run.id=r1"}


def test_a_mode_of_the_application_is_that_of_budgets_that_name_none(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("policy:\n  budgets:\n    a: {usd: 1}\n    b: {usd: 1, mode: warn}\n")

    policy = policy_of(load({"config": str(file), "mode": "shadow"}, {}))

    assert policy.mode is Mode.SHADOW
    assert [each.mode for each in policy.budgets] == [Mode.SHADOW, Mode.WARN]
