"""The incidents (`data/incidents.jsonl`): shapes of public reports, each with what is expected of a breaker.

Rule 1: spans and flat steps come from the shared converter, steps by its own `expand`. Rule 2: grey ones are
listed and not counted. It does not judge.
"""

from __future__ import annotations

import json
from typing import Any, Final

from tests.accuracy.otlp import Span
from tests.accuracy.shared import Shared, read_lines
from tests.accuracy.steps import Case, End, Kind, Step, Truth, counted

_KINDS = {"llm": Kind.MODEL, "tool": Kind.TOOL, "agent": Kind.AGENT}
_NO_WORDS = "tool call"  # what a shape says where a model only called a tool

PAIRS: Final = (
    ("T007", "F007", "how often, and the price of a poll"),
    ("T056", "F016", "whether anything is ever produced"),
    ("T063", "F015", "what is on the pages"),
    ("T038", "F019", "length only"),
    ("T065", "F038", "the gaps"),
    ("T135", "F029", "whether the error persists"),
    ("T057", "F044", "the state of the page"),
    ("T108", "F010", "the period that was declared"),
)
"""A trip and an honest incident of nearly the same shape, and what tells them apart."""

Record = dict[str, Any]


def load(shared: Shared) -> list[Record]:
    """All records."""
    return read_lines(shared.data / "incidents.jsonl")


def spans(shared: Shared, record: Record, content: bool, seed: int | None) -> tuple[list[Span], list[str]]:
    """The spans of a record as they end, and the span of each step; `seed` jitters the tokens."""
    converted: tuple[list[Span], list[str]] = shared.tool("incidents_to_otlp").convert(record, content, seed)
    return converted


def case(shared: Shared, record: Record) -> Case:
    """A record as a case."""
    steps = _steps(shared.tool("incidents_to_otlp").expand(record["shape"]))
    trip = record["expected"] == "trip"
    due = record["by_step"] if trip else None
    truth = Truth(
        record["id"],
        "incidents",
        record["category"],
        End.LOOP if trip else End.HONEST,
        due=-1 if due is None else due,
        steps=len(steps),
        grey=bool(record.get("grey")),
        calls=counted(steps, 0),
    )
    return Case(truth, steps)


def _steps(shape: list[dict[str, Any]]) -> tuple[Step, ...]:
    steps: list[Step] = []
    at = 0.0
    for step in shape:
        at += step.get("dt_s", 1.0)
        kind, result = _KINDS[step["kind"]], step["result"]
        if kind is Kind.MODEL and result == _NO_WORDS:
            result = ""
        steps.append(
            Step(
                kind,
                step["name"],
                "" if kind is Kind.MODEL else json.dumps(step["args"], sort_keys=True),
                result if isinstance(result, str) else json.dumps(result),
                bool(step.get("error")),
                at,
                input_tokens=step.get("in_tok"),
                output_tokens=step.get("out_tok"),
                depth=step.get("depth", 0),
            )
        )
    return tuple(steps)
