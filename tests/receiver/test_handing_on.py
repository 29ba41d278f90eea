"""Handing on comes before judging, and nothing about judging stops it or makes it happen twice."""

from __future__ import annotations

import asyncio

import pytest
from tests.receiver.builders import batch, json_request, json_span, request, span
from tests.receiver.serving import Taker
from tests.receiver.test_onward import MARK

from spanfuse_processor.auth import Tokens
from spanfuse_processor.parcel import Parcel
from spanfuse_processor.receiver import answers, intake
from spanfuse_processor.receiver.answers import Receipt, Refused
from spanfuse_processor.receiver.decode import count_spans, decode
from spanfuse_processor.receiver.decoded import Decoded
from spanfuse_processor.receiver.intake import Ingest, Intake, Overloaded
from spanfuse_processor.receiver.onward import Onward
from spanfuse_processor.receiver.otlp_json import count_json_spans, decode_json


class House:
    """An intake that hands on, and what was handed on. `wait`: there is no room."""

    def __init__(self, ingest: Ingest | None = None, wait: float = 0.0, most: int = 1 << 20) -> None:
        self.taker = Taker()
        self.parcels: list[Parcel] = []
        self.faults: list[str] = []
        self.wait = wait
        onward = Onward(self.offer, MARK)
        self.intake = Intake(ingest or self.taker.ingest, Tokens(), self.fault, most, onward)

    def offer(self, parcel: Parcel) -> float:
        if not self.wait:
            self.parcels.append(parcel)
        return self.wait

    def fault(self, where: str, error: BaseException) -> None:
        self.faults.append(str(error))

    @property
    def bodies(self) -> list[bytes]:
        return [each.body for each in self.parcels]


async def test_a_request_is_handed_on_and_judged() -> None:
    house = House()
    payload = batch(3)

    assert await house.intake.take(payload, decode) == Receipt()
    assert house.parcels == [Parcel(payload)]
    assert len(house.taker.spans) == 3


async def test_it_is_handed_on_before_it_is_looked_at() -> None:
    house = House()

    with pytest.raises(Refused) as refused:
        await house.intake.take(b"\xff", decode)

    assert refused.value.reason is answers.BAD_DATA
    assert house.bodies == [b"\xff"]


async def test_without_room_nothing_is_judged_and_the_sender_comes_again() -> None:
    house = House(wait=2.0)

    with pytest.raises(Refused) as refused:
        await house.intake.take(batch(3), decode)

    assert (refused.value.reason, refused.value.retry_after) == (answers.OVERLOAD, 2)
    assert (house.parcels, house.taker.spans) == ([], [])
    assert house.intake.counters.unforwarded == 1


@pytest.mark.parametrize("error", [RuntimeError("a bug"), Overloaded(1)])
async def test_judging_that_fails_makes_no_sender_come_again(error: Exception) -> None:
    house = House()
    house.taker.error = error
    payload = batch(3)

    assert await house.intake.take(payload, decode) == Receipt()
    assert house.bodies == [payload]
    counters = house.intake.counters
    assert (counters.faults, counters.overloaded) in [(1, 0), (0, 1)]


@pytest.mark.parametrize(
    ("payload", "take", "count"),
    [
        (batch(3), decode, count_spans),
        (json_request(json_span(1), json_span(2), json_span(3)), decode_json, count_json_spans),
    ],
    ids=["protobuf", "json"],
)
async def test_judging_that_has_too_much_to_do_is_shed_and_counted(
    payload: bytes, take: intake.Decode, count: intake.Count
) -> None:
    go_on = asyncio.Event()

    async def slow(part: Decoded) -> None:
        await go_on.wait()

    house = House(slow, most=len(payload))
    first = asyncio.create_task(house.intake.take(payload, take, None, count))
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    assert await house.intake.take(payload, take, None, count) == Receipt()
    assert house.intake.counters.shed == 3
    assert house.bodies == [payload, payload]
    go_on.set()
    await first


async def test_no_sender_waits_for_long_for_judgement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "PATIENCE", 0.01)
    go_on, judged = asyncio.Event(), asyncio.Event()

    async def slow(part: Decoded) -> None:
        await go_on.wait()
        judged.set()

    house = House(slow)

    assert await house.intake.take(batch(1), decode) == Receipt()
    assert not judged.is_set()
    go_on.set()
    async with asyncio.timeout(5):
        await judged.wait()


async def test_a_sender_that_hangs_up_does_not_end_judging() -> None:
    go_on = asyncio.Event()
    house = House()

    async def slow(part: Decoded) -> None:
        await go_on.wait()
        await house.taker.ingest(part)

    house.intake = Intake(slow, Tokens(), house.fault, 1 << 20, Onward(house.offer, MARK))
    request_of_a_sender = asyncio.create_task(house.intake.take(batch(1), decode))
    await asyncio.sleep(0)
    request_of_a_sender.cancel()
    go_on.set()

    async with asyncio.timeout(5):
        while not house.taker.spans:
            await asyncio.sleep(0)
    assert house.intake.waiting == 0


async def test_what_cannot_be_judged_was_not_rejected() -> None:
    house = House()
    payload = request(span(1, span_id=b""), span(2)).SerializeToString()

    receipt = await house.intake.take(payload, decode)

    assert receipt.rejected == 0
    assert receipt.message.startswith("1 of 2 spans not judged: a span id")
    assert house.bodies == [payload]


@pytest.mark.parametrize("payload", [b"\xff", b"[1]", b'{"resourceSpans": [{"scopeSpans": 7}]}'])
def test_what_cannot_be_read_counts_as_no_spans(payload: bytes) -> None:
    assert count_json_spans(payload) == 0
    assert count_spans(b"\xff" + payload) == 0
