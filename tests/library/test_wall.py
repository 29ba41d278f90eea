"""Wall time of monotonic instants: one offset, unless the clock was set anew."""

from __future__ import annotations

import time

import pytest

from spanfuse.calls import wall
from spanfuse.calls.wall import Wall


def test_one_instant_is_one_time_however_late_it_is_asked_for() -> None:
    clock = Wall()
    now = time.monotonic()

    begun = [clock.at(now, now + later) for later in (0.0, 0.001, 0.002)]

    assert len(set(begun)) == 1


def test_a_clock_that_was_set_anew_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Wall()
    before = clock.at(5.0, 5.0)
    later = time.time_ns() + 3_600 * 10**9
    monkeypatch.setattr(wall, "time_ns", lambda: later)

    assert clock.at(5.0, 5.0) - before > 3_599 * 10**9
