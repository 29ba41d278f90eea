"""The recorded runs of public agents (`data/runs`), as cases and as spans.

Rule 1: the converter beside the data makes the spans. Rule 2: what is known of a run is its label (loop, ok)
and its outcome; a success is honest work whatever it did. No text of these runs ever enters the project.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from tests.accuracy.otlp import Span
from tests.accuracy.shared import Shared, read_lines
from tests.accuracy.steps import Case, End, Kind, Step, Truth, counted

Run = dict[str, Any]
SAMPLE = 300  # of each source, and every labelled one: the sample with 448 successes
SUFFIX = ".jsonl.gz"
_GAP, _LASTS = 3.0, 1.0  # as the converter spaces steps whose time nobody recorded


def files(shared: Shared) -> list[Path]:
    """One for each collection of runs."""
    return sorted((shared.data / "runs").glob(f"*{SUFFIX}"))


def source_of(path: Path) -> str:
    """What a collection is called."""
    return path.name.removesuffix(SUFFIX)


def load(path: Path) -> list[Run]:
    """The runs of one collection."""
    return read_lines(path)


def sample(runs: list[Run], count: int = SAMPLE) -> set[str]:
    """The ids of the `count` runs with the smallest digests and of all labelled ones, as the tools choose."""
    first = sorted(runs, key=lambda run: hashlib.md5(run["id"].encode()).hexdigest())[:count]
    return {run["id"] for run in first} | {run["id"] for run in runs if run["label"] != "unknown"}


def spans(shared: Shared, run: Run, content: bool = True) -> tuple[list[Span], list[str]]:
    """The spans of a run as they end, and the span of each step."""
    _, made, ids = shared.tool("runs_to_otlp").convert(run, content)
    return made, ids


def case(run: Run, source: str, sampled: bool = False) -> Case:
    """A run as a case."""
    steps = tuple(_step(step, at * (_GAP + _LASTS) + _GAP) for at, step in enumerate(run["steps"]))
    onset = run.get("onset")
    onset = -1 if onset is None else onset
    truth = Truth(
        run["id"],
        source,
        end={"loop": End.LOOP, "ok": End.HONEST}.get(run["label"], End.UNKNOWN),
        success={"success": True, "fail": False}.get(run.get("outcome") or ""),
        onset=onset,
        steps=len(steps),
        sampled=sampled,
        calls=counted(steps, onset) if onset >= 0 else (),
    )
    return Case(truth, steps)


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
