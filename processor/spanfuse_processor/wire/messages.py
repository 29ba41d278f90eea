"""Whole messages of the control channel: who speaks, where he stands, and the events of a watch.

Rule 1: the server's events are made as bytes, once for all who watch. Rule 2: an event stays under
`MAX_EVENT` as long as one directive does; what is larger is cut into several. The nouns inside are in
`directives.py`, `effects.py`, `calls.py` and `scopes.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from spanfuse_processor.engine.verdicts import Directive, Removal
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire import directives
from spanfuse_processor.wire.effect import Instance
from spanfuse_processor.wire.plain import duration, text

__all__ = [
    "MAX_EVENT",
    "SERVICE",
    "Change",
    "Cursor",
    "Instance",
    "bookmark",
    "decode_cursor",
    "decode_instance",
    "deltas",
    "encode_change",
    "encode_cursor",
    "encode_instance",
    "go_away",
    "newest",
    "snapshots",
]

M = TypeVar("M", pb.Directive, pb.Directive | pb.Removal)
SERVICE: Final = "spanfuse.control.v1.Control"
MAX_EVENT = 1_000_000  # bytes; gRPC clients take 4 MiB by default, proxies often less


class Cursor(NamedTuple):
    """A point in a server's history; `epoch` names the history, `revision` grows within it."""

    epoch: str
    revision: int


def encode_instance(instance: Instance) -> pb.Instance:
    """The message for `instance`."""
    return pb.Instance(
        service_name=text(instance.service),
        instance_id=text(instance.id),
        sdk_version=text(instance.version),
        attributes={text(name): text(value) for name, value in instance.attributes.items()},
        supported_actions=sorted(directives.ACTIONS[action] for action in instance.supported),
    )


def decode_instance(message: pb.Instance) -> Instance:
    """Who `message` says it is; actions that are unknown here are left out."""
    known = directives.KNOWN_ACTIONS
    return Instance(
        service=message.service_name,
        id=message.instance_id,
        version=message.sdk_version,
        attributes=dict(message.attributes),
        supported=frozenset(known[number] for number in message.supported_actions if number in known),
    )


def encode_cursor(cursor: Cursor | None) -> pb.Cursor | None:
    """The message for `cursor`; None (absent) when there is none."""
    return None if cursor is None else pb.Cursor(epoch=text(cursor.epoch), revision=cursor.revision)


def decode_cursor(message: pb.Cursor) -> Cursor | None:
    """The cursor that `message` says, or None when it says none."""
    return Cursor(message.epoch, message.revision) if message.epoch else None


Change = Directive | Removal
"""What a delta is made of."""


def encode_change(change: Change) -> pb.Directive | pb.Removal:
    """The message for a change; raises ValueError as `directives.encode` does."""
    if isinstance(change, Directive):
        return directives.encode(change)
    return directives.encode_removal(change)


def snapshots(cursor: Cursor, standing: Iterable[Directive]) -> list[bytes]:
    """The events of one snapshot; all but the last say that more follows."""
    parts = list(_parts([directives.encode(each) for each in standing])) or [[]]
    return [
        _event(cursor, snapshot=pb.Snapshot(cursor=cursor._asdict(), directives=part, more=more))
        for part, more in zip(parts, [True] * (len(parts) - 1) + [False], strict=True)
    ]


def deltas(cursor: Cursor, changes: Sequence[Change]) -> list[bytes]:
    """The events of one delta, `changes` in the order of their revisions; the last one reaches `cursor`."""
    events = []
    parts = list(_parts([encode_change(change) for change in changes]))
    for part in parts:
        reached = cursor if part is parts[-1] else cursor._replace(revision=part[-1].revision)
        delta = pb.Delta(
            upserts=[each for each in part if isinstance(each, pb.Directive)],
            removals=[each for each in part if isinstance(each, pb.Removal)],
        )
        events.append(_event(reached, delta=delta))
    return events


def bookmark(cursor: Cursor, wall_ns: int, next_within: float) -> bytes:
    """The event that says: nothing new, and the next frame comes within this many seconds."""
    mark = pb.Bookmark(server_unix_nano=wall_ns, next_within=duration(next_within))
    return _event(cursor, bookmark=mark)


def go_away(cursor: Cursor, reason: str, retry_after: float) -> bytes:
    """The event that says: come again, at once or after this many seconds."""
    last = pb.GoAway(retry_after=duration(retry_after), reason=text(reason))
    return _event(cursor, go_away=last)


def newest(standing: Sequence[Directive]) -> tuple[list[pb.Directive], bool]:
    """As many of the newest directives as fit one message, oldest first, and whether any were left out."""
    part = next(_parts(directives.encode(each) for each in reversed(standing)), [])
    return part[::-1], len(part) < len(standing)


def _event(cursor: Cursor, **content: Any) -> bytes:
    return pb.WatchEvent(cursor=cursor._asdict(), **content).SerializeToString()


def _parts(encoded: Iterable[M]) -> Iterator[list[M]]:
    """`encoded` cut into runs that stay under MAX_EVENT; one that is larger by itself stands alone."""
    part: list[M] = []
    size = 0
    for message in encoded:
        own = message.ByteSize() + 8  # and its tag and length
        if part and size + own > MAX_EVENT:
            yield part
            part, size = [], 0
        part.append(message)
        size += own
    if part:
        yield part
