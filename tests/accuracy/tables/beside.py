"""Ours beside every peer, and the peers beside what a study found of them. It does not know what is good."""

from __future__ import annotations

from collections.abc import Mapping

from tests.accuracy.markdown import NOTHING, US, number, percent, table
from tests.accuracy.measuring import Measured, Setting
from tests.accuracy.peer import Fired
from tests.accuracy.peers import study
from tests.accuracy.promises import SETS, of, ours, peers_on
from tests.accuracy.scoring import Score, fired, score
from tests.accuracy.steps import End


def peers(measured: Measured) -> str:
    """Ours and every peer on all sets."""
    mine = {name: ours(measured, name) for name in SETS}
    theirs = {name: peers_on(measured, name) for name in SETS}
    rows = [_row(f"**{US}**", mine, _successes(measured, fired(measured.verdicts[Setting()])))]
    rows += [
        _row(peer, {name: theirs[name][peer] for name in SETS}, _successes(measured, measured.fired[peer]))
        for peer in measured.fired
    ]
    head = (
        "guard", "incidents: trips stopped", "near", "honest stopped", "runs: loops stopped", "ok stopped",
        "successes stopped", "successes warned", "recall", "precision", "calls after onset", "steps saved",
        "grafts: stopped", "stopped before", "twins stopped",
    )  # fmt: skip
    return table(head, rows)


def _row(name: str, scores: Mapping[str, Score], successes: tuple[int, int, int, int, int]) -> list[object]:
    trips, runs, grafts = (scores[each] for each in SETS)
    stopped, warned, whole, ok_stopped, ok = successes
    return [
        name,
        f"{len(trips.caught)}/{trips.loops}",
        trips.near,
        f"{len(trips.killed)}/{trips.honest}",
        f"{len(runs.caught)}/{runs.loops}",
        f"{ok_stopped}/{ok}",
        f"{stopped}/{whole}",
        warned,
        percent(runs.recall),
        percent(runs.precision),
        number(runs.delay),
        percent(runs.share_saved),
        percent(grafts.recall),
        len(grafts.hasty) or NOTHING,
        f"{len(grafts.killed)}/{grafts.honest}",
    ]


def _successes(measured: Measured, found: Mapping[str, Fired]) -> tuple[int, int, int, int, int]:
    """Successes stopped, only warned, all; labelled ok stopped, all."""
    truths = of(measured, "runs")
    reached = [found[truth.id] for truth in truths if truth.success]
    fine = [found[truth.id] for truth in truths if truth.end is End.HONEST]
    stopped = sum(each.stopped is not None for each in reached)
    warned = sum(each.stopped is None and each.warned is not None for each in reached)
    return stopped, warned, len(reached), sum(each.stopped is not None for each in fine), len(fine)


def of_study(measured: Measured) -> str:
    """Precision and recall of the peers on the collection that a study measured them on, and the study's."""
    labelled = [truth for truth in of(measured, "runs") if truth.source == study.SOURCE]
    labelled = [truth for truth in labelled if truth.end is not End.UNKNOWN]
    rows = []
    for peer, (precision, recall) in study.FOUND.items():
        here = score(labelled, measured.fired[peer])
        same = (round(here.precision, 2), round(here.recall, 2)) == (precision, recall)
        why = "" if same else study.WHY.get(peer, "not explained")
        rows.append(
            [peer, f"{here.precision:.2f} / {here.recall:.2f}", f"{precision:.2f} / {recall:.2f}", why]
        )
    return table(("guard", "here: precision / recall", "in the study", "why they differ"), rows)
