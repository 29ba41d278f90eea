"""The executable: help, versions, exit codes, and one line when an extra is missing."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from spanfuse_processor.__main__ import SUMMARIES, main
from spanfuse_processor.commands import COMMANDS

NOWHERE = {"SPANFUSE_LISTEN_HTTP_PORT": "1", "HOME": "/nowhere", "USER": "u"}
"""The environment of an operator for whom no service runs."""


def test_every_command_has_a_line_in_the_overview(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])

    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert set(SUMMARIES) == set(COMMANDS)
    assert all(summary in text for summary in SUMMARIES.values())


@pytest.mark.parametrize("arguments", [["unknown"], ["replay"], ["kill"], ["demo", "--nonsense"]])
def test_wrong_use_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_says_what_it_does(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])

    assert ended.value.code == 0
    assert f"spanfuse {name}" in capsys.readouterr().out


def test_a_missing_extra_is_said_in_one_line_with_what_mends_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: str) -> None:
        raise ModuleNotFoundError("No module named 'grpc'", name="grpc")

    monkeypatch.setattr(importlib, "import_module", missing)

    assert main(["processor"]) == 2
    assert "pip install 'spanfuse[processor]'" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["budgets", "spend"])
def test_commands_about_money_need_no_extra(name: str, tmp_path: Path) -> None:
    done = _without_extras(name, "--store", str(tmp_path / "none.db"))

    assert done.returncode == 1
    assert done.stderr == f"spanfuse {name}: there is no store at {tmp_path / 'none.db'}\n"


@pytest.mark.parametrize("name", ["kill", "release"])
def test_operators_commands_need_no_extra(name: str) -> None:
    help_, used = _without_extras(name, "--help"), _without_extras(name, "r1", "--token", "t")

    assert (help_.returncode, help_.stderr) == (0, "")
    assert used.returncode == 1
    assert used.stderr.startswith(f"spanfuse {name}: no service answers at http://127.0.0.1:1")


def _without_extras(*words: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter, where nothing but the library and what it needs can be imported."""
    hidden = ["yaml", "grpc", "google.protobuf", "orjson", "uvicorn", "httptools", "prometheus_client"]
    hidden += ["redis", "psycopg", "numpy"]
    code = f"import sys; sys.modules.update(dict.fromkeys({hidden!r})); sys.argv[0] = 'spanfuse'\n"
    code += "from spanfuse_processor.__main__ import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=NOWHERE,
    )


def test_an_interrupted_command_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(importlib.import_module(COMMANDS["kill"]), "run", interrupted)

    assert main(["kill", "r1"]) == 130
