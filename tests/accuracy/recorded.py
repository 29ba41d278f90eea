"""The recorded runs of public agents (`data/runs`), as cases and as the spans that the shared converter makes.

Rule 1: the converter beside the data is used as it is. Rule 2: what is known of a run is its label (loop, ok)
and its outcome; a success is honest work whatever it did. No text of these runs ever enters the project.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from tests.accuracy.judged import read_lines
from tests.accuracy.steps import Case, End, Kind, Step

Run = dict[str, Any]
_GAP, _LASTS = 3.0, 1.0  # as the converter spaces steps whose time nobody recorded


def sources(data: Path) -> list[Path]:
    """The files, one for each collection of runs."""
    return sorted((data / "runs").glob("*.jsonl.gz"))


def load(path: Path) -> list[Run]:
    """The runs of one file."""
    return read_lines(path)


def sample(runs: list[Run], count: int) -> list[Run]:
    """The `count` runs with the smallest digests, and every labelled one: as the shared tools choose."""
    first = sorted(runs, key=lambda run: hashlib.md5(run["id"].encode()).hexdigest())[:count]
    kept = {run["id"] for run in first}
    return [run for run in runs if run["id"] in kept or run["label"] != "unknown"]


def case(run: Run, source: str) -> Case:
    """A run as a case."""
    end = {"loop": End.LOOP, "ok": End.HONEST}.get(run["label"], End.UNKNOWN)
    success = {"success": True, "fail": False}.get(run.get("outcome") or "")
    onset = run.get("onset")
    steps = tuple(_step(step, at * (_GAP + _LASTS) + _GAP) for at, step in enumerate(run["steps"]))
    return Case(run["id"], source, steps, end, -1 if onset is None else onset, success=success)


def _step(step: dict[str, Any], at: float) -> Step:
    model = step["kind"] == "llm"
    return Step(
        Kind.MODEL if model else Kind.TOOL,
        "gpt-4o" if model else step["name"] or "tool",
        "" if model else _whole(step.get("args_hash_input"), step.get("ah")),
        _whole(step.get("result"), step.get("rh")),
        bool(step.get("error")),
        at,
        _LASTS,
        step.get("agent") or "main",
        bool(step.get("u")),
    )


def _whole(text: str | None, digest: str | None) -> str:
    """A text that was cut, with the digest of the whole."""
    return (text or "") + (f" [{digest}]" if digest else "")
