"""The way of a request to whoever judges it, the same on every transport.

Rule 1: a batch is handed over in slices, and others may run between two of them. Rule 2: whatever goes
wrong becomes a refusal that says whether to retry; a fault of ours always says so. Rule 3: the bytes in
progress are bounded; more is refused before it is decoded. Rule 4: everything is counted, nothing is logged.
This file does not know transports, nor what becomes of a span. When a batch is refused half way, because
its taker is overloaded, the sender repeats it whole: duplicates are the taker's business.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from spanfuse_processor.auth import Tokens
from spanfuse_processor.receiver.answers import BAD_DATA, NOBODY, OVERLOAD, Receipt, Refused
from spanfuse_processor.receiver.decoded import Decoded, Undecodable

Ingest = Callable[[Decoded], Awaitable[None]]
"""Takes one slice of a batch, at most 64 spans; raises Overloaded when it cannot."""

MAX_WAITING = 256 * 1024 * 1024
"""Bytes of requests that may be in progress on one transport; a single request is always taken."""

Decode = Callable[[bytes], Iterator[Decoded]]
OnFault = Callable[[str, BaseException], None]


class Overloaded(Exception):
    """The taker has too much to do; `retry_after` is in seconds."""

    def __init__(self, retry_after: float = 1.0) -> None:
        super().__init__(f"overloaded, retry after {retry_after} s")
        self.retry_after = retry_after


@dataclass(slots=True)
class Counters:
    """What came in through one transport, since the start. `bytes` are after decompression."""

    requests: int = 0
    bytes: int = 0
    spans: int = 0
    rejected: int = 0
    clamped: int = 0
    undecodable: int = 0
    overloaded: int = 0
    unauthenticated: int = 0
    faults: int = 0


class Intake:
    """The way in of one transport. `waiting` is in bytes: the requests that are in progress now."""

    def __init__(
        self, ingest: Ingest, tokens: Tokens, on_fault: OnFault, max_waiting: int = MAX_WAITING
    ) -> None:
        self.counters = Counters()
        self.waiting = 0
        self._max_waiting = max_waiting
        self._ingest = ingest
        self._tokens = tokens
        self._on_fault = on_fault

    def admit(self, authorization: str | None) -> None:
        """Lets a sender in by its `Authorization`, or raises Refused."""
        if self._tokens.role(authorization) is None:
            self.counters.unauthenticated += 1
            raise Refused(NOBODY, "a valid bearer token is needed")

    async def take(self, payload: bytes, decode: Decode) -> Receipt:
        """Decodes a request and hands its spans over; raises Refused, and nothing else."""
        size = len(payload)
        self.counters.requests += 1
        self.counters.bytes += size
        if self.waiting and self.waiting + size > self._max_waiting:
            raise self._overload(Overloaded())
        self.waiting += size
        try:
            return await self._hand_over(decode(payload))
        except Undecodable as error:
            self.counters.undecodable += 1
            raise Refused(BAD_DATA, str(error)) from error
        except Overloaded as error:
            raise self._overload(error) from error
        except Exception as error:
            self.counters.faults += 1
            self._on_fault("receiver", error)
            raise Refused(OVERLOAD, "a fault of the processor") from error
        finally:
            self.waiting -= size

    def _overload(self, error: Overloaded) -> Refused:
        self.counters.overloaded += 1
        return Refused(OVERLOAD, "overloaded", error.retry_after)

    async def _hand_over(self, slices: Iterator[Decoded]) -> Receipt:
        total, seen = 0, Decoded()
        for part in slices:
            if total:
                await asyncio.sleep(0)
            await self._ingest(part)
            self._count(part)
            total += len(part)
            seen.clamped += part.clamped
            seen.reject(part.message, part.rejected)
        return _receipt(seen, total)

    def _count(self, part: Decoded) -> None:
        self.counters.spans += len(part.spans)
        self.counters.rejected += part.rejected
        self.counters.clamped += part.clamped


def _receipt(seen: Decoded, total: int) -> Receipt:
    said = []
    if seen.rejected:
        said.append(f"{seen.rejected} of {total} spans rejected: {seen.message}")
    if seen.clamped:
        said.append(f"{seen.clamped} of {total} spans end before they start, and count as ending there")
    return Receipt(seen.rejected, "; ".join(said))
