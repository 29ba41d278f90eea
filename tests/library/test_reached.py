"""What is for the calls of a reach is found by who pays, each time and however it is named."""

from __future__ import annotations

import pytest

from spanfuse import reached
from spanfuse.reached import Reached
from spanfuse_processor.engine.reach import Payer, Reach

ANN, BOB = Payer(user="ann", feature="chat", run="r1"), Payer(user="bob", feature="chat", run="r2")


def test_all_that_covers_a_payer_is_found_in_the_order_in_which_it_was_given() -> None:
    things = Reached(
        [
            (Reach(feature=("chat",)), "chat"),
            (Reach(user=("bob",)), "bob"),
            (Reach(), "everybody"),
            (Reach(user=("a*", "c*")), "a or c"),
            (Reach(feature=("chat",), user=("ann", "cid")), "ann or cid, chatting"),
        ]
    )

    assert things.of(ANN) == ("chat", "everybody", "a or c", "ann or cid, chatting")
    assert things.of(BOB) == ("chat", "bob", "everybody")
    assert things.of(Payer()) == ("everybody",)


def test_what_is_known_is_not_looked_for_again_whatever_else_a_payer_is() -> None:
    things = Reached([(Reach(user=("ann",)), object())])
    first = things.of(ANN)

    assert things.of(ANN._replace(run="another", feature="another")) is first


def test_a_pattern_that_names_twice_is_found_once() -> None:
    assert Reached([(Reach(user=("ann", "ann")), 1)]).of(ANN) == (1,)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reached, "KNOWN", 3)
    things = Reached([(Reach(user=("x*",)), 1)])

    found = [things.of(Payer(user=f"x{number}")) for number in range(10)]

    assert found == [(1,)] * 10
    assert len(things._known) <= 3


def test_nothing_is_for_nobody() -> None:
    nothing: Reached[int] = Reached([])

    assert nothing.of(ANN) == ()
