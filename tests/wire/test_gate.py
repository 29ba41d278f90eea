"""Figures of gates over the wire: the same on the other side, and bounded whatever a peer sent."""

from __future__ import annotations

import math

from spanfuse_processor.telemetry.metrics import metric
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire.answers import BOUNDS, DECISIONS, Answers, Blind, Waits
from spanfuse_processor.wire.gate import AGENTS, MAX_COUNT, MAX_NAME, MAX_SECONDS, decode, encode

COUNTS = tuple(range(len(BOUNDS) + 1))


def test_they_are_the_same_on_the_other_side() -> None:
    answers = Answers(7, {"allow": Waits(COUNTS, 1.5)}, {"critic": Blind(2, 3)})

    assert decode(pb.GateAnswers.FromString(encode(answers).SerializeToString())) == answers


def test_the_buckets_and_the_decisions_are_those_of_the_metric() -> None:
    declared = metric("gate_duration_seconds")

    assert tuple(declared.buckets) == BOUNDS
    assert tuple(declared.values["decision"]) == DECISIONS


def test_nothing_said_is_nothing() -> None:
    assert decode(pb.GateAnswers(number=3)) is None


def test_unknown_decisions_and_other_buckets_are_left_out() -> None:
    said = [
        pb.GateWaits(decision="perhaps", counts=COUNTS),
        pb.GateWaits(decision="deny", counts=[1, 2]),
        pb.GateWaits(decision="allow", counts=COUNTS),
    ]
    answers = decode(pb.GateAnswers(number=1, waits=said))

    assert answers is not None
    assert list(answers.waits) == ["allow"]


def test_what_no_process_can_come_to_is_cut() -> None:
    waits = [pb.GateWaits(decision="deny", counts=[2**64 - 1, *COUNTS[1:]], seconds=math.inf)]
    waits.append(pb.GateWaits(decision="allow", counts=COUNTS, seconds=1e300))
    blind = [
        pb.BlindAnswers(agent_name=f"{n:03}" + "x" * 1_000, allowed=2**64 - 1) for n in range(AGENTS * 2)
    ]
    answers = decode(pb.GateAnswers(number=1, waits=waits, blind=blind))

    assert answers is not None
    assert answers.waits["deny"].counts[0] == MAX_COUNT
    assert (answers.waits["deny"].seconds, answers.waits["allow"].seconds) == (0.0, MAX_SECONDS)
    assert len(answers.blind) == AGENTS
    assert max(len(agent) for agent in answers.blind) <= MAX_NAME
    assert {each.allowed for each in answers.blind.values()} == {MAX_COUNT}
