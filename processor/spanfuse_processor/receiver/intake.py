"""The way of a request to whoever judges it, the same on every transport.

Rule 1: a batch is handed over in slices, and others may run between two of them. Rule 2: whatever goes
wrong becomes a refusal that says whether to retry; a fault of ours always says so. Rule 3: the bytes in
progress are bounded; more is refused before it is decoded. Rule 4: everything is counted, nothing is logged.
Rule 5: where requests are handed on (`onward.py`), that comes first, and then nothing about judging makes a
sender come again: what cannot be judged is shed and counted.
This file does not know transports, nor what becomes of a span. When a batch is refused half way, because
its taker is overloaded, the sender repeats it whole: duplicates are the taker's business.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from spanfuse_processor.auth import Tokens
from spanfuse_processor.parcel import Parcel
from spanfuse_processor.receiver.answers import BAD_DATA, NOBODY, OVERLOAD, Receipt, Refused
from spanfuse_processor.receiver.decode import count_spans
from spanfuse_processor.receiver.decoded import Decoded, Undecodable
from spanfuse_processor.receiver.onward import Onward

Ingest = Callable[[Decoded], Awaitable[None]]
"""Takes one slice of a batch, at most 64 spans; raises Overloaded when it cannot."""

MAX_WAITING = 256 * 1024 * 1024
"""Bytes of requests that may be in progress on one transport; a single request is always taken."""

PATIENCE = 2.0
"""Seconds that a sender waits for judgement of what was handed on already; the usual ones wait 10."""

Decode = Callable[[bytes], Iterator[Decoded]]
Count = Callable[[bytes], int]
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
    shed: int = 0  # spans that were handed on and, for want of time, not judged
    unforwarded: int = 0  # requests that came in vain: a destination has no room


class Intake:
    """The way in of one transport. `waiting` is in bytes: the requests that are in progress now."""

    def __init__(
        self,
        ingest: Ingest,
        tokens: Tokens,
        on_fault: OnFault,
        max_waiting: int = MAX_WAITING,
        onward: Onward | None = None,
    ) -> None:
        self.counters = Counters()
        self.waiting = 0
        self._max_waiting = max_waiting
        self._ingest = ingest
        self._tokens = tokens
        self._on_fault = on_fault
        self._onward = onward
        self._judging: set[asyncio.Task[Receipt]] = set()

    def admit(self, authorization: str | None) -> None:
        """Lets a sender in by its `Authorization`, or raises Refused."""
        if self._tokens.role(authorization) is None:
            self.counters.unauthenticated += 1
            raise Refused(NOBODY, "a valid bearer token is needed")

    async def take(
        self, payload: bytes, decode: Decode, parcel: Parcel | None = None, count: Count = count_spans
    ) -> Receipt:
        """Hands a request on and its spans over; raises Refused, and nothing else.

        `payload` is the unpacked request, `parcel` the same as it came; `count` counts its spans.
        """
        size = len(payload)
        self.counters.requests += 1
        self.counters.bytes += size
        crowded = self.waiting > 0 and self.waiting + size > self._max_waiting
        if self._onward is None:
            if crowded:
                raise self._overload(Overloaded())
            return await self._judge(payload, decode)
        if wait := self._onward.hand_on(payload, parcel or Parcel(payload)):
            self.counters.unforwarded += 1
            raise Refused(OVERLOAD, "a destination has no room", wait)
        if crowded:
            self.counters.shed += count(payload)
            return Receipt()
        return await self._judge_beside(payload, decode)

    async def _judge_beside(self, payload: bytes, decode: Decode) -> Receipt:
        """As `_judge`, of what is on its way already: a sender that waits too long would send it again."""
        task = asyncio.create_task(self._judge(payload, decode))
        self._judging.add(task)
        task.add_done_callback(self._judged)
        await asyncio.wait((task,), timeout=PATIENCE)
        if not task.done():
            return Receipt()
        error = task.exception()
        if isinstance(error, Refused) and error.reason is BAD_DATA:
            raise error
        return _only_told(Receipt() if error else task.result())

    def _judged(self, task: asyncio.Task[Receipt]) -> None:
        self._judging.discard(task)
        if not task.cancelled():
            task.exception()  # counted where it was raised

    async def _judge(self, payload: bytes, decode: Decode) -> Receipt:
        size = len(payload)
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


def _only_told(receipt: Receipt) -> Receipt:
    """A receipt of what was handed on: what cannot be judged was not rejected."""
    return Receipt(0, receipt.message.replace("rejected", "not judged")) if receipt.rejected else receipt
