"""Grafts: a recorded run that succeeded, without its last word, and a synthetic tail or twin after it.

Rule 1: a prefix is a success with at least three tools' calls; which ones is decided by their names' digests.
Rule 2: the same prefixes carry every kind, so that kinds and rules can be compared. It does not judge.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tests.accuracy.steps import Case, End, Kind, Step
from tests.accuracy.synthetic import LOOPS, TWINS, UNDECIDABLE, Graft
from tests.accuracy.synthetic.actor import Actor

_TOOLS = 3
LONGEST = 40


def prefixes(runs: Iterable[Case], count: int) -> list[Case]:
    """`count` of the runs that succeeded and used tools."""
    fit = [
        run
        for run in runs
        if run.success
        and run.end is not End.LOOP
        and sum(step.kind is Kind.TOOL for step in run.steps) >= _TOOLS
        and len(run.steps) <= LONGEST
    ]
    return sorted(fit, key=lambda run: hashlib.md5(run.id.encode()).digest())[:count]


def trunk(run: Case) -> Sequence[Step]:
    """A run up to its last tool call."""
    last = max(at for at, step in enumerate(run.steps) if step.kind is Kind.TOOL)
    return run.steps[: last + 1]


def grafted(stocks: Sequence[Case]) -> Iterator[Case]:
    """Every kind on every prefix."""
    for kind, graft in LOOPS.items():
        end = End.UNDECIDABLE if kind in UNDECIDABLE else End.LOOP
        yield from (_graft(stock, kind, graft, end) for stock in stocks)
    for kind, graft in TWINS.items():
        yield from (_graft(stock, kind, graft, End.HONEST) for stock in stocks)


def _graft(stock: Case, kind: str, graft: Graft, end: End) -> Case:
    actor = Actor(trunk(stock), f"{kind}/{stock.id}")
    onset = graft(actor)
    return Case(f"{kind}/{stock.id}", stock.source, tuple(actor.steps), end, onset, kind=kind)


def kinds() -> Mapping[str, Graft]:
    """All of them, loops first."""
    return {**LOOPS, **TWINS}
