"""Grafts: a recorded run that succeeded, without its last word, and a synthetic tail or twin after it.

Rule 1: a prefix is a success with at least three tools' calls; which ones is decided by their names' digests.
Rule 2: the same prefixes carry every kind, so that kinds and rules can be compared. It does not judge.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from tests.accuracy.steps import Case, End, Kind, Step, Truth, counted
from tests.accuracy.synthetic import LOOPS, TWINS, UNDECIDABLE
from tests.accuracy.synthetic.actor import Actor

_TOOLS = 3
LONGEST = 40


def prefixes(runs: Iterable[Case], count: int) -> list[Case]:
    """`count` of the runs that succeeded and used tools."""
    fit = [
        run
        for run in runs
        if run.truth.success
        and run.truth.end is not End.LOOP
        and sum(step.kind is Kind.TOOL for step in run.steps) >= _TOOLS
        and len(run.steps) <= LONGEST
    ]
    return sorted(fit, key=lambda run: hashlib.md5(run.truth.id.encode()).digest())[:count]


def trunk(run: Case) -> Sequence[Step]:
    """A run up to its last tool call."""
    last = max(at for at, step in enumerate(run.steps) if step.kind is Kind.TOOL)
    return run.steps[: last + 1]


def grafted(stocks: Sequence[Case], kinds: Iterable[str]) -> Iterator[Case]:
    """Every kind of `kinds` on every prefix."""
    for kind in kinds:
        yield from (_graft(stock, kind) for stock in stocks)


def _graft(stock: Case, kind: str) -> Case:
    actor = Actor(trunk(stock), f"{kind}/{stock.truth.id}")
    begins = len(actor.steps)
    onset = (LOOPS[kind] if kind in LOOPS else TWINS[kind])(actor)
    end = End.HONEST if kind in TWINS else End.UNDECIDABLE if kind in UNDECIDABLE else End.LOOP
    steps = tuple(actor.steps)
    truth = Truth(
        f"{kind}/{stock.truth.id}",
        "synthetic",
        kind,
        end,
        begins=begins,
        onset=onset,
        steps=len(steps),
        calls=counted(steps, onset),
    )
    return Case(truth, steps)
