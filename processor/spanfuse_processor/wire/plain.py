"""Plain values at the border of protobuf: text, durations, and messages that may be garbage.

Rule 1: nothing here raises, whatever a peer sent or a caller holds. Rule 2: a duration is seconds, never
negative, never without end. This file does not know what the values mean.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

NANOS = 1_000_000_000
MAX_SECONDS = 315_576_000_000.0  # protobuf's own bound of a Duration, 10,000 years


class Duration(Protocol):
    """What is read of google.protobuf.Duration."""

    seconds: int
    nanos: int


M = TypeVar("M")


def parsed(kind: type[M], data: bytes) -> M | None:
    """The message of type `kind` in `data`, or None when the bytes are not one."""
    message: Any = kind()
    try:
        message.ParseFromString(data)
    except Exception:  # protobuf's DecodeError, which only generated code may name
        return None
    read: M = message
    return read


def text(value: str, limit: int | None = None) -> str:
    """`value` as protobuf takes it: no lone surrogates, at most `limit` characters."""
    if limit is not None and len(value) > limit:
        value = value[: limit - 1] + "…"
    return value if value.isascii() else value.encode(errors="replace").decode()


def duration(seconds: float) -> dict[str, int]:
    """`seconds` as the fields of a Duration; what is negative or no number is none."""
    bounded = min(max(0.0, seconds), MAX_SECONDS)  # max() answers 0.0 for nan
    whole, nanos = divmod(round(bounded * NANOS), NANOS)
    return {"seconds": whole, "nanos": nanos}


def seconds(value: Duration) -> float:
    """A Duration as seconds; a negative one is none."""
    return max(0, value.seconds * NANOS + value.nanos) / NANOS
