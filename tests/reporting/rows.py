"""Rows of runs that never were."""

from __future__ import annotations

import json

from spanfuse_processor.reporting import Material
from spanfuse_processor.store import EventRow, StepRow

START = 1_780_000_000.0
RUN = "3f2a91c07e55d104b8a6c2f90e1d7745"


def steps(count: int, run: str = RUN, start: float = START, cost: int = 10_000) -> list[StepRow]:
    """A model and a tool in turn, a second each; the model's calls cost the same."""
    return [
        StepRow(
            "ab" * 16,
            f"{number:016x}",
            start + number,
            "tool" if number % 2 == 0 else "model",
            feature="support",
            agent="main",
            model="" if number % 2 == 0 else "gpt-4o",
            tool="search" if number % 2 == 0 else "",
            run=run,
            input_tokens=0 if number % 2 == 0 else 1_000,
            output_tokens=0 if number % 2 == 0 else 100,
            cost=0 if number % 2 == 0 else cost,
            started=start + number - 0.8,
            number=number,
        )
        for number in range(1, count + 1)
    ]


def event(kind: str, at: float, run: str = RUN, **body: object) -> EventRow:
    """An event of a run."""
    return EventRow(f"{kind}-{at}", at, kind, agent="main", run=run, body=json.dumps(body))


def material(rows: list[StepRow], events: list[EventRow], run: str = RUN) -> Material:
    """What a page is made of."""
    return Material(run, rows[0].started, rows[-1].ended, rows, events, made=START + 1e6)
