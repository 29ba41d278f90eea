"""The leash: a module runs as under `python -m`, and ends with whoever started it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

SAY = "import sys\nprint(__name__, *sys.argv[1:], flush=True)\n"
WAIT = SAY + "import threading\nthreading.Event().wait(60)\n"


def start(tmp_path: Path, code: str, *arguments: str) -> subprocess.Popen[str]:
    (tmp_path / "leashed.py").write_text(code)
    command = [sys.executable, "-m", "spanfuse.demo.leash", "leashed", *arguments]
    return subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_the_module_is_main_and_has_its_arguments(tmp_path: Path) -> None:
    with start(tmp_path, SAY, "a", "b") as process:
        assert process.stdout is not None
        output = process.stdout.read()
        assert process.wait(timeout=20) == 0
    assert (output, process.returncode) == ("__main__ a b\n", 0)


def test_the_module_is_told_to_end_when_standard_input_closes(tmp_path: Path) -> None:
    with start(tmp_path, WAIT) as process:
        assert process.stdout is not None and process.stdin is not None
        process.stdout.readline()
        assert process.poll() is None
        process.stdin.close()
        assert process.wait(timeout=20) == -signal.SIGTERM
