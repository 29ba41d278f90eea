"""The intake hands over in slices, counts, and turns every trouble into an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from tests.receiver.builders import batch, request, span
from tests.receiver.serving import Taker

from spanfuse_processor.auth import Tokens
from spanfuse_processor.receiver import answers
from spanfuse_processor.receiver.answers import Receipt, Refused
from spanfuse_processor.receiver.decode import decode
from spanfuse_processor.receiver.decoded import SLICE, Decoded
from spanfuse_processor.receiver.intake import Counters, Intake, Overloaded


def intake(taker: Taker, faults: list[str] | None = None, tokens: Tokens | None = None) -> Intake:
    found = faults if faults is not None else []
    return Intake(taker.ingest, tokens or Tokens(), lambda where, error: found.append(f"{where}: {error}"))


async def test_every_slice_is_handed_over_and_counted() -> None:
    taker = Taker()
    door = intake(taker)
    payload = batch(2 * SLICE + 1)

    receipt = await door.take(payload, decode)

    assert receipt == Receipt()
    assert len(taker.spans) == 2 * SLICE + 1
    assert door.counters == Counters(requests=1, bytes=len(payload), spans=2 * SLICE + 1)


async def test_others_run_between_two_slices() -> None:
    order: list[str] = []

    async def ingest(part: Decoded) -> None:
        order.append("slice")

    async def other() -> None:
        order.append("other")

    door = Intake(ingest, Tokens(), lambda *_: None)
    waiting = asyncio.create_task(other())

    await door.take(batch(2 * SLICE), decode)
    await waiting

    assert order == ["slice", "other", "slice"]


async def test_rejections_of_all_slices_make_one_receipt() -> None:
    door = intake(Taker())
    spans = [span(each, span_id=b"" if each % 2 else bytes([1] * 8)) for each in range(2 * SLICE)]

    receipt = await door.take(request(*spans).SerializeToString(), decode)

    assert receipt.rejected == door.counters.rejected == SLICE
    assert receipt.message.startswith(f"{SLICE} of {2 * SLICE} spans rejected: a span id")


async def test_clamped_spans_are_counted_and_make_a_warning_and_no_rejection() -> None:
    door = intake(Taker())

    receipt = await door.take(request(span(1, end_time_unix_nano=1)).SerializeToString(), decode)

    assert receipt.rejected == 0
    assert receipt.message.startswith("1 of 1 spans end before they start")
    assert door.counters.clamped == 1


async def test_a_receipt_tells_of_rejections_and_of_clamped_spans() -> None:
    spans = [span(1, span_id=b""), span(2, end_time_unix_nano=1), span(3)]

    receipt = await intake(Taker()).take(request(*spans).SerializeToString(), decode)

    assert receipt.rejected == 1
    assert [part[:6] for part in receipt.message.split("; ")] == ["1 of 3", "1 of 3"]


async def test_an_undecodable_payload_is_bad_data() -> None:
    door = intake(Taker())

    with pytest.raises(Refused) as refused:
        await door.take(b"\xff", decode)

    assert refused.value.reason is answers.BAD_DATA
    assert door.counters.undecodable == 1


async def test_an_overloaded_taker_is_an_overload_with_its_wait() -> None:
    door = intake(Taker(error=Overloaded(3)))

    with pytest.raises(Refused) as refused:
        await door.take(batch(1), decode)

    assert (refused.value.reason, refused.value.retry_after) == (answers.OVERLOAD, 3)
    assert door.counters.overloaded == 1


async def test_a_fault_of_the_taker_is_reported_and_may_be_retried() -> None:
    faults: list[str] = []
    door = intake(Taker(error=RuntimeError("a bug")), faults)

    with pytest.raises(Refused) as refused:
        await door.take(batch(1), decode)

    assert refused.value.reason is answers.OVERLOAD
    assert "bug" not in refused.value.message
    assert faults == ["receiver: a bug"]
    assert door.counters.faults == 1


async def test_a_fault_of_a_decoder_half_way_is_one_of_ours_too() -> None:
    faults: list[str] = []

    def faulty(payload: bytes) -> Iterator[Decoded]:
        yield from decode(payload)
        raise RuntimeError("a bug")

    with pytest.raises(Refused):
        await intake(Taker(), faults).take(batch(1), faulty)

    assert faults == ["receiver: a bug"]


async def test_requests_in_progress_are_bounded_in_bytes_and_a_single_one_is_always_taken() -> None:
    go_on = asyncio.Event()

    async def slow(part: Decoded) -> None:
        await go_on.wait()

    payload = batch(1)
    door = Intake(slow, Tokens(), lambda *_: None, max_waiting=len(payload) // 2)
    first = asyncio.create_task(door.take(payload, decode))
    await asyncio.sleep(0)

    with pytest.raises(Refused) as refused:
        await door.take(payload, decode)

    assert refused.value.reason is answers.OVERLOAD
    assert (door.waiting, door.counters.overloaded) == (len(payload), 1)
    go_on.set()
    assert await first == Receipt()
    assert door.waiting == 0


async def test_nothing_stays_counted_as_waiting_after_a_refusal() -> None:
    door = intake(Taker(error=RuntimeError("a bug")))

    with pytest.raises(Refused):
        await door.take(batch(1), decode)

    assert door.waiting == 0


@pytest.mark.parametrize("authorization", [None, "", "Bearer", "Bearer wrong", "Basic secret"])
async def test_a_sender_without_the_token_is_refused(authorization: str | None) -> None:
    door = intake(Taker(), tokens=Tokens(clients=["secret"]))

    with pytest.raises(Refused) as refused:
        door.admit(authorization)

    assert refused.value.reason is answers.NOBODY
    assert door.counters.unauthenticated == 1


async def test_a_sender_with_the_token_or_where_none_is_needed_is_let_in() -> None:
    intake(Taker(), tokens=Tokens(clients=["secret"])).admit("bearer secret")
    open_door = intake(Taker())

    open_door.admit(None)

    assert open_door.counters.unauthenticated == 0
