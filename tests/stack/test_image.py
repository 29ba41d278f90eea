"""The image of the processor without an engine: what its Dockerfile installs, run as it says, and shut in.

A private mount namespace stands for the container: all of it read-only but for /tmp, nobody in particular, no
home, and no package but those that the Dockerfile asks for.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.processes import free_port
from tests.stack.programs import ROOT
from tests.waiting import until

DOCKERFILE = (ROOT / "Dockerfile").read_text()
USER = "10001"

SHUT_IN = """
set -e
mount -t tmpfs tmpfs /mnt
mkdir /mnt/python /mnt/site
mount --bind "$PYTHON" /mnt/python
mount --bind "$SITE" /mnt/site
mount -o remount,bind,ro /
mount -t tmpfs tmpfs /tmp
chmod 1777 /tmp
cd /
exec setpriv --reuid="$WHO" --regid="$WHO" --clear-groups --no-new-privs --bounding-set=-all \
    env -i LD_LIBRARY_PATH=/mnt/python/lib PYTHONPATH=/mnt/site PYTHONDONTWRITEBYTECODE=1 \
    XDG_STATE_HOME=/tmp $SETTINGS /mnt/python/bin/python3 "$@"
"""


def said(instruction: str) -> str:
    """What the last instruction of a name in the Dockerfile says."""
    return re.findall(rf"^{instruction} (.*)$", DOCKERFILE, re.MULTILINE)[-1]


@pytest.fixture(scope="module")
def site() -> Iterator[Path]:
    """What the Dockerfile installs, and nothing else."""
    extras = re.search(r"^ARG extras=(\S+)$", DOCKERFILE, re.MULTILINE)
    assert extras is not None
    with tempfile.TemporaryDirectory(prefix="spanfuse-image-") as folder, copied() as source:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        command += ["--target", folder, "-c", str(ROOT / "constraints.txt"), f"{source}[{extras[1]}]"]
        subprocess.run(command, check=True, timeout=300)
        Path(folder).chmod(0o755)
        yield Path(folder)


@contextmanager
def copied() -> Iterator[Path]:
    """What the Dockerfile copies, as far as .dockerignore lets it in."""
    let_in = set(re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE))
    lines = re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE)
    with tempfile.TemporaryDirectory(prefix="spanfuse-source-") as folder:
        for name in let_in.intersection(" ".join(lines).split()):
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, Path(folder, name))
            else:
                shutil.copy(ROOT / name, folder)
        yield Path(folder)


def shut_in(site: Path, settings: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    """Runs Python shut in."""
    known = {
        "PYTHON": sys.base_prefix,
        "SITE": str(site),
        "WHO": USER,
        "SETTINGS": " ".join(f"{name}={value}" for name, value in settings.items()),
        "PATH": os.environ["PATH"],
    }
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", SHUT_IN, "sh", *arguments]
    return subprocess.Popen(command, env=known, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_the_processor_works_as_nobody_with_nothing_but_tmp_to_write_to(site: Path) -> None:
    ports = {name: str(free_port()) for name in ("GRPC", "HTTP", "METRICS")}
    settings = {f"SPANFUSE_LISTEN_{name}_PORT": port for name, port in ports.items()}
    assert said("USER") == f"{USER}:{USER}"
    assert (said("ENTRYPOINT"), said("CMD")) == ('["spanfuse"]', '["processor"]')
    asks = shlex.split(re.findall(r"python\", \"-c\", (\".*\")\]", DOCKERFILE)[0])[0]
    running = shut_in(site, settings, "-m", "spanfuse_processor", "processor")

    def healthy() -> bool:
        assert running.poll() is None, running.communicate()[0]
        asked = [sys.executable, "-c", asks.replace("4318", ports["HTTP"])]
        return subprocess.run(asked, stderr=subprocess.DEVNULL, timeout=10, check=False).returncode == 0

    try:
        until(healthy, 60.0, every=0.2)
    finally:
        running.terminate()
        words, _ = running.communicate(timeout=20)
    assert running.returncode == 0, words
    assert "Traceback" not in words and "read-only" not in words.lower(), words


def test_nothing_but_tmp_can_be_written_there(site: Path) -> None:
    tries = "open('/usr/written', 'w')"
    done = shut_in(site, {}, "-c", f"import os; print(os.getuid()); open('/tmp/written', 'w'); {tries}")
    words, _ = done.communicate(timeout=20)

    assert USER in words.split()
    assert "OSError" in words or "PermissionError" in words


@pytest.mark.parametrize("module", ["pytest", "openai", "pip"])
def test_what_only_developers_and_agents_need_is_not_there(site: Path, module: str) -> None:
    done = shut_in(site, {}, "-I", "-c", f"import sys; sys.path = ['/mnt/site']; import {module}")

    assert "ModuleNotFoundError" in done.communicate(timeout=20)[0]
