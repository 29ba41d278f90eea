"""Grafts: the same prefixes, the same tails, every time."""

from __future__ import annotations

import dataclasses

import pytest
from tests.accuracy.making import prefix
from tests.accuracy.steps import Case, End, Kind
from tests.accuracy.synthetic import LOOPS, TWINS, UNDECIDABLE, UNSEEN
from tests.accuracy.synthetic.grafting import grafted, prefixes, trunk

KINDS = [*LOOPS, *TWINS]


def graft(kind: str) -> Case:
    return next(grafted([prefix()], [kind]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_graft_is_the_same_every_time(kind: str) -> None:
    assert graft(kind) == graft(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_graft_begins_where_the_last_call_of_its_prefix_was(kind: str) -> None:
    case = graft(kind)

    assert case.truth.begins == 6
    assert list(case.steps[:6]) == list(trunk(prefix()))
    assert case.truth.begins <= case.truth.onset < len(case.steps)


@pytest.mark.parametrize("kind", KINDS)
def test_time_goes_on(kind: str) -> None:
    times = [step.at for step in graft(kind).steps]

    assert times == sorted(times)


@pytest.mark.parametrize("kind", LOOPS)
def test_a_tail_is_long_enough_for_the_most_patient_rule(kind: str) -> None:
    case = graft(kind)

    assert case.truth.delay(len(case.steps)) > 20


def test_a_prefix_is_a_success_with_three_calls_of_tools() -> None:
    good = prefix()
    failed = dataclasses.replace(good, truth=dataclasses.replace(good.truth, success=False))
    loop = dataclasses.replace(good, truth=dataclasses.replace(good.truth, end=End.LOOP))
    short = dataclasses.replace(good, steps=good.steps[:4])

    assert prefixes([failed, loop, short, good], 9) == [good]


def test_a_twin_ends_in_what_it_was_for() -> None:
    last = {kind: graft(kind).steps[-1] for kind in TWINS}

    assert {step.kind for step in last.values()} <= {Kind.MODEL, Kind.TOOL}
    assert all(graft(kind).truth.end is End.HONEST for kind in TWINS)


def test_what_is_undecidable_or_unseen_is_among_the_loops() -> None:
    assert UNDECIDABLE.keys() <= LOOPS.keys()
    assert set(UNSEEN) <= UNDECIDABLE.keys()
