"""Recorded runs and emitted spans: by source, by detector, what was missed. It does not know what is good."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tests.accuracy.judged import Verdict
from tests.accuracy.markdown import NOTHING, number, percent, table
from tests.accuracy.measuring import PLAIN, Measured, Setting
from tests.accuracy.promises import of
from tests.accuracy.scoring import fired, is_honest, is_loop, score
from tests.accuracy.steps import End, Truth


def by_source(measured: Measured) -> str:
    """By source, both orders."""
    truths = of(measured, "runs")
    rows = [
        _row(measured, source, [truth for truth in truths if truth.source == source], starts)
        for source in sorted({truth.source for truth in truths})
        for starts in (False, True)
    ]
    rows += [_row(measured, "**all**", truths, starts) for starts in (False, True)]
    head = ("source", "order", "runs", "successes", "stopped", "warned", "labelled loops", "stopped",
            "labelled ok", "stopped", "precision", "recall", "calls after onset", "steps saved")  # fmt: skip
    return table(head, rows)


def _row(measured: Measured, source: str, truths: Sequence[Truth], starts: bool) -> list[object]:
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
