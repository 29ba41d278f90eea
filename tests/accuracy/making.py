"""Small cases for the tests of the measuring itself: no data is needed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.accuracy.judged import Verdict
from tests.accuracy.measuring import JITTERED, NAMES, PLAIN, WITHHELD, Measured, Setting
from tests.accuracy.peer import Fired
from tests.accuracy.steps import Case, End, Kind, Step, Truth

PEER = "another guard"


def prefix() -> Case:
    """A run that succeeded: three calls, and a last word."""
    steps = []
    for number in range(3):
        steps.append(Step(Kind.MODEL, "gpt-4o", "", f"I look at {number}.", at=8.0 * number + 3))
        steps.append(
            Step(Kind.TOOL, "get_item", f'{{"item": {number}}}', f"item {number}", at=8.0 * number + 7)
        )
    steps.append(Step(Kind.MODEL, "gpt-4o", "", "Done.", at=30.0))
    return Case(Truth("run", "somewhere", success=True, steps=len(steps)), steps)


def measured(truths: list[Truth], verdicts: dict[str, Verdict], peers: dict[str, Fired]) -> Measured:
    """Figures of the same verdicts in every setting."""
    modes = (PLAIN, NAMES, WITHHELD, *JITTERED)
    known = {truth.id: verdicts.get(truth.id, Verdict()) for truth in truths}
    fired = {truth.id: peers.get(truth.id, Fired()) for truth in truths}
    settings = {Setting(mode, starts): dict(known) for mode in modes for starts in (False, True)}
    return Measured({truth.id: truth for truth in truths}, settings, {PEER: fired})


def loop(name: str = "loop", source: str = "somewhere", **more: Any) -> Truth:
    """A labelled loop of ten calls that brings nothing new from the third on."""
    truth = Truth(name, source, end=End.LOOP, onset=2, steps=10, calls=tuple(range(10)))
    return replace(truth, **more)


def honest(name: str = "honest", source: str = "somewhere") -> Truth:
    """A run that was labelled ok."""
    return Truth(name, source, end=End.HONEST, steps=10)
