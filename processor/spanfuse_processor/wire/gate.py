"""How an application's gate answered, as messages.

Reading never raises, and what is read is bounded: a few decisions, some agents, counts and seconds that a
process can come to.
"""

from __future__ import annotations

import math
from typing import Final

from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire.answers import BOUNDS, DECISIONS, Answers, Blind, Waits
from spanfuse_processor.wire.plain import text

AGENTS: Final = 50
"""Of one report."""
MAX_NAME: Final = 256
"""Characters of an agent's name."""
MAX_COUNT: Final = 1_000_000_000
MAX_SECONDS: Final = 1e9


def encode(answers: Answers) -> pb.GateAnswers:
    """The message."""
    return pb.GateAnswers(
        number=answers.number,
        waits=[
            pb.GateWaits(decision=decision, counts=waits.counts, seconds=waits.seconds)
            for decision, waits in answers.waits.items()
        ],
        blind=[
            pb.BlindAnswers(agent_name=text(agent, MAX_NAME), allowed=blind.allowed, denied=blind.denied)
            for agent, blind in list(answers.blind.items())[:AGENTS]
        ],
    )


def decode(message: pb.GateAnswers) -> Answers | None:
    """What a message says; None where it says nothing."""
    waits = {each.decision: _waits(each) for each in message.waits[: len(DECISIONS)] if _is_known(each)}
    blind = {
        each.agent_name[:MAX_NAME]: Blind(min(each.allowed, MAX_COUNT), min(each.denied, MAX_COUNT))
        for each in message.blind[:AGENTS]
    }
    return Answers(message.number, waits, blind) if waits or blind else None


def _is_known(message: pb.GateWaits) -> bool:
    return message.decision in DECISIONS and len(message.counts) == len(BOUNDS) + 1


def _waits(message: pb.GateWaits) -> Waits:
    seconds = message.seconds if math.isfinite(message.seconds) else 0.0
    counts = tuple(min(count, MAX_COUNT) for count in message.counts)
    return Waits(counts, min(max(0.0, seconds), MAX_SECONDS))
