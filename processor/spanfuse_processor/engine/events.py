"""What goes into the engine: a span as plain data, and the start and the end of a call.

Rule 1: an event is written once, by the decoder, a dialect or the library, and never changed after.
(They are not frozen: a frozen dataclass costs three times as much to make, and these are made for
every span.) Rule 2: times here are event time, nanoseconds since the epoch, as the emitter saw them.
This file does not know the wire format, nor any vocabulary of attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from spanfuse_processor.engine.nouns import NOBODY, Fingerprints, Identity, Kind, MicroUsd, Usage

STATUS_ERROR = 2
"""The OTLP status code of a failed span."""

UNNAMED_ERROR: Final = "_OTHER"
"""The conventions' `error.type` of a failure without a name."""


@dataclass(slots=True)
class RawSpan:
    """One ended span as plain data.

    Ids are bytes (16 and 8; an absent parent is empty). `attributes` and `resource` answer `get`;
    values are str, int, float, bool, bytes, lists and dicts of these. `status` is the OTLP code
    (0 unset, 1 ok, 2 error). `links` are (trace id, span id) pairs.
    """

    trace_id: bytes
    span_id: bytes
    parent_span_id: bytes
    name: str
    start_ns: int
    end_ns: int
    attributes: Mapping[str, object]
    resource: Mapping[str, object] = field(default_factory=dict)
    scope: str = ""
    status: int = 0
    status_message: str = ""
    links: tuple[tuple[bytes, bytes], ...] = ()
    dropped_attributes: int = 0


@dataclass(slots=True)
class CallStarted:
    """A call has begun. Only our own library and tests can say so; OTLP brings ends.

    `name` is the tool's name, the model or the agent's name. `run_id` is our own run id, empty for
    foreign spans; `joins` are the conversation, session and linked trace ids that tie foreign spans into
    one run. `depth` is how many agents enclose the call (0: none or only the root), -1 when not stamped;
    `agents` are their names, outermost first, where known. `user_turn` marks real user input. `stages` are
    those that it is in, as `reading/stages.py` writes them. `link` is the one span of another trace that it
    says it follows: trace id and span id in one, empty when there is none, or several.
    """

    trace_id: bytes
    span_id: bytes
    parent_span_id: bytes
    started_ns: int
    kind: Kind
    name: str
    operation: str = ""
    agent: str = ""
    provider: str = ""
    model: str = ""
    run_id: str = ""
    joins: tuple[str, ...] = ()
    depth: int = -1
    agents: tuple[str, ...] = ()
    identity: Identity = NOBODY
    tool_call_id: str = ""
    effect: str = ""
    repeatable: bool = False
    user_turn: bool = False
    stages: str = field(default="", kw_only=True)
    link: bytes = field(default=b"", kw_only=True)


@dataclass(slots=True)
class CallOpen(CallStarted):
    """A call that has begun and goes on, told by whoever makes it, again and again until it ends.

    `open_for` are the seconds since it began, `quiet_for` those since it last showed that it lives: both by
    the teller's own clock, at the moment of telling.
    """

    open_for: float = 0.0
    quiet_for: float = 0.0


@dataclass(slots=True)
class Heartbeat:
    """A run says that it lives, whether or not it makes calls.

    It says so inside of the span `span_id` (empty: of none). `ago` are the seconds since it said so, by the
    teller's own clock, at the moment of telling; `within` those in which it promises to say so again, 0
    when it promises nothing.
    """

    run_id: str
    trace_id: bytes = b""
    span_id: bytes = b""
    ago: float = 0.0
    within: float = 0.0


@dataclass(slots=True)
class CallEnded(CallStarted):
    """A call has ended: everything of its start, and how it went.

    `usage` is None when a model call reported none. `error` is `error.type`, empty on success.
    `prints` is None when nothing about the content is known (names only). `cost` is what the emitter
    says it cost, a hint; the engine prices by itself. `fresh` marks a user's request that comes
    without any answer of a model or a tool. `budget` is what its owner says that the whole run may cost,
    None where nobody said; `resends` is how many times a client itself tried again, unseen; `cut` says that
    the answer was not over when it had as many tokens as it may, `asks` that it ended to have tools called,
    `handed` that the request handed on what a tool had given. `service` is how the provider served it, where
    it says so (batch, flex, priority ...). `estimated`: nobody reported its usage, which is a guess. `leased`
    are the accounts that a lease has paid for it. `presumed` is what it was charged, for nobody knows what it
    came to, or only a part; None where that is not so.
    """

    ended_ns: int = 0
    usage: Usage | None = None
    error: str = ""
    prints: Fingerprints | None = None
    response_id: str = ""
    cost: MicroUsd | None = None
    fresh: bool = False
    budget: MicroUsd | None = None
    resends: int = 0
    cut: bool = False
    asks: bool = False
    handed: bool = False
    service: str = ""
    estimated: bool = False
    leased: tuple[str, ...] = ()
    presumed: MicroUsd | None = None
