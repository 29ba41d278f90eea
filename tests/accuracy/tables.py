"""The tables of the page: figures as Markdown, nothing else.

Rule 1: a cell is a count or a share, and the same input gives the same text. It does not know what is good.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tests.accuracy.judged import Verdict
from tests.accuracy.measuring import PLAIN, Measured, Setting
from tests.accuracy.peer import Fired
from tests.accuracy.peers import study
from tests.accuracy.promises import SETS, of, ours, peers_on
from tests.accuracy.scoring import Score, fired, is_honest, is_loop, score
from tests.accuracy.steps import End, Truth
from tests.accuracy.synthetic import LOOPS, TWINS, UNDECIDABLE

US = "spanfuse"
NOTHING = "–"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Markdown.

    >>> print(table(("what", "n"), [("a", 1)]))
    | what | n |
    |---|---|
    | a | 1 |
    """
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "|" + "|".join(cells) + "|" if cells[0] == "---" else f"| {' | '.join(map(str, cells))} |"
        for cells in ([str(cell) for cell in line] for line in lines)
    )


def percent(share: float) -> str:
    """A share, whole."""
    return f"{share:.0%}"


def number(value: float | None) -> str:
    """A median, without needless decimals."""
    return NOTHING if value is None else f"{value:g}"


def beside_peers(measured: Measured) -> str:
    """Ours and every peer on all sets."""
    mine = {name: ours(measured, name) for name in SETS}
    theirs = {name: peers_on(measured, name) for name in SETS}
    rows = [_beside(f"**{US}**", mine, _successes(measured, fired(measured.verdicts[Setting()])))]
    rows += [
        _beside(peer, {name: theirs[name][peer] for name in SETS}, _successes(measured, measured.fired[peer]))
        for peer in measured.fired
    ]
    head = (
        "guard", "incidents: trips stopped", "near", "honest stopped", "runs: loops stopped", "ok stopped",
        "successes stopped", "successes warned", "recall", "precision", "calls after onset", "steps saved",
        "grafts: stopped", "stopped before", "twins stopped",
    )  # fmt: skip
    return table(head, rows)


def _beside(
    name: str, scores: Mapping[str, Score], successes: tuple[int, int, int, int, int]
) -> list[object]:
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


def beside_study(measured: Measured) -> str:
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


def incidents(measured: Measured) -> str:
    """By category, both orders."""
    truths = of(measured, "incidents")
    categories = sorted({truth.kind for truth in truths})
    rows = [_incidents(measured, category, truths) for category in categories]
    rows.append(_incidents(measured, "all", truths))
    head = ("kind", "trips", "stopped", "near", "early", "late", "only warned", "silent", "honest", "stopped",
            "warned", "with starts: trips, near, honest stopped")  # fmt: skip
    return table(head, rows)


def _incidents(measured: Measured, category: str, truths: Sequence[Truth]) -> list[object]:
    some = [truth for truth in truths if category in ("all", truth.kind)]
    plain = score(some, fired(measured.verdicts[Setting()]))
    heard = score(some, fired(measured.verdicts[Setting(starts=True)]))
    silent = len(plain.missed) - plain.warned
    return [
        category, plain.loops, len(plain.caught), plain.near, plain.early, plain.late, plain.warned, silent,
        plain.honest, len(plain.killed), plain.doubted,
        f"{len(heard.caught)}, {heard.near}, {len(heard.killed)}",
    ]  # fmt: skip


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


def runs(measured: Measured) -> str:
    """By source, both orders."""
    truths = of(measured, "runs")
    rows = [
        _runs(measured, source, [truth for truth in truths if truth.source == source], starts)
        for source in sorted({truth.source for truth in truths})
        for starts in (False, True)
    ]
    rows += [_runs(measured, "**all**", truths, starts) for starts in (False, True)]
    head = ("source", "order", "runs", "successes", "stopped", "warned", "labelled loops", "stopped",
            "labelled ok", "stopped", "precision", "recall", "calls after onset", "steps saved")  # fmt: skip
    return table(head, rows)


def _runs(measured: Measured, source: str, truths: Sequence[Truth], starts: bool) -> list[object]:
    found = fired(measured.verdicts[Setting(PLAIN, starts)])
    labelled = score([truth for truth in truths if truth.end is not End.UNKNOWN], found)
    reached = [found[truth.id] for truth in truths if truth.success]
    return [
        source,
        "with starts" if starts else "ends only",
        len(truths),
        len(reached),
        sum(each.stopped is not None for each in reached),
        sum(each.stopped is None and each.warned is not None for each in reached),
        labelled.loops,
        len(labelled.caught),
        labelled.honest,
        len(labelled.killed),
        percent(labelled.precision) if labelled.loops else NOTHING,
        percent(labelled.recall) if labelled.loops else NOTHING,
        number(labelled.delay),
        percent(labelled.share_saved) if labelled.loops else NOTHING,
    ]


def spans(measured: Measured) -> str:
    """Emitted traffic, by what emitted it."""
    truths = of(measured, "spans")
    rows = []
    for emitter in sorted({truth.kind for truth in truths}):
        some = [truth for truth in truths if truth.kind == emitter]
        said = [score(some, fired(measured.verdicts[Setting(PLAIN, starts)])) for starts in (False, True)]
        stops = [f"{len(each.caught)} / {len(each.killed)} / {each.doubted}" for each in said]
        rows.append([emitter, len(some), said[0].loops, *stops])
    what = "loops stopped / honest stopped / honest warned"
    return table(("emitter", "files", "loops", f"ends only: {what}", f"with starts: {what}"), rows)


def detectors(measured: Measured) -> str:
    """What each detector stopped and warned of."""
    stops: dict[str, Counter[str]] = {}
    for truth in measured.truths.values():
        verdict = measured.verdicts[Setting()].get(truth.id, Verdict())
        side = "loop" if is_loop(truth) else "honest" if is_honest(truth) else "unknown"
        group = truth.source if truth.source in ("incidents", "synthetic", "spans") else "runs"
        if verdict.stopped is not None:
            stops.setdefault(verdict.stopped_by, Counter())[f"{group} {side} stopped"] += 1
        for each in verdict.warned_by:
            stops.setdefault(each, Counter())[f"{group} {side} warned"] += 1
    columns = [(group, side, what) for group in ("incidents", "runs", "synthetic", "spans")
               for side in ("loop", "honest") for what in ("stopped", "warned")]  # fmt: skip
    rows = [
        [name, *(counts[f"{group} {side} {what}"] or NOTHING for group, side, what in columns)]
        for name, counts in sorted(stops.items())
    ]
    head = [
        "detector",
        *(f"{group}: {'loops' if side == 'loop' else side} {what}" for group, side, what in columns),
    ]
    return table(head, rows)


def grafts(measured: Measured, loops: bool) -> str:
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


def missed(measured: Measured) -> Iterator[str]:
    """Loops that no order of delivery stops, one a line."""
    for truth in sorted(measured.truths.values(), key=lambda truth: (truth.source, truth.id)):
        said = [
            measured.verdicts[Setting(PLAIN, starts)].get(truth.id, Verdict()) for starts in (False, True)
        ]
        if (
            not is_loop(truth)
            or truth.source in ("synthetic", "spans")
            or any(each.stopped is not None for each in said)
        ):
            continue
        warned = sorted({by for each in said for by in each.warned_by})
        kind = f", {truth.kind}" if truth.kind else ""
        yield f"`{truth.id}` ({truth.source}{kind}): " + (
            f"warned by {', '.join(warned)}" if warned else "nothing"
        )
