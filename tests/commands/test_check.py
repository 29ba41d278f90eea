"""`spanfuse check`: a configuration is good, or it is said where it is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spanfuse_processor.__main__ import main


def test_a_good_file_is_ok(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("policy:\n  mode: warn\n  detectors:\n    repeat:\n      equal: 6\n")

    assert main(["check", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}: ok\n"


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        ("policy:\n  detectors:\n    repeat:\n      equals: 6\n", 4, "policy.detectors.repeat.equals"),
        ("policy:\n  detectors:\n    repeat:\n      equal: many\n", 4, "policy.detectors.repeat.equal"),
        ("policy:\n  detectors:\n    nestling: {}\n", 3, "policy.detectors.nestling"),
        ("policy:\n  mode: perhaps\n", 2, "policy.mode"),
        ("policy:\n  budgets:\n    day:\n      usd: 5\n      perod: daily\n", 5, "policy.budgets.day.perod"),
        ("policy:\n  budgets:\n    day:\n      period: daily\n", 3, "policy.budgets.day"),
        (
            "policy:\n  budgets:\n    day:\n      usd: 5\n      marks:\n      - at: 50%\n      - at: most\n",
            7,
            "policy.budgets.day.marks.1.at",
        ),
        ("log: {}\nstore:\n  url: mysql://x\n", 3, "store.url"),
        ("tls:\n  cert_file: /nowhere/c.pem\n  key_file: /nowhere/k.pem\n", 2, "tls.cert_file"),
    ],
)
def test_a_bad_file_is_refused_with_line_and_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, line: int, field: str
) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(text)

    assert main(["check", str(file)]) == 1
    assert capsys.readouterr().err.startswith(f"spanfuse check: {file}:{line}: {field}: ")


def test_every_problem_is_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("lissten: {}\npolicy:\n  mode: perhaps\nstore: {url: 'x:'}\n")

    assert main(["check", str(file)]) == 1

    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[:4] for line in lines] == [
        ["spanfuse check", f" {file}", "1", " lissten"],
        ["spanfuse check", f" {file}", "3", " policy.mode"],
        ["spanfuse check", f" {file}", "4", " store.url"],
    ]


def test_a_rule_is_refused_with_the_line_of_its_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("policy:\n  rules:\n  - mode: warn\n  - match:\n      feture: x\n    mode: warn\n")

    assert main(["check", str(file)]) == 1
    assert f"{file}:5: policy.rules.1.match.feture: unknown field: did you mean 'feature'?" in (
        capsys.readouterr().err
    )


def test_what_a_policy_means_at_a_place_is_said_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("policy:\n  rules:\n  - match: {feature: chat}\n    mode: warn\n")

    assert main(["check", str(file), "--explain", "feature=chat"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{file}: ok",
        "profile: interactive (the policy's profile)",
        "mode: warn (rule 1)",
        "limits: the defaults",
    ]


def test_a_place_that_no_rule_can_ask_for_is_wrong_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("")

    assert main(["check", str(file), "--explain", "featur=chat"]) == 2
    assert "did you mean 'feature'" in capsys.readouterr().err


def test_the_schema_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--schema"]) == 0
    assert "repeat" in json.dumps(json.loads(capsys.readouterr().out))


def test_nothing_to_check_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check"]) == 2
    assert "name a file" in capsys.readouterr().err
