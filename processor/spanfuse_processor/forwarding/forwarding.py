"""Sends what comes in on to every destination.

Rule 1: a parcel is everybody's or nobody's: when a destination that may refuse has no room, no other gets it,
so that a sender that comes again doubles nothing. Rule 2: `offer` and `tell` only leave what they are given,
and are called on one thread. It does not know what a parcel holds.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from spanfuse_processor.clock import Clock
from spanfuse_processor.config_forward import Destination as Where
from spanfuse_processor.config_forward import Forward, Protocol
from spanfuse_processor.forwarding.destination import Destination, Terms
from spanfuse_processor.forwarding.over_grpc import OverGrpc
from spanfuse_processor.forwarding.over_http import OverHttp
from spanfuse_processor.forwarding.sender import Sender, ToProtobuf
from spanfuse_processor.parcel import Parcel

CONNECTIONS: Final = 4
"""Requests that are under way to one destination at a time."""
COME_AGAIN: Final = 2.0
"""Seconds after which a sender may come again when a destination has no room."""
DRAIN: Final = 5.0
"""Seconds that what waits may take to be sent at the end."""


class Standing(NamedTuple):
    """How one destination is: see `Counts`; `waiting` and `capacity` are in bytes."""

    sent: int
    refused: int
    dropped: int
    retried: int
    rejected: int
    events_lost: int
    waiting: int
    capacity: int


class Forwarding:
    """All destinations of a service.

    Args:
        forward: which they are, and how they are served.
        clock: the one that waiting goes by.
        to_protobuf: unpacks a parcel, and makes protobuf of it.
        on_fault: hears of internal errors.
        terms: how long is waited; where they come from configuration, that holds.

    Attributes:
        instance: what our own spans say of where they come from, to know them again.

    Raises:
        OSError: a file of authorities cannot be read, or holds none.
    """

    def __init__(
        self,
        forward: Forward,
        clock: Clock,
        to_protobuf: ToProtobuf,
        on_fault: Callable[[str, BaseException], None],
        terms: Terms | None = None,
    ) -> None:
        self.instance = secrets.token_hex(16)
        self._clock, self._to_protobuf = clock, to_protobuf
        common = terms or Terms()
        self._destinations = [
            Destination(name, self._senders(where), _terms(common, forward, where), clock, on_fault)
            for name, where in forward.everywhere().items()
        ]

    def start(self) -> None:
        """Begins to send."""
        for each in self._destinations:
            each.start()

    def offer(self, parcel: Parcel) -> float:
        """Leaves a parcel for every destination: 0.0; or for none: the seconds after which to come again."""
        if any(each.refuses(len(parcel.body)) for each in self._destinations):
            return COME_AGAIN
        for each in self._destinations:
            each.put(parcel)
        return 0.0

    def tell(self, request: bytes) -> None:
        """Leaves spans of our own; they are let go where there is no room."""
        parcel = Parcel(request, ours=True)
        for each in self._destinations:
            each.put(parcel)

    def standings(self) -> Mapping[str, Standing]:
        """How each is. It only reads: another thread may ask."""
        return {each.name: _standing(each) for each in self._destinations}

    async def close(self, seconds: float = DRAIN) -> None:
        """Sends what waits, as far as that goes in so many seconds, and ends."""
        for each in self._destinations:
            each.hurry(seconds)
        ends = (asyncio.to_thread(each.close, seconds + 1.0) for each in self._destinations)
        await asyncio.gather(*ends)

    def _senders(self, where: Where) -> Sequence[Sender]:
        """Over gRPC one connection carries many requests at a time, over HTTP each needs one of its own."""
        if where.protocol is Protocol.GRPC:
            return [OverGrpc(where, self._to_protobuf)] * CONNECTIONS
        return [OverHttp(where, self._wall) for _ in range(CONNECTIONS)]

    def _wall(self) -> float:
        return self._clock.wall_ns() / 1e9


def _terms(common: Terms, forward: Forward, where: Where) -> Terms:
    return Terms(
        capacity=forward.max_waiting_bytes,
        when_full=where.when_full,
        timeout=where.timeout,
        max_age=forward.max_age,
        first=common.first,
        longest=common.longest,
        longest_told=common.longest_told,
    )


def _standing(destination: Destination) -> Standing:
    counts, letters = destination.counts, destination.letters
    return Standing(
        counts.sent,
        counts.refused,
        counts.dropped,
        counts.retried,
        counts.rejected,
        counts.events_lost,
        letters.waiting,
        letters.capacity,
    )
