"""The bytes of each message, as they were first written: what travels between versions does not change.

A new field adds a new row; a row that changes breaks applications that are out there.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from google.protobuf.message import Message
from tests.wire.builders import (
    budget_directive,
    degrading_directive,
    explained_answer,
    explained_directive,
    full_answer,
    full_ask,
    full_call,
    full_directive,
    full_effect,
    full_heartbeat,
    leasing_directive,
    measured_directive,
    profiled_call,
    removal,
    sparing_effect,
    stop,
    waiting_call,
)

from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import Action
from spanfuse_processor.wire import calls, directives, effects, leases, messages, requests, scopes
from spanfuse_processor.wire.messages import Cursor, Instance

GOLDEN: dict[str, str] = json.loads((Path(__file__).parent / "golden.json").read_text())
CURSOR = Cursor("e1", 7)
INSTANCE = Instance("svc", "i-1", "0.1.0", {"team": "a"}, frozenset({Action.STOP, Action.BLOCK_TOOL}))
WRITTEN: dict[str, Message | bytes] = {
    "scope": scopes.encode(BreakerKey(Level.FEATURE, "chat")),
    "scope of a budget": scopes.encode(BreakerKey(Level.BUDGET, "daily[ann]")),
    "scope of everything": scopes.encode(BreakerKey(Level.EVERYTHING, "")),
    "directive": directives.encode(full_directive()),
    "directive with all its evidence": directives.encode(explained_directive()),
    "directive of a budget": directives.encode(budget_directive()),
    "directive of a budget, with its unit": directives.encode(measured_directive()),
    "directive that degrades": directives.encode(degrading_directive()),
    "directive that requires a lease": directives.encode(leasing_directive()),
    "stop": directives.encode(stop()),
    "removal": directives.encode_removal(removal("r1", 8)),
    "effect": effects.encode(full_effect()),
    "effect of what throttles and degrades": effects.encode(sparing_effect()),
    "open call": calls.encode(full_call()),
    "open call of a profile": calls.encode(profiled_call()),
    "open call that waits in a stage": calls.encode(waiting_call()),
    "heartbeat": calls.encode_heartbeat(full_heartbeat()),
    "report of a heartbeat": requests.report(INSTANCE, CURSOR, 4, heartbeats=[full_heartbeat()]),
    "instance": messages.encode_instance(INSTANCE),
    "watch request": requests.watch(INSTANCE, CURSOR, frozenset({BreakerKey(Level.TENANT, "acme")})),
    "list request": requests.poll(INSTANCE, None),
    "report request": requests.report(INSTANCE, CURSOR, 3, [full_effect()], [full_call()]),
    "lease request": requests.lease(INSTANCE, full_ask()),
    "lease response": leases.encode_answer(full_answer()),
    "lease response that says of how much": leases.encode_answer(explained_answer()),
    "snapshot": messages.snapshots(CURSOR, [stop()])[0],
    "delta": messages.deltas(CURSOR, [stop(), removal("r2", 7)])[0],
    "bookmark": messages.bookmark(CURSOR, 1_700_000_000_000_000_000, 10.0),
    "go away": messages.go_away(CURSOR, "restart", 0.5),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_message_is_written_as_it_always_was(name: str) -> None:
    message = WRITTEN[name]
    written = message if isinstance(message, bytes) else message.SerializeToString()

    assert written.hex() == GOLDEN[name]


def test_every_golden_message_is_still_written() -> None:
    assert set(GOLDEN) == set(WRITTEN)
