"""Promises are missed by figures that miss them, and by nothing else."""

from __future__ import annotations

import dataclasses

import pytest
from tests.accuracy import promises
from tests.accuracy.judged import Verdict
from tests.accuracy.making import PEER, honest, loop, measured
from tests.accuracy.measuring import NAMES, WITHHELD, Measured, Setting
from tests.accuracy.peer import Fired
from tests.accuracy.scoring import Score
from tests.accuracy.steps import End, Truth
from tests.accuracy.synthetic import LOOPS, TWINS, UNDECIDABLE, UNSEEN

from spanfuse_processor.engine.detectors import DETECTORS

STOP = Verdict(5, 4, "repeat", ("repeat",))


def missed(found: Measured) -> list[str]:
    return [each.what for each in promises.promises(found) if not each.kept]


def everything() -> tuple[list[Truth], dict[str, Verdict]]:
    """One case of each sort, and verdicts that keep every promise that does not count cases."""
    truths = [loop("trip", "incidents", due=5), honest("no trip", "incidents"), loop("run"), honest("fine")]
    truths += [Truth(kind, "synthetic", kind, _end(kind), steps=9) for kind in [*LOOPS, *TWINS]]
    verdicts = {truth.id: STOP for truth in truths if truth.end is End.LOOP}
    verdicts |= {kind: Verdict(None, 3, "", ("repeat",)) for kind in UNDECIDABLE if kind not in UNSEEN}
    return truths, verdicts


def _end(kind: str) -> End:
    return End.UNDECIDABLE if kind in UNDECIDABLE else End.HONEST if kind in TWINS else End.LOOP


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds for one case of each sort."""
    for name in ("TRIPS", "NEAR", "LABELLED_LOOPS"):
        monkeypatch.setattr(promises, name, 1)
    for name in ("KILLED_INCIDENTS", "LABELLED_OK"):
        monkeypatch.setattr(promises, name, 0)
    monkeypatch.setattr(promises, "ARGUED", {})


@pytest.mark.usefixtures("few")
def test_figures_that_keep_every_promise_miss_none() -> None:
    truths, verdicts = everything()

    assert missed(named(measured(truths, verdicts, {}))) == []


def named(found: Measured) -> Measured:
    """With names alone, nothing was said."""
    for starts in (False, True):
        found.verdicts[Setting(NAMES, starts)] = {}
    return found


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("case", "verdict", "what"),
    [
        ("trip", Verdict(), "trips stopped"),
        ("trip", Verdict(9, None, "repeat"), "near where a stop is due"),
        ("no trip", STOP, "honest incidents stopped"),
        ("run", Verdict(), "labelled loops stopped"),
        ("fine", STOP, "labelled ok stopped"),
        ("fine", STOP, "every false kill is argued"),
        ("paging", STOP, "paging stopped"),
        ("A-B", Verdict(), "A-B stopped within 15 calls"),
        ("ping-pong, reworded", Verdict(), "warned of ping-pong, reworded"),
    ],
)
def test_a_figure_that_misses_a_promise_is_named(case: str, verdict: Verdict, what: str) -> None:
    truths, verdicts = everything()

    assert any(what in each for each in missed(named(measured(truths, verdicts | {case: verdict}, {}))))


@pytest.mark.usefixtures("few")
def test_a_verdict_that_changes_when_content_is_withheld_is_missed() -> None:
    found = named(measured(*everything(), {}))
    found.verdicts[Setting(WITHHELD, True)]["trip"] = dataclasses.replace(STOP, stopped=6)

    assert missed(found) == ["verdicts that change when content is withheld: at most 0 (with starts)"]


@pytest.mark.usefixtures("few")
def test_a_loop_kill_on_names_alone_is_missed_and_one_by_depth_is_not() -> None:
    found = named(measured(*everything(), {}))
    found.verdicts[Setting(NAMES)] = {"trip": STOP, "run": Verdict(5, None, "nesting")}

    assert missed(found) == ["loop kills on names alone: at most 0 (ends only)"]


@pytest.mark.usefixtures("few")
def test_a_peer_that_catches_as_much_and_kills_as_little_is_named() -> None:
    found = named(measured(*everything(), {"run": Fired(None, 5)}))

    assert missed(found) == [f"runs, beside {PEER} (ends only)", f"runs, beside {PEER} (with starts)"]


def test_the_detectors_that_compare_are_detectors() -> None:
    assert promises.COMPARING <= DETECTORS.keys()


def test_an_argument_without_a_false_kill_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promises, "ARGUED", {"nobody": "It is not there."})

    assert "every argument has a false kill" in missed(named(measured(*everything(), {})))


@pytest.mark.parametrize(
    ("caught", "killed", "better"), [(5, 1, True), (9, 3, True), (9, 2, False), (10, 1, False), (8, 2, True)]
)
def test_better_is_more_loops_at_as_few_kills_or_fewer_kills_at_as_many_loops(
    caught: int, killed: int, better: bool
) -> None:
    mine = Score(caught=["loop"] * 9, killed=["run"] * 2)

    assert promises.is_better(mine, Score(caught=["loop"] * caught, killed=["run"] * killed)) is better
