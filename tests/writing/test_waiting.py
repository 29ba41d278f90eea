"""The queues between whoever spends and the writer: bounded together, and counted."""

from __future__ import annotations

from tests.stores.making import NOON, call, entries, happened

from spanfuse_processor.writing.waiting import BATCH, Dump, Kind, Waiting

DUMP = Dump({}, {}, NOON)


def test_what_there_is_no_room_for_is_left_out_and_counted() -> None:
    waiting = Waiting(3)

    assert waiting.put(Kind.STEPS, [call(1), call(2)])
    assert not waiting.put(Kind.EVENTS, [happened(1), happened(2)])

    assert (len(waiting), waiting.dropped) == (3, 1)
    assert waiting.first(Kind.EVENTS) == [happened(1)]


def test_rows_wait_until_they_are_done_with() -> None:
    waiting = Waiting(10)
    waiting.put(Kind.STEPS, [call(1), call(2)])

    assert waiting.first(Kind.STEPS) == waiting.first(Kind.STEPS) == [call(1), call(2)]
    waiting.done(Kind.STEPS, 1)

    assert waiting.first(Kind.STEPS) == [call(2)]


def test_a_batch_is_bounded() -> None:
    waiting = Waiting(2 * BATCH)
    waiting.put(Kind.LEDGER, entries(*range(2 * BATCH)))

    assert len(waiting.first(Kind.LEDGER)) == BATCH


def test_a_dump_stands_between_what_it_includes_and_what_came_after_it() -> None:
    waiting = Waiting(10)
    waiting.put(Kind.LEDGER, entries(1))
    waiting.put_dump(DUMP)
    waiting.put(Kind.LEDGER, entries(2))

    order = []
    while rows := waiting.first(Kind.LEDGER):
        order.append(rows)
        waiting.done(Kind.LEDGER, len(rows))

    assert order == [entries(1), [DUMP], entries(2)]


def test_nothing_is_taken_in_when_it_is_closed() -> None:
    waiting = Waiting(10)
    waiting.put(Kind.STEPS, [call(1)])

    waiting.close()
    waiting.put_dump(DUMP)

    assert not waiting.put(Kind.STEPS, [call(2)])
    assert (len(waiting), waiting.dropped) == (1, 1)


def test_what_is_given_up_is_counted_and_nobody_waits_for_it() -> None:
    waiting = Waiting(10)
    waiting.put(Kind.STEPS, [call(1), call(2)])
    assert not waiting.until_empty(0.01)

    waiting.give_up()
    waiting.done(Kind.STEPS, 2)

    assert waiting.until_empty(0.01)
    assert waiting.dropped == 2
