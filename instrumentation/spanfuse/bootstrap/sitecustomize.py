"""The interpreter's start-up hook that `spanfuse run` puts in front: instruments the program, then steps
aside.

Rule 1: a `sitecustomize` that was there before still runs, first. Rule 2: whatever goes wrong is one line
on standard error, and the program runs unwatched. Rule 3: this folder leaves `sys.path`, but stays in
PYTHONPATH, so that Python programs which this one starts are watched too.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _step_aside() -> None:
    """Runs the `sitecustomize` that this one hides, if there is one."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]
    ours = sys.modules.pop("sitecustomize", None)
    with contextlib.suppress(ModuleNotFoundError):
        importlib.import_module("sitecustomize")
    if ours is not None:
        sys.modules.setdefault("sitecustomize", ours)


def _instrument() -> None:
    try:
        importlib.import_module("spanfuse.auto")
    except Exception as error:
        sys.stderr.write(f"spanfuse: this program is not watched: {_why(error)}\n")


def _why(error: Exception) -> str:
    """In one line, with the way out where it is known."""
    missing = str(getattr(error, "name", None) or "").split(".")[0]
    if not isinstance(error, ImportError) or missing not in ("spanfuse", "spanfuse_processor"):
        return " ".join(str(error).split())
    return (
        f"{sys.executable} is not the Python in which spanfuse is installed. Install it there "
        f"({sys.executable} -m pip install spanfuse), or run the program with the Python that has it"
    )


_step_aside()
_instrument()
