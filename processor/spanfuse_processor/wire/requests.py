"""What an application asks and tells: the requests of the control channel's client.

Rule 1: plain values in, messages out. Rule 2: a request that resumes names the cursor of the replica, so
that the answer holds only what is new. This file does not know how requests travel.
"""

from __future__ import annotations

from collections.abc import Iterable

from spanfuse_processor.engine.budgets.leases import LeaseAsk
from spanfuse_processor.engine.events import CallOpen, Heartbeat
from spanfuse_processor.wire import calls, effects, gate, leases, scopes
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire.answers import Answers
from spanfuse_processor.wire.effects import Effect
from spanfuse_processor.wire.messages import Cursor, Instance, encode_cursor, encode_instance
from spanfuse_processor.wire.scopes import Interests


def watch(instance: Instance, resume: Cursor | None, asked: Interests = frozenset()) -> pb.WatchRequest:
    """To be told of everything from `resume` on."""
    return pb.WatchRequest(
        instance=encode_instance(instance),
        resume=encode_cursor(resume),
        interests=[scopes.encode(key) for key in sorted(asked)],
    )


def poll(instance: Instance, resume: Cursor | None, asked: Interests = frozenset()) -> pb.ListRequest:
    """To be told once, while no watch can be held."""
    return pb.ListRequest(
        instance=encode_instance(instance),
        resume=encode_cursor(resume),
        interests=[scopes.encode(key) for key in sorted(asked)],
    )


def report(
    instance: Instance,
    cursor: Cursor | None,
    seq: int,
    came_of: Iterable[Effect] = (),
    open_calls: Iterable[CallOpen] = (),
    heartbeats: Iterable[Heartbeat] = (),
    answers: Answers | None = None,
) -> pb.ReportRequest:
    """What came of directives, which calls are open, which runs say that they live and how the gate answered.

    `seq` counts this instance's reports.
    """
    return pb.ReportRequest(
        instance=encode_instance(instance),
        cursor=encode_cursor(cursor),
        seq=seq,
        effects=[effects.encode(effect) for effect in came_of],
        open_calls=[calls.encode(event) for event in open_calls],
        heartbeats=[calls.encode_heartbeat(beat) for beat in heartbeats],
        gate=None if answers is None else gate.encode(answers),
    )


def lease(instance: Instance, ask: LeaseAsk) -> pb.LeaseRequest:
    """What a holder of a lease has used, and what it wants."""
    request = leases.encode(ask)
    request.instance.CopyFrom(encode_instance(instance))
    return request
