"""`spanfuse run -- CMD`: any Python program, instrumented, untouched."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import pytest
from tests.library.programs import spanfuse_command

from spanfuse.commands import run as command

PROGRAM = """
import json, os, sys
import spanfuse
from spanfuse import runtime
live = runtime.live()
run = spanfuse.current_run()
print(json.dumps({"watched": live is not None, "arguments": sys.argv[1:], "run": run.id if run else "",
    "endpoint": live.settings.endpoint if live else "", "feature": live.settings.feature if live else "",
    "first": sys.path[0]}))
sys.exit(3)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that tells how it finds itself, and exits with 3."""
    file = tmp_path / "agent.py"
    file.write_text(PROGRAM)
    return file


def arguments(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(words)


def test_a_script_is_watched_and_keeps_its_arguments_and_its_exit_code(program: Path) -> None:
    done = spanfuse_command("run", "--feature", "f", "--", sys.executable, str(program), "--name", "x")

    told = json.loads(done.stdout)
    assert done.returncode == 3
    assert (told["watched"], told["arguments"], told["feature"]) == (True, ["--name", "x"], "f")
    assert told["first"] == str(program.parent)


def test_a_module_is_watched(program: Path) -> None:
    done = spanfuse_command("run", "--", sys.executable, "-m", "agent", cwd=program.parent)

    assert json.loads(done.stdout)["watched"]


def test_a_console_script_is_watched(program: Path) -> None:
    script = program.parent / "agent"
    script.write_text(f"#!{sys.executable}\n{PROGRAM}")
    script.chmod(0o755)

    done = spanfuse_command("run", "--", str(script))

    assert json.loads(done.stdout)["watched"]


def test_a_run_name_makes_the_program_one_run(program: Path) -> None:
    done = spanfuse_command("run", "--run-name", "nightly", "--", sys.executable, str(program))

    assert len(json.loads(done.stdout)["run"]) == 32


def test_a_sitecustomize_that_was_there_runs_as_well(program: Path) -> None:
    (program.parent / "sitecustomize.py").write_text("print('theirs')")

    done = spanfuse_command("run", "--", sys.executable, str(program), PYTHONPATH=str(program.parent))

    *theirs, told = done.stdout.splitlines()
    assert theirs == ["theirs", "theirs"]  # of the launcher, and of the program
    assert json.loads(told)["watched"]


def test_a_program_that_starts_another_has_it_watched_too(program: Path) -> None:
    parent = program.parent / "parent.py"
    parent.write_text(
        f"import subprocess, sys; sys.exit(subprocess.call([sys.executable, {str(program)!r}]))"
    )

    done = spanfuse_command("run", "--run-name", "n", "--", sys.executable, str(parent))

    told = json.loads(done.stdout)
    assert (done.returncode, told["watched"], len(told["run"])) == (3, True, 32)


def test_bad_settings_leave_the_program_unwatched_and_say_so(program: Path) -> None:
    done = spanfuse_command("run", "--", sys.executable, str(program), SPANFUSE_INSECURE="perhaps")

    assert not json.loads(done.stdout)["watched"]
    assert "SPANFUSE_INSECURE" in done.stderr


def test_an_interpreter_without_spanfuse_runs_the_program_and_says_so(program: Path) -> None:
    """As when `python` on the path is another one: -S hides the packages, the start-up hook still runs."""
    hook = Path(command.BOOTSTRAP) / "sitecustomize.py"
    (program.parent / "run_hook.py").write_text(
        f"exec(compile(open({str(hook)!r}).read(), {str(hook)!r}, 'exec'))"
    )
    done = spanfuse_command("run", "--", sys.executable, "-S", "-E", str(program.parent / "run_hook.py"))

    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith(
        f"spanfuse: this program is not watched: {sys.executable} is not the Python in which"
    )
    assert f"{sys.executable} -m pip install spanfuse" in line


@pytest.mark.parametrize(
    ("words", "problem"),
    [(["run"], "no program given"), (["run", "--", "no-such-program"], "no such program: no-such-program")],
)
def test_wrong_use_is_exit_2(words: list[str], problem: str) -> None:
    done = spanfuse_command(*words)

    assert done.returncode == 2
    assert problem in done.stderr


def test_what_is_no_program_is_exit_2(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a program")

    assert spanfuse_command("run", "--", str(text)).returncode == 2


def test_the_environment_of_the_program_says_what_the_options_say() -> None:
    base = {"PYTHONPATH": "theirs", "HOME": "h"}

    made = command.environment(arguments("--endpoint", "e:1", "--run-name", "n", "--feature", "f"), base)

    assert made["PYTHONPATH"].split(":")[-1] == "theirs"
    assert len(made.pop("SPANFUSE_RUN_ID")) == 32
    assert {name: made[name] for name in made if name.startswith("SPANFUSE")} == {
        "SPANFUSE_ENDPOINT": "e:1",
        "SPANFUSE_RUN_NAME": "n",
        "SPANFUSE_FEATURE": "f",
    }
    assert made["HOME"] == "h"
