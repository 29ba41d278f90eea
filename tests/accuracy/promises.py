"""What the figures have to be: each promise is looked up in what was measured, in every order of delivery.

Rule 1: a promise that is missed says by what. Rule 2: numbers of cases stand beside the bounds, so that other
data of the same kinds can be measured too. It does not know how a page is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from tests.accuracy.argued import ARGUED
from tests.accuracy.measuring import JITTERED, NAMES, PLAIN, WITHHELD, Measured, Setting
from tests.accuracy.peer import Fired
from tests.accuracy.scoring import Score, fired, is_honest, score
from tests.accuracy.steps import End, Truth
from tests.accuracy.synthetic import LOOPS, TWINS, UNDECIDABLE, UNSEEN

TRIPS, NEAR, KILLED_INCIDENTS = 85, 75, 1  # of 93, of 93, of 35
WITHIN = 2
LABELLED_LOOPS, LABELLED_OK, SAMPLED = 25, 3, 1  # of 31, of 184, of 448 successes
SOON = 15
NEVER_STOPPED: Final = ("tau2_toolorchestra", "taubench_airline", "taubench_retail_agentrx")
COMPARING: Final = frozenset({"repeat", "cycle", "answers", "similar", "monologue", "outside", "chant"})
"""Detectors whose stops rest on what was asked or answered: none of them may fire on names alone."""

SETS: Final = ("incidents", "runs", "synthetic")


class Promise(NamedTuple):
    """What was promised, what was found, and whether that keeps it; `many`: one of a long row."""

    what: str
    found: str
    kept: bool
    many: bool = False


def of(measured: Measured, name: str) -> list[Truth]:
    """The cases of one of `SETS`, or of the spans."""
    truths = measured.truths.values()
    if name == "runs":
        return [truth for truth in truths if truth.source not in ("incidents", "synthetic", "spans")]
    return [truth for truth in truths if truth.source == name]


def ours(measured: Measured, name: str, mode: str = PLAIN, starts: bool = False) -> Score:
    """The engine's score on a set of cases."""
    return score(of(measured, name), fired(measured.verdicts.get(Setting(mode, starts), {})))


def promises(measured: Measured) -> list[Promise]:
    """All of them."""
    found: list[Promise] = []
    for starts in (False, True):
        order = "with starts" if starts else "ends only"
        few = [*_incidents(measured, starts), *_runs(measured, starts)]
        many = [
            each._replace(many=True) for each in (*_synthetic(measured, starts), *_beside(measured, starts))
        ]
        found += [each._replace(what=f"{each.what} ({order})") for each in (*few, *many)]
    return [*found, *_argued(measured)]


def at_least(what: str, count: int, bound: int, whole: int) -> Promise:
    """A count that has to reach a bound."""
    return Promise(f"{what}: at least {bound}", f"{count} of {whole}", count >= bound)


def at_most(what: str, found: list[str], bound: int, whole: int) -> Promise:
    """Cases of which there may not be more."""
    named = f" ({', '.join(sorted(found))})" if found else ""
    return Promise(f"{what}: at most {bound}", f"{len(found)} of {whole}{named}", len(found) <= bound)


def _incidents(measured: Measured, starts: bool) -> Iterator[Promise]:
    plain = ours(measured, "incidents", PLAIN, starts)
    yield at_least("trips stopped", len(plain.caught), TRIPS, plain.loops)
    yield at_least("of these near where a stop is due", plain.near, NEAR, plain.loops)
    yield at_most("honest incidents stopped", plain.killed, KILLED_INCIDENTS, plain.honest)
    for mode in JITTERED:
        other = ours(measured, "incidents", mode, starts)
        apart = max(
            abs(len(plain.caught) - len(other.caught)),
            abs(plain.near - other.near),
            abs(len(plain.killed) - len(other.killed)),
        )
        yield Promise(f"{mode}: within {WITHIN} of plain", f"{apart} apart", apart <= WITHIN)
    yield from _withheld(measured, starts)


def _withheld(measured: Measured, starts: bool) -> Iterator[Promise]:
    plain, other = (measured.verdicts[Setting(mode, starts)] for mode in (PLAIN, WITHHELD))
    differ = [case for case, verdict in other.items() if verdict != plain[case]]
    yield at_most("verdicts that change when content is withheld", differ, 0, len(other))
    names = measured.verdicts[Setting(NAMES, starts)]
    stopped = [case for case, verdict in names.items() if verdict.stopped_by in COMPARING]
    yield at_most("loop kills on names alone", stopped, 0, len(names))


