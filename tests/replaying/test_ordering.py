"""Recorded spans in true time order: who ends, who starts, and who goes first."""

from __future__ import annotations

import pytest
from tests.replaying.made import raw
from tests.replaying.recorded import span, tool

from spanfuse_processor.engine import CallEnded, RawSpan, dialects_for
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.replaying.ordering import in_time_order

DIALECTS = dialects_for(Policy())
AGENT = {"gen_ai__operation__name": "invoke_agent"}


def read(given: RawSpan) -> CallEnded | None:
    return next((event for dialect in DIALECTS if (event := dialect.read(given)) is not None), None)


def told(*spans: dict[str, object]) -> list[tuple[str, int]]:
    """What is told, in order, by the numbers of the spans."""
    names = {"CallStarted": "starts", "CallEnded": "ends", "RawSpan": "is no call"}
    events = [moment.told() for moment in in_time_order(raw(spans), read)]
    return [(names[type(event).__name__], int.from_bytes(event.span_id)) for event in events]


@pytest.mark.parametrize("turned", [False, True])
def test_starts_come_before_ends_whatever_order_the_spans_lie_in(turned: bool) -> None:
    spans = [tool(1, 0), tool(2, 4)]

    assert told(*(spans[::-1] if turned else spans)) == [
        ("starts", 1), ("ends", 1), ("starts", 2), ("ends", 2)
    ]  # fmt: skip


def test_the_outer_call_starts_first_and_ends_last() -> None:
    assert told(span(2, 1, 5, **AGENT), span(1, 0, 5, **AGENT)) == [
        ("starts", 1), ("starts", 2), ("ends", 2), ("ends", 1)
    ]  # fmt: skip


def test_at_one_moment_what_was_open_ends_before_others_start() -> None:
    assert told(tool(2, 1), tool(1, 0)) == [("starts", 1), ("ends", 1), ("starts", 2), ("ends", 2)]


def test_a_call_that_takes_no_time_starts_before_it_ends() -> None:
    assert told(span(1, 0, 0, **AGENT)) == [("starts", 1), ("ends", 1)]


def test_a_span_that_is_no_call_is_told_once_at_its_end() -> None:
    assert told(tool(1, 0), span(2, 0, 3)) == [("starts", 1), ("ends", 1), ("is no call", 2)]


def test_a_start_knows_all_that_a_start_can() -> None:
    starts, ends = (moment.told() for moment in in_time_order(raw([tool(1, 0)]), read))

    assert not isinstance(starts, CallEnded)
    assert (starts.name, starts.started_ns, starts.kind) == ("search", ends.started_ns, ends.kind)
