"""A request as it came, on its way to whoever else wants it.

Rule 1: its bytes are never changed: not unpacked, not packed anew. Rule 2: what is known of them is what the
sender said. It does not know what is inside, nor where it goes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Parcel(NamedTuple):
    """An OTLP export request, as bytes.

    `content_type` and `encoding` are the headers of that name of what came over HTTP; without a content type
    it is unpacked protobuf that came over gRPC, or was made here. `ours`: its spans tell of the breaker.
    """

    body: bytes
    content_type: str = ""
    encoding: str = ""
    ours: bool = False


Offer = Callable[[Parcel], float]
"""Hands a parcel to everybody who wants it. 0.0: it is theirs now; else nobody has it, and the sender may
come again after so many seconds. It never waits and never raises."""
