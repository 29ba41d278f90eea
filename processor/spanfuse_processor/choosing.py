"""Rows of the journal chosen, ordered and summed, for stores that cannot do it themselves.

Rule: the answer is that of the SELECT of `statements.py` over the same rows. It does not know where rows come
from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from spanfuse_processor.rows import EventRow, RunRow, StepRow


def newest(rows: Iterable[StepRow]) -> list[StepRow]:
    """The newest revision of each step; of equal ones the first.

    >>> row = StepRow("t", "1", 2.0)
    >>> [each.cost for each in newest([row, row._replace(cost=7, revision=1), row])]
    [7]
    """
    known: dict[tuple[str, str], StepRow] = {}
    for row in rows:
        before = known.setdefault(row[:2], row)
        if row.revision > before.revision:
            known[row[:2]] = row
    return list(known.values())


def chosen_events(
    rows: Iterable[EventRow],
    kinds: Collection[str],
    most: int,
    run: str = "",
    agent: str = "",
    before_id: str = "",
    before: EventRow | None = None,
) -> list[EventRow]:
    """Events of some kinds, of a run, of an agent (or of all), newest first; what comes after the event
    `before`, which goes by `before_id`."""
    chosen = [
        row
        for row in rows
        if (not kinds or row.kind in kinds) and run in ("", row.run) and agent in ("", row.agent)
    ]
    if before_id:
        chosen = [row for row in chosen if before is not None and _newest(row) > _newest(before)]
    return sorted(chosen, key=_newest)[:most]


def chosen_steps(rows: Iterable[StepRow], most: int, run: str = "", trace_id: str = "") -> list[StepRow]:
    """Steps of a run, of a trace (or of all), oldest first; the latest `most` of them."""
    chosen = [row for row in rows if run in ("", row.run) and trace_id in ("", row.trace_id)]
    chosen.sort(key=lambda row: (row.ended, row.trace_id, row.span_id))
    return chosen[max(0, len(chosen) - most) :]


def runs_of(rows: Iterable[StepRow]) -> list[RunRow]:
    """Each run's sums, the one that ended last first.

    >>> [(run.run, run.steps) for run in runs_of([StepRow("t", "1", 2.0, run="r"), StepRow("t", "2", 1.0)])]
    [('r', 1)]
    """
    runs: dict[str, list[StepRow]] = {}
    for row in rows:
        if row.run:
            runs.setdefault(row.run, []).append(row)
    summed = [_run(name, steps) for name, steps in runs.items()]
    return sorted(summed, key=lambda run: (-run.ended, run.run))


def _run(name: str, steps: Sequence[StepRow]) -> RunRow:
    counted = [row for row in steps if row.counts]
    outermost = [row.name for row in steps if row.kind == "agent" and not row.parent_span_id]
    return RunRow(
        run=name,
        trace_id=min(row.trace_id for row in steps),
        started=min(row.started or row.ended for row in steps),
        ended=max(row.ended for row in steps),
        service=max(row.service for row in steps),
        feature=max(row.feature for row in steps),
        agent=max(outermost or [row.agent for row in steps]),
        steps=len(steps),
        failed=sum(row.failed for row in steps),
        calls=len(counted),
        input_tokens=sum(row.input_tokens for row in counted),
        output_tokens=sum(row.output_tokens for row in counted),
        cost=sum(row.cost for row in counted),
        estimated_cost=sum(row.cost for row in counted if row.estimated),
        unpriced=sum(row.unpriced for row in counted),
    )


def _newest(row: EventRow) -> tuple[float, str]:
    return -row.at, row.id
