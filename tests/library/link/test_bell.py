"""A bell wakes the one who waits."""

from __future__ import annotations

import threading

from spanfuse.link.bell import Bell


def test_a_ring_before_the_wait_is_heard() -> None:
    bell = Bell()

    bell.ring()

    assert bell.wait(0.0)


def test_many_rings_are_one() -> None:
    bell = Bell()

    for _ in range(3):
        bell.ring()

    assert bell.wait(0.0)
    assert not bell.wait(0.0)


def test_nobody_rings_and_the_wait_ends() -> None:
    assert not Bell().wait(0.001)


def test_a_time_that_has_passed_is_no_wait() -> None:
    assert not Bell().wait(-1.0)


def test_a_ring_wakes_who_waits() -> None:
    bell = Bell()
    threading.Timer(0.01, bell.ring).start()

    assert bell.wait(5.0)