def _runs(measured: Measured, starts: bool) -> Iterator[Promise]:
    verdicts = measured.verdicts[Setting(PLAIN, starts)]
    truths = of(measured, "runs")
    stopped = {truth.id for truth in truths if verdicts[truth.id].stopped is not None}
    successes = [truth for truth in truths if truth.success]

    def hit(some: Iterable[Truth]) -> list[str]:
        return [truth.id for truth in some if truth.id in stopped]

    bench = [truth for truth in successes if truth.source in NEVER_STOPPED]
    yield at_most("successes of tau2 and tau-bench stopped", hit(bench), 0, len(bench))
    sampled = [truth for truth in successes if truth.sampled]
    yield at_most("successes of the sample stopped", hit(sampled), SAMPLED, len(sampled))
    loops = [truth for truth in truths if truth.end is End.LOOP]
    yield at_least("labelled loops stopped", len(hit(loops)), LABELLED_LOOPS, len(loops))
    fine = [truth for truth in truths if truth.end is End.HONEST]
    yield at_most("labelled ok stopped", hit(fine), LABELLED_OK, len(fine))
    spans = ours(measured, "spans", PLAIN, starts)
    yield at_most("emitted traffic stopped that is no loop", spans.killed, 0, spans.honest)


def _synthetic(measured: Measured, starts: bool) -> Iterator[Promise]:
    verdicts = measured.verdicts[Setting(PLAIN, starts)]
    truths = of(measured, "synthetic")
    for kind in LOOPS:
        cases = [truth for truth in truths if truth.kind == kind]
        if kind in UNSEEN:
            continue
        if kind in UNDECIDABLE:
            warned = sum(verdicts[truth.id].warned is not None for truth in cases)
            yield at_least(f"warned of {kind}", warned, len(cases), len(cases))
            continue
        soon = sum(is_soon(truth, verdicts[truth.id].stopped) for truth in cases)
        yield at_least(f"{kind} stopped within {SOON} calls of its onset", soon, len(cases), len(cases))
    for kind in TWINS:
        cases = [truth for truth in truths if truth.kind == kind]
        killed = [truth.id for truth in cases if verdicts[truth.id].stopped is not None]
        yield at_most(f"{kind} stopped", killed, 0, len(cases))


def is_soon(truth: Truth, stopped: int | None) -> bool:
    """Whether a graft was stopped, and in time."""
    return stopped is not None and stopped >= truth.begins and truth.delay(stopped) <= SOON


def _beside(measured: Measured, starts: bool) -> Iterator[Promise]:
    """More loops than each peer that kills as few, fewer kills than each that catches as many."""
    for name in SETS:
        mine = ours(measured, name, PLAIN, starts)
        for peer, found in measured.fired.items():
            theirs = score(of(measured, name), found)
            pairs = f"{_pair(mine)} against {_pair(theirs)}"
            yield Promise(f"{name}, beside {peer}", pairs, is_better(mine, theirs))


def is_better(mine: Score, theirs: Score) -> bool:
    """Higher recall than one with as few false kills; fewer false kills than one with as high a recall."""
    as_few = theirs.wrong <= mine.wrong
    as_many = len(theirs.caught) >= len(mine.caught)
    return not (as_few and as_many)


def _pair(counted: Score) -> str:
    return f"{len(counted.caught)} caught and {counted.wrong} killed"


def stopped_honest(measured: Measured) -> dict[str, str]:
    """Honest runs and incidents that are stopped in any order of delivery, and by what."""
    found: dict[str, str] = {}
    for starts in (False, True):
        for case, verdict in measured.verdicts[Setting(PLAIN, starts)].items():
            truth = measured.truths[case]
            if (
                verdict.stopped is not None
                and is_honest(truth)
                and truth.source not in ("synthetic", "spans")
            ):
                found[case] = verdict.stopped_by
    return dict(sorted(found.items()))


def _argued(measured: Measured) -> Iterator[Promise]:
    killed = stopped_honest(measured).keys()
    silent = sorted(killed - ARGUED.keys())
    yield Promise("every false kill is argued", ", ".join(silent) or "all are", not silent)
    idle = sorted(ARGUED.keys() - killed)
    yield Promise("every argument has a false kill", ", ".join(idle) or "all have", not idle)


def peers_on(measured: Measured, name: str) -> Mapping[str, Score]:
    """Each peer's score on a set of cases."""
    return {peer: score(of(measured, name), found) for peer, found in measured.fired.items()}


def told(fires: Mapping[str, Fired], case: str) -> Fired:
    """What was said of a case; nothing where it was not judged."""
    return fires.get(case, Fired())
