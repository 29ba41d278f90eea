"""`spanfuse replay` with several policies and with labels: what tells them apart, who was stopped wrongly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.replaying.recorded import lines, looping, tool

from spanfuse_processor.__main__ import main


class TestPolicies:
    """Two on one recording, a loop of nine equal calls and a single call: one lets the loop be."""

    @pytest.fixture
    def compare(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
        """Replays under the built-in policy and a lenient one; gives the exit code and the lines."""
        config, file = tmp_path / "lenient.yaml", tmp_path / "a.jsonl"
        config.write_text("policy:\n  tools:\n    search: { repeatable: true }\n")
        file.write_text(lines([*looping(), tool(100, 0, trace=2)]))

        def run(*arguments: str) -> tuple[int, list[str]]:
            code = main(["replay", "--config", "default", "--config", str(config), *arguments, str(file)])
            return code, capsys.readouterr().out.splitlines()

        return run

    def test_people_see_the_sums_and_the_runs_that_differ(self, compare: Any) -> None:
        code, text = compare()

        assert code == 1
        assert [line.split()[-2:] for line in text if line.startswith("calls saved")] == [["8", "0"]]
        assert "1 of 2 runs differ" in text
        assert [line.split()[0][:30] for line in text if "@10" in line] == [f"{1:032x}"[:30]]

    def test_machines_get_the_runs_that_differ_and_the_totals(self, compare: Any) -> None:
        _, text = compare("--output", "json")

        case, totals = map(json.loads, text)
        assert case["run"] == f"{1:032x}"
        assert [(each["verdict"], each["call"]) for each in case["policies"]] == [("stop", 10), ("ok", None)]
        assert [each["saved_usd"] for each in totals["totals"]] == pytest.approx([0.014, 0.0])

    def test_all_lists_the_runs_that_agree_too(self, compare: Any) -> None:
        _, text = compare("--output", "json", "--all")

        assert [json.loads(line)["differs"] for line in text[:-1]] == [True, False]

    def test_labels_say_who_was_stopped_wrongly(self, compare: Any, tmp_path: Path) -> None:
        labels = tmp_path / "labels.json"
        labels.write_text(json.dumps({f"{1:032x}": "ok", f"{2:032x}": "loop"}))

        _, text = compare("--labels", str(labels))

        shares = {line.split("  ")[0]: " ".join(line.split()[-6:]) for line in text}
        assert shares["honest runs stopped, wrongly"] == "1 of 1 0 of 1"
        assert shares["runaways stopped"] == "0 of 1 0 of 1"


def test_labels_of_one_policy_are_told_of_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, labels = tmp_path / "a.jsonl", tmp_path / "labels.txt"
    file.write_text(lines(looping()))
    labels.write_text(json.dumps({"run": f"{1:032x}", "label": "ok"}) + "\n")

    main(["replay", "--labels", str(labels), str(file)])
    text = capsys.readouterr().out
    main(["replay", "--labels", str(labels), "--output", "json", str(file)])
    totals = json.loads(capsys.readouterr().out)

    assert "1 of 1 honest runs stopped, wrongly" in text
    assert totals["totals"][0]["honest_stopped"] == 1


def test_labels_that_name_no_run_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, labels = tmp_path / "a.jsonl", tmp_path / "labels.json"
    file.write_text(lines([tool(1, 0)]))
    labels.write_text('{"another": "ok"}')

    assert main(["replay", "--labels", str(labels), str(file)]) == 0
    assert "no label names a run of this recording" in capsys.readouterr().err


def test_labels_that_cannot_be_read_are_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, labels = tmp_path / "a.jsonl", tmp_path / "labels.json"
    file.write_text(lines([tool(1, 0)]))
    labels.write_text("ok\n")

    assert main(["replay", "--labels", str(labels), str(file)]) == 2
    assert f"{labels}:1: not JSON" in capsys.readouterr().err
