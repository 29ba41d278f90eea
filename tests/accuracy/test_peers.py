"""The peers fire where a study saw them fire: at the so-manieth repeated call of its synthetic tails."""

from __future__ import annotations

import pytest
from tests.accuracy.making import prefix
from tests.accuracy.peer import judge_all
from tests.accuracy.peers import PEERS
from tests.accuracy.peers.study import FOUND, WHY
from tests.accuracy.steps import turns
from tests.accuracy.synthetic.grafting import grafted

# Calls of the tail up to the stop: of one call, of two in turn, of three, of seven; None: never.
STUDY = {
    "OpenHands V0": (None, None, None, None),
    "OpenHands V0, thoughts ignored": (4, 6, None, None),
    "OpenHands SDK": (None, None, None, None),
    "gemini-cli": (6, 11, 16, None),
    "goose (3)": (4, None, None, None),
    "Cline (3, 5)": (5, None, None, None),
    "Roo Code (3)": (4, None, None, None),
    "CrewAI (refuses the call)": (2, None, None, None),
    "stella": (4, 7, 10, None),
    "hermes-agent": (5, 10, 15, None),
    "agentguard47 LoopGuard (5)": (5, None, None, None),
    "agent-watchdog": (3, 8, None, None),
    "agentcircuit Fuse": (4, 7, 10, 22),
    "agentbelt-loop": (3, 6, 9, None),
}
PERIODS = {"identical": 1, "A-B": 2, "A-B-C": 3, "period 7": 7}


@pytest.mark.parametrize("peer", STUDY)
def test_a_rule_fires_at_the_call_at_which_the_study_saw_it(peer: str) -> None:
    found = []
    for case in grafted([prefix()], PERIODS):
        stopped = judge_all(PEERS[peer], turns(case.steps)).stopped
        before = PERIODS[case.truth.kind]
        found.append(None if stopped is None else before + case.truth.delay(stopped))

    assert tuple(found) == STUDY[peer]


def test_what_the_study_measured_and_what_differs_is_about_peers_that_there_are() -> None:
    assert FOUND.keys() <= PEERS.keys()
    assert WHY.keys() <= FOUND.keys()


def test_there_are_more_than_ten_guards_by_other_authors() -> None:
    assert len(PEERS) > 10
