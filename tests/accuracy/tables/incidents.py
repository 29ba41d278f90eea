"""The incidents: by category, as pairs, and with less to see. It does not know what is good."""

from __future__ import annotations

from collections.abc import Sequence

from tests.accuracy.incidents import PAIRS
from tests.accuracy.judged import Verdict
from tests.accuracy.markdown import NOTHING, percent, table
from tests.accuracy.measuring import PLAIN, Measured, Setting
from tests.accuracy.promises import of
from tests.accuracy.scoring import fired, is_loop, score
from tests.accuracy.steps import Truth


def by_category(measured: Measured) -> str:
    """By category, both orders."""
    truths = of(measured, "incidents")
    categories = sorted({truth.kind for truth in truths})
    rows = [_row(measured, category, truths) for category in categories]
    rows.append(_row(measured, "all", truths))
    head = ("kind", "trips", "stopped", "near", "early", "late", "only warned", "silent", "honest", "stopped",
            "warned", "steps saved", "cost saved", "with starts: trips, near, honest stopped")  # fmt: skip
    return table(head, rows)


def _row(measured: Measured, category: str, truths: Sequence[Truth]) -> list[object]:
    some = [truth for truth in truths if category in ("all", truth.kind)]
    plain = score(some, fired(measured.verdicts[Setting()]))
    heard = score(some, fired(measured.verdicts[Setting(starts=True)]))
    costs = [measured.verdicts[Setting()][truth.id] for truth in some if is_loop(truth)]
    cost, after = sum(each.cost for each in costs), sum(each.cost_after for each in costs)
    silent = len(plain.missed) - plain.warned
    return [
        category, plain.loops, len(plain.caught), plain.near, plain.early, plain.late, plain.warned, silent,
        plain.honest, len(plain.killed), plain.doubted, percent(plain.share_saved),
        percent(after / cost) if cost else NOTHING,
        f"{len(heard.caught)}, {heard.near}, {len(heard.killed)}",
    ]  # fmt: skip


def pairs(measured: Measured) -> str:
    """Incidents of nearly the same shape, of which one is a trip; both orders where they differ."""
    rows = []
    for trip, fine, difference in PAIRS:
        cells = [_verdict(measured, case) for case in (trip, fine) if case in measured.truths]
        if len(cells) == 2:
            rows.append([f"{trip}: {cells[0]}", f"{fine}: {cells[1]}", difference])
    return table(("trip", "no trip", "what differs"), rows)


def _verdict(measured: Measured, case: str) -> str:
    said = []
    for starts in (False, True):
        verdict = measured.verdicts[Setting(PLAIN, starts)].get(case, Verdict())
        what = (
            "stopped" if verdict.stopped is not None else "warned" if verdict.warned is not None else "quiet"
        )
        said.append(f"{what} by {verdict.stopped_by}" if verdict.stopped_by else what)
    grey = " (grey)" if measured.truths[case].grey else ""
    return (said[0] if said[0] == said[1] else f"{said[0]}; with starts {said[1]}") + grey


def settings(measured: Measured) -> str:
    """What withholding and jitter change."""
    rows = []
    known = {truth.id for truth in of(measured, "incidents")}
    for setting, verdicts in sorted(measured.verdicts.items()):
        if not known <= verdicts.keys():
            continue
        told = score(of(measured, "incidents"), fired(verdicts))
        order = "with starts" if setting.starts else "ends only"
        rows.append([setting.mode, order, f"{len(told.caught)}/{told.loops}", told.near,
                     f"{len(told.killed)}/{told.honest}", told.doubted])  # fmt: skip
    return table(
        ("what the engine sees", "order", "trips stopped", "near", "honest stopped", "honest warned"), rows
    )
