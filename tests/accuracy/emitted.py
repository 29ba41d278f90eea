"""The spans that real instrumentations emitted (`data/spans`), as they lie there: honest traffic, few loops.

Rule 1: a file is a case; whether it holds a loop is read from its truth: five equal calls that a model asked
for. Rule 2: log records beside the spans are not read, as a receiver of traces does not. Peers are not run on
them: the rules of most know nothing of spans.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from tests.accuracy.judged import Verdict, worse
from tests.accuracy.shared import Shared
from tests.accuracy.steps import End, Truth

from spanfuse_processor.replaying import Replay

_LOOP = 5


def truths(shared: Shared) -> dict[str, Truth]:
    """What is known of each file."""
    told: dict[str, Any] = json.loads((shared.data / "spans" / "truth.json").read_text())
    return {name: _truth(name, entry) for name, entry in sorted(told.items())}


def _truth(name: str, entry: dict[str, Any]) -> Truth:
    asked = entry["truth"].get("tool_calls_requested") or []
    most = max(Counter((call["name"], str(call["args"])) for call in asked).values(), default=0)
    end = End.LOOP if most >= _LOOP else End.HONEST
    return Truth(name, "spans", entry["instrumentation"], end, steps=entry["span_count"])


def judge(shared: Shared, names: list[str], starts: bool) -> dict[str, Verdict]:
    """File -> verdict, each by itself: files share ids of conversations. A stop is at step 0."""
    return {name: _judge(shared.data / "spans" / name, starts) for name in names}


def _judge(path: Path, starts: bool) -> Verdict:
    replay, found = Replay(), Verdict()
    replay.read([path], starts)
    for row in replay.rows():
        warned = {each["detector"] for each in row["findings"] if each["level"] == "warn"}
        stopped = row["verdict"] == "stop"
        by = row["detector"] if stopped else ""
        verdict = Verdict(0 if stopped else None, 0 if warned else None, by, tuple(sorted(warned)))
        found = worse(found, verdict)
    return found
