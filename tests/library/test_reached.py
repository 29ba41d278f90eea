"""What is for the calls of a reach is found by who pays, each time and however it is named."""

from __future__ import annotations

import pytest

from spanfuse import reached
from spanfuse.reached import Reached
from spanfuse_processor.engine.budget import Account, Budget
from spanfuse_processor.engine.budgets import orders
from spanfuse_processor.engine.reach import Payer, Reach

ANN, BOB = Payer(user="ann", feature="chat", run="r1"), Payer(user="bob", feature="chat", run="r2")


def of(*given: tuple[Reach, object]) -> Reached[object]:
    """Each under a name of its own."""
    things: Reached[object] = Reached()
    for number, each in enumerate(given):
        things.put(str(number), [each])
    return things


def test_all_that_covers_a_payer_is_found_in_the_order_in_which_it_was_given() -> None:
    things = of(
        (Reach(feature=("chat",)), "chat"),
        (Reach(user=("bob",)), "bob"),
        (Reach(), "everybody"),
        (Reach(user=("a*", "c*")), "a or c"),
        (Reach(feature=("chat",), user=("ann", "cid")), "ann or cid, chatting"),
        (Reach(feature=("c*",), user=("bob",), run=("r1",)), "bob, in another run"),
    )

    assert things.of(ANN) == ("chat", "everybody", "a or c", "ann or cid, chatting")
    assert things.of(BOB) == ("chat", "bob", "everybody")
    assert things.of(Payer()) == ("everybody",)


def test_what_is_known_is_not_looked_for_again_whatever_else_a_payer_is() -> None:
    things = of((Reach(user=("ann",)), object()))
    first = things.of(ANN)

    assert things.of(ANN._replace(run="another", feature="another")) is first


def test_a_pattern_that_names_twice_is_found_once() -> None:
    assert of((Reach(user=("ann", "ann")), 1)).of(ANN) == (1,)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reached, "KNOWN", 3)
    things = of((Reach(user=("x*",)), 1))

    found = [things.of(Payer(user=f"x{number}")) for number in range(10)]

    assert found == [(1,)] * 10
    assert len(things._memory.known) <= 3


def test_nothing_is_for_nobody() -> None:
    nothing: Reached[int] = Reached()

    assert nothing.of(ANN) == ()


def test_what_is_put_under_a_name_takes_the_place_of_what_was() -> None:
    things = of((Reach(user=("ann",)), 1), (Reach(user=("a*",)), 2))
    assert things.of(ANN) == (1, 2)

    things.put("0", [(Reach(user=("bob",)), 3)])
    assert (things.of(ANN), things.of(BOB)) == ((2,), (3,))

    things.put("1", [])
    things.put("0", [])
    assert (things.of(ANN), things.of(BOB), len(things)) == ((), (), 0)
    assert things._rows == {(5,): {}, (): {}}
    assert not things._places
    assert things._memory.telling(ANN) == ()


def test_what_is_found_while_something_changes_is_not_remembered() -> None:
    things = of((Reach(user=("a*",)), 1))
    memory = things._memory

    things.put("new", [(Reach(user=("ann",)), 2)])
    memory.known["ann"] = (1,)  # by a thread that had begun to look

    assert things.of(ANN) == (1, 2)


@pytest.mark.parametrize("user", ["a*b", "what?", "[x]", "a[*]", "]", "[", "plain"])
def test_whoever_is_named_with_signs_of_patterns_is_found_by_name(user: str) -> None:
    reach = orders.reach_of(Account("each", (user,)), Budget("each", 1, per=("user",)))
    things = of((reach, 1))

    assert things.of(Payer(user=user)) == (1,) == (int(reach.covers(Payer(user=user))),)
    assert things.of(Payer(user="axb")) == ()
    assert [*things._rows] == [(5,)]


class Counted(Reach):
    """A reach that counts how often it is asked."""

    asked = 0

    def covers(self, payer: Payer) -> bool:
        Counted.asked += 1
        return super().covers(payer)


def test_of_ten_thousand_none_is_looked_at_but_those_that_name_the_payer() -> None:
    things: Reached[int] = Reached()
    for number in range(10_000):
        things.put(str(number), [(Counted(feature=("c*",), user=(f"u{number}",)), number)])
    Counted.asked = 0

    assert things.of(Payer(user="u77", feature="chat")) == (77,)
    assert Counted.asked == 1
    assert [len(rows) for rows in things._rows.values()] == [10_000]
