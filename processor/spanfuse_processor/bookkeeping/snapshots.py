"""What a run looked like when it was stopped, as one JSON document; its schema: `snapshot.schema.json`.

Rule 1: what is known when it happens is taken then; the rest is made later, on the thread that writes, from
the steps as they are kept. Rule 2: it is made piece by piece, so that nobody else waits for all of it.
Rule 3: contents are in it only where they were captured. It decides nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from spanfuse_processor.bookkeeping.bodies import body_of
from spanfuse_processor.bookkeeping.policies import PolicyMark
from spanfuse_processor.engine.reach import PAYER_FIELDS
from spanfuse_processor.engine.runs.run import RunView
from spanfuse_processor.store import FOR_EVER, EventRow, SnapshotRow, StepRow
from spanfuse_processor.writing import Wanted

VERSION: Final = 1
"""Of the schema. It changes when a reader of the one before would misread."""

MOST_STEPS: Final = 500
"""The latest steps of the run."""

EARLIER: Final = 60.0
"""Seconds before what is taken for the begin of a run: its first span may come late."""

_MICRO: Final = 1_000_000
_ALWAYS: Final = ("number", "span_id", "kind", "name", "ended")
_TOLD: Final = (
    *_ALWAYS,
    "trace_id",
    "parent_span_id",
    "started",
    "agent",
    "model",
    "tool",
    "provider",
    "depth",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "failed",
    "error",
    "error_class",
    "arguments",
    "result",
    "result_size",
    "news",
    "estimated",
    "unpriced",
    "counts",
)


def wanted(trip: EventRow, run: RunView, policy: PolicyMark) -> Wanted:
    """The snapshot that belongs to a trip of a run, to be made when its steps are kept."""
    make = partial(_make, trip, run, policy)
    return Wanted(run.id, max(0.0, run.started_ns / 1e9 - EARLIER), FOR_EVER, MOST_STEPS, make)


def schema() -> Mapping[str, Any]:
    """The JSON schema of a snapshot's body."""
    from importlib import resources  # 4 ms, for nobody in an application

    text = resources.files(__package__).joinpath("snapshot.schema.json").read_text(encoding="utf-8")
    read: Mapping[str, Any] = json.loads(text)
    return read


def _make(trip: EventRow, run: RunView, policy: PolicyMark, steps: Sequence[StepRow]) -> SnapshotRow:
    trace_id = trip.trace_id or run.trace_id.hex()
    head = {
        "version": VERSION,
        "id": trip.id,
        "at": trip.at,
        "run": run.id,
        "trace_id": trace_id,
        "who": {name: value for name in PAYER_FIELDS if name != "run" and (value := getattr(trip, name))},
        "trip": {"kind": trip.kind, "key": trip.key, "span_id": trip.span_id, **json.loads(trip.body)},
        "policy": {
            "version": policy.version,
            "mode": policy.mode,
            "profile": run.profile.value,
            "limits": policy.limits(run.identity, trip.agent),
        },
        "totals": _totals(run),
        "complete": len(steps) < MOST_STEPS,
    }
    told = ",".join(_step(step) for step in steps)
    body = f'{body_of(head)[:-1]},"steps":[{told}]}}'
    return SnapshotRow(trip.id, trip.at, run.id, trace_id, body)


def _totals(run: RunView) -> Mapping[str, Any]:
    return {
        "calls": run.calls,
        "input_tokens": run.input_tokens,
        "output_tokens": run.output_tokens,
        "cost_usd": run.cost / _MICRO,
        "cost_after_usd": run.cost_after / _MICRO,
        "unpriced_calls": run.unpriced_calls,
        "started": run.started_ns / 1e9,
        "last": run.last_ns / 1e9,
    }


def _step(step: StepRow) -> str:
    """One step; what it does not have is left out."""
    said: dict[str, Any] = {
        name: value for name in _TOLD if (value := getattr(step, name)) or name in _ALWAYS
    }
    if step.counts:
        said["cost_usd"] = step.cost / _MICRO
    if step.content:
        said["content"] = json.loads(step.content)
    return json.dumps(said, separators=(",", ":"))
