"""The grafts: every kind, by ours and every peer. It does not know what is good."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from tests.accuracy.markdown import NOTHING, US, number, percent, table
from tests.accuracy.measuring import Measured, Setting
from tests.accuracy.peer import Fired
from tests.accuracy.promises import of
from tests.accuracy.scoring import fired
from tests.accuracy.steps import Truth
from tests.accuracy.synthetic import LOOPS, TWINS, UNDECIDABLE


def by_kind(measured: Measured, loops: bool) -> str:
    """Every kind, ours in both orders and every peer: the median of calls after the onset, and the share."""
    truths = of(measured, "synthetic")
    judges: list[Mapping[str, Fired]] = [
        fired(measured.verdicts[Setting()]),
        fired(measured.verdicts[Setting(starts=True)]),
        *measured.fired.values(),
    ]
    rows = []
    for kind in LOOPS if loops else TWINS:
        cases = [truth for truth in truths if truth.kind == kind]
        name = f"{kind} *" if kind in UNDECIDABLE else kind
        rows.append([name, *(cell(cases, found) for found in judges)])
    return table(["kind", US, f"{US}, starts", *measured.fired], rows)


def cell(cases: Sequence[Truth], found: Mapping[str, Fired]) -> str:
    """`4`: all were stopped, by the 4th call after the onset as a rule; `w`: warned, none stopped."""
    said = [(truth, found[truth.id]) for truth in cases]
    stops = [truth.delay(each.stopped) for truth, each in said
             if each.stopped is not None and each.stopped >= truth.begins]  # fmt: skip
    warned = sum(each.warned is not None and each.warned >= truth.begins for truth, each in said)
    if not stops:
        return "w" if warned else NOTHING
    share = "" if len(stops) == len(cases) else f" ({percent(len(stops) / len(cases))})"
    return f"{number(statistics.median(stops))}{share}"
