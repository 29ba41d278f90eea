"""The page is made of the figures alone."""

from __future__ import annotations

import pytest
from tests.accuracy import page
from tests.accuracy.judged import Verdict
from tests.accuracy.making import PEER, honest, loop, measured
from tests.accuracy.measuring import Measured
from tests.accuracy.peer import Fired
from tests.accuracy.steps import End, Truth
from tests.accuracy.synthetic import LOOPS, TWINS


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> Measured:
    """A loop, an honest run that is stopped, and a graft of every kind; one peer."""
    monkeypatch.setattr("tests.accuracy.tables.beside.study.FOUND", {})
    truths = [loop(), honest(), loop("trip", "incidents", due=5), Truth("a.json", "spans", end=End.HONEST)]
    truths += [Truth(kind, "synthetic", kind, calls=(0, 1, 2), onset=0) for kind in [*LOOPS, *TWINS]]
    verdicts = {"loop": Verdict(5, 4, "repeat", ("repeat",)), "honest": Verdict(5, 4, "cycle")}
    return measured(truths, verdicts | {"A-B": Verdict(2, 1, "cycle")}, {"loop": Fired(None, 3)})


def test_equal_figures_give_an_equal_page(figures: Measured) -> None:
    assert page.written(figures) == page.written(figures)


def test_an_honest_run_that_is_stopped_stands_on_the_page_with_its_argument(
    figures: Measured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "ARGUED", {"honest": "It asked for the same five times."})

    assert "- `honest` (somewhere, by cycle): It asked for the same five times." in page.written(figures)


def test_a_loop_that_is_missed_stands_on_the_page(figures: Measured) -> None:
    assert "- `trip` (incidents): nothing" in page.written(figures)


def test_a_graft_is_told_by_its_median_and_every_peer_has_a_column(figures: Measured) -> None:
    text = page.written(figures)

    assert "| A-B | 3 | 3 | – |" in text
    assert f"| kind | spanfuse | spanfuse, starts | {PEER} |" in text


def test_every_kind_is_explained(figures: Measured) -> None:
    text = page.written(figures)

    assert [kind for kind in [*LOOPS, *TWINS] if f"\n- {kind}: " not in text] == []
