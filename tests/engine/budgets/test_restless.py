"""Accounts that are looked at again when they are due, and not before."""

from __future__ import annotations

import math

from spanfuse_processor.engine.budget import Account
from spanfuse_processor.engine.budgets.restless import Restless

ANN, BOB = Account("each", ("ann",)), Account("each", ("bob",))


def test_only_what_is_due_is_taken() -> None:
    restless = Restless()
    restless.note(ANN, 20.0, 0.0)
    restless.note(BOB, 10.0, 0.0)

    assert (restless.soonest(), restless.take(9.0)) == (10.0, [])
    assert restless.take(15.0) == [BOB]
    assert restless.soonest() == 20.0
    assert BOB in restless


def test_the_earlier_of_two_moments_holds_until_it_is_over() -> None:
    restless = Restless()
    restless.note(ANN, 20.0, 0.0)
    restless.note(ANN, 30.0, 1.0)
    restless.note(ANN, 10.0, 2.0)
    assert restless.take(10.0) == [ANN]

    restless.note(ANN, 40.0, 10.0)
    assert restless.take(30.0) == []
    assert restless.take(40.0) == [ANN]


def test_what_is_forgotten_is_never_due() -> None:
    restless = Restless()
    restless.note(ANN, 20.0, 0.0)
    restless.forget([ANN, BOB])

    assert (restless.soonest(), restless.take(99.0), len(restless)) == (math.inf, [], 0)


def test_memory_is_bounded() -> None:
    restless = Restless()
    for number in range(10_000, 0, -1):
        restless.note(ANN, float(number), 0.0)

    assert len(restless._queue) < 100
    assert restless.take(1.0) == [ANN]
