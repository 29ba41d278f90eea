"""The command."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.accuracy import __main__ as command
from tests.accuracy import page
from tests.accuracy.making import loop, measured
from tests.accuracy.promises import Promise


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A command whose measuring takes no time; returns the page that it writes."""
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(command, "PAGE", tmp_path / "accuracy.md")
    monkeypatch.setattr(command, "jobs", lambda shared, quick: [])
    monkeypatch.setattr(command, "measure", lambda shared, work, say: measured([loop()], {}, {}))
    monkeypatch.setattr(command, "promises", lambda found: [])
    monkeypatch.setattr(page, "written", lambda found: "what was found\n")
    return tmp_path


def test_without_data_there_is_nothing_to_measure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert command.main(["--shared", str(tmp_path / "nowhere")]) == 2
    assert "needs the data" in capsys.readouterr().err


def test_a_page_that_says_something_else_fails_until_it_is_written(asked: Path) -> None:
    shared = ["--shared", str(asked)]

    assert command.main(shared) == 1
    assert command.main([*shared, "--write"]) == 0
    assert command.main(shared) == 0


def test_a_promise_that_is_missed_fails(
    asked: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = Promise("trips stopped", "3 of 93", False)
    monkeypatch.setattr(command, "promises", lambda found: [broken])

    assert command.main(["--shared", str(asked), "--write"]) == 1
    assert "MISSED  trips stopped: 3 of 93" in capsys.readouterr().out


def test_a_sample_compares_no_page(asked: Path) -> None:
    assert command.main(["--shared", str(asked), "--quick"]) == 0
