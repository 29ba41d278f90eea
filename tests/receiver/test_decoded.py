"""What a decoder gives: ids checked, times clamped, slices cut."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from spanfuse_processor.engine.events import RawSpan
from spanfuse_processor.receiver.decoded import (
    SLICE,
    Decoded,
    in_slices,
    names_a_trace,
    parent_or_none,
    whole,
)

TRACE, SPAN = b"\x01" * 16, b"\x02" * 8


def raw(trace_id: bytes = TRACE, span_id: bytes = SPAN, start: int = 5, end: int = 9) -> RawSpan:
    return RawSpan(trace_id, span_id, b"", "name", start, end, {})


def three_kinds(times: int) -> Iterator[RawSpan | str]:
    for _ in range(times):
        yield from (raw(), "bad", raw(start=9, end=5))


def test_a_good_span_is_taken_as_it_is() -> None:
    decoded = Decoded()

    decoded.add(raw())

    assert (decoded.spans, decoded.rejected, decoded.clamped, decoded.message) == ([raw()], 0, 0, "")


@pytest.mark.parametrize("trace_id", [b"", bytes(16), b"\x01" * 15, b"\x01" * 17])
def test_a_span_without_a_trace_id_is_rejected(trace_id: bytes) -> None:
    decoded = Decoded()

    decoded.add(raw(trace_id=trace_id))

    assert (decoded.spans, decoded.rejected) == ([], 1)
    assert "trace id" in decoded.message


@pytest.mark.parametrize("span_id", [b"", bytes(8), b"\x01" * 7, b"\x01" * 9])
def test_a_span_without_a_span_id_is_rejected(span_id: bytes) -> None:
    decoded = Decoded()

    decoded.add(raw(span_id=span_id))

    assert (decoded.spans, decoded.rejected) == ([], 1)
    assert "span id" in decoded.message


def test_an_end_before_the_start_is_clamped_and_counted() -> None:
    decoded = Decoded()

    decoded.add(raw(start=9, end=5))

    assert (decoded.spans[0].start_ns, decoded.spans[0].end_ns, decoded.clamped) == (9, 9, 1)


@pytest.mark.parametrize(("start", "end"), [(5, 1 << 63), (1 << 63, 5), ((1 << 64) - 1, (1 << 64) - 1)])
def test_a_span_of_a_time_that_never_comes_is_rejected(start: int, end: int) -> None:
    decoded = Decoded()

    decoded.add(raw(start=start, end=end))
    decoded.add(raw(start=5, end=(1 << 63) - 1))

    assert (len(decoded.spans), decoded.rejected) == (1, 1)
    assert decoded.message == "a time is beyond the year 2262"


def test_the_first_reason_is_the_one_that_is_told() -> None:
    decoded = Decoded()

    decoded.reject("first")
    decoded.reject("second", count=3)

    assert (decoded.rejected, decoded.message) == (4, "first")


def test_slices_hold_spans_and_rejections_alike() -> None:
    outcomes: list[RawSpan | str] = [raw(), "bad"] * SLICE

    slices = list(in_slices(outcomes))

    assert [(len(each.spans), each.rejected) for each in slices] == [(SLICE // 2, SLICE // 2)] * 2


def test_nothing_makes_no_slice() -> None:
    assert list(in_slices([])) == []


def test_the_whole_is_the_sum_of_its_slices() -> None:
    total = whole(in_slices(three_kinds(SLICE)))

    assert (len(total.spans), total.rejected, total.clamped) == (2 * SLICE, SLICE, SLICE)
    assert total.message == "bad"


@pytest.mark.parametrize(("given", "used"), [(SPAN, SPAN), (b"", b""), (bytes(8), b""), (b"\x01" * 9, b"")])
def test_a_parent_is_eight_bytes_or_none(given: bytes, used: bytes) -> None:
    assert parent_or_none(given) == used


@pytest.mark.parametrize("given", [b"", bytes(16), SPAN])
def test_a_link_is_followed_only_when_it_names_a_trace(given: bytes) -> None:
    assert names_a_trace(TRACE)
    assert not names_a_trace(given)
