"""What is ordered to be given up: when it is done, when not, and what the span says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.library.making import Clock, chat, scope, tool

from spanfuse import degrading, guard
from spanfuse.board import Board
from spanfuse.degrading import SPURNED, Degrader
from spanfuse.gate import Gate
from spanfuse.provider import Intent
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.pricing import PENDING, YOCTO_PER_MICRO, Pending, Rates
from spanfuse_processor.engine.reach import Degrading
from spanfuse_processor.engine.verdicts import Action, Directive, Mode

CHAT = BreakerKey(Level.FEATURE, "chat")
WHERE = scope("r1", feature="chat")
CHEAPER = Degrading(models=(("gpt-4o", "gpt-4o-mini"),))
PRICES = {"gpt-4o": 10, "gpt-4o-mini": 1, "gpt-5-pro": 100}


class Book:
    """A book of few models."""

    def rates(self, provider: str, model: str, day: int) -> Rates | Pending | None:
        if model == "slow":
            return PENDING
        price = PRICES.get(model)
        return None if price is None else Rates(price * YOCTO_PER_MICRO, price * YOCTO_PER_MICRO)


class Rejected(Exception):
    """The provider will not have it."""


class Asked:
    """A request that gives up a model and a limit."""

    def __init__(self, model: str = "gpt-4o") -> None:
        self.model = self.original = model
        self.wishes: list[Degrading] = []

    def degrade(self, degrading: Degrading) -> Mapping[str, object] | None:
        self.wishes.append(degrading)
        other = degrading.instead_of(self.model)
        if not other and not degrading.output_tokens:
            return None
        self.model = other or self.model
        return {names.REQUEST_MODEL: self.model, "gen_ai.request.temperature": None}

    def restore(self) -> Mapping[str, object]:
        self.model = self.original
        return {names.REQUEST_MODEL: self.model}

    def spurned(self, error: BaseException) -> bool:
        return isinstance(error, Rejected)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def board(clock: Clock) -> Board:
    return Board(clock)


@pytest.fixture
def degrader(board: Board) -> Degrader:
    return Degrader(board, Gate(board), Book())


def order(wish: Degrading = CHEAPER, name: str = "short", **more: Any) -> Directive:
    return replace(Directive(name, 1, CHAT, Action.DEGRADE, degrading=wish), **more)


def asking(model: str = "gpt-4o") -> Intent:
    return replace(chat(), name=model, request=Asked(model), attributes={"gen_ai.request.temperature": 0.7})


def test_without_an_order_nothing_is_given_up(degrader: Degrader) -> None:
    intent = asking()

    assert degrader.degrade(intent, WHERE) is None
    assert (intent.name, names.DEGRADED in intent.attributes) == ("gpt-4o", False)


def test_a_call_that_gives_something_up_says_so_and_what_it_was(degrader: Degrader, board: Board) -> None:
    board.post(order())
    intent = asking()

    assert degrader.degrade(intent, WHERE) is not None

    assert intent.name == "gpt-4o-mini"
    assert intent.attributes == {names.DEGRADED: True, names.ORIGINAL_MODEL: "gpt-4o"}
    effects = board.effects(order())
    assert (effects.calls_degraded, effects.calls_not_degraded, effects.applied_after) == (1, 0, 0.0)


@pytest.mark.parametrize(
    "intent",
    [replace(chat(), name="gpt-4o"), asking("gpt-4o-mini"), asking("unheard of"), asking("")],
    ids=["cannot be changed", "is the cheap one", "is not named", "has no name"],
)
def test_a_call_that_can_give_nothing_up_is_made_and_says_so(
    degrader: Degrader, board: Board, intent: Intent
) -> None:
    board.post(order())
    name = intent.name

    assert degrader.degrade(intent, WHERE) is None

    assert (intent.name, intent.attributes[names.DEGRADED]) == (name, False)
    effects = board.effects(order())
    assert (effects.calls_degraded, effects.calls_not_degraded, effects.applied_after) == (0, 1, None)


@pytest.mark.parametrize("mode", [Mode.SHADOW, Mode.WARN])
def test_an_order_that_is_not_enforced_is_only_counted(degrader: Degrader, board: Board, mode: Mode) -> None:
    board.post(order(mode=mode))
    intent = asking()

    assert degrader.degrade(intent, WHERE) is None

    assert (intent.name, names.DEGRADED in intent.attributes) == ("gpt-4o", False)
    assert board.effects(order(mode=mode)).calls_passed == 1


def test_tools_give_nothing_up(degrader: Degrader, board: Board) -> None:
    board.post(order())
    intent = tool()

    assert degrader.degrade(intent, WHERE) is None
    assert intent.attributes == {}


def test_what_is_stopped_is_not_changed_first(degrader: Degrader, board: Board) -> None:
    board.post(order())
    board.post(Directive("stop", 1, CHAT))
    intent = asking()

    assert degrader.degrade(intent, WHERE) is None
    assert board.effects(order()).calls_not_degraded == 0


@pytest.mark.parametrize(
    ("model", "instead", "used"),
    [
        ("gpt-4o-mini", "gpt-5-pro", "gpt-4o-mini"),
        ("gpt-4o", "unpriced", "unpriced"),
        ("slow", "gpt-4o", "slow"),
        ("gpt-4o", "slow", "gpt-4o"),
    ],
    ids=["dearer", "of no known price", "instead of one of no price yet", "of no price yet"],
)
def test_no_model_is_used_that_is_dearer_or_may_turn_out_to_be(
    degrader: Degrader, board: Board, model: str, instead: str, used: str
) -> None:
    board.post(order(Degrading(models=((model, instead),))))
    intent = asking(model)

    degrader.degrade(intent, WHERE)

    assert intent.name == used


def test_once_its_price_is_known_it_is_used_and_the_rest_is_given_up_meanwhile(
    degrader: Degrader, board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    board.post(order(Degrading(models=(("gpt-4o", "slow"),), output_tokens=100)))
    first, second = asking(), asking()

    degrader.degrade(first, WHERE)
    monkeypatch.setattr(Book, "rates", lambda *_: Rates(YOCTO_PER_MICRO, YOCTO_PER_MICRO))
    degrader.degrade(second, WHERE)

    assert (first.name, first.attributes[names.DEGRADED]) == ("gpt-4o", True)
    assert second.name == "slow"


def test_no_model_is_used_that_is_stopped_itself(degrader: Degrader, board: Board) -> None:
    board.post(order())
    board.post(Directive("stop", 1, BreakerKey(Level.MODEL, "gpt-4o-mini")))
    intent = asking()

    assert degrader.degrade(intent, WHERE) is None
    assert intent.name == "gpt-4o"


def test_of_several_orders_the_strictest_names_the_model_and_the_least_of_all_counts(
    degrader: Degrader, board: Board
) -> None:
    board.post(order(Degrading((("gpt-*", "gpt-4o-mini"),), ("web",), 500, 0.5), "low", priority=1))
    board.post(order(Degrading((("gpt-4o", "another"),), ("code", "web"), 900, 0.2), "high", priority=2))
    intent = asking()

    degrader.degrade(intent, WHERE)

    assert isinstance(intent.request, Asked)
    assert intent.request.wishes == [Degrading((("gpt-4o", "another"),), ("code", "web"), 500, 0.2)]


def test_a_request_that_is_not_taken_is_what_it_was_again(degrader: Degrader, board: Board) -> None:
    board.post(order())
    intent = asking()
    changed = degrader.degrade(intent, WHERE)
    assert changed is not None

    assert changed.restores(ValueError()) is None
    assert changed.restores(Rejected()) == {
        names.REQUEST_MODEL: "gpt-4o",
        names.ORIGINAL_MODEL: None,
        names.DEGRADED: False,
    }

    assert (intent.name, intent.request.model) == ("gpt-4o", "gpt-4o")  # type: ignore[union-attr]
    effects = board.effects(order())
    assert (effects.calls_degraded, effects.calls_not_degraded) == (1, 1)
    assert changed.restores(Rejected()) is None


def test_a_change_that_was_not_wanted_is_not_tried_again_for_a_while(
    degrader: Degrader, board: Board, clock: Clock
) -> None:
    board.post(order())
    changed = degrader.degrade(asking(), WHERE)
    assert changed is not None
    changed.restores(Rejected())
    changed.settled()

    assert degrader.degrade(asking(), WHERE) is None
    clock.pass_(SPURNED)
    assert degrader.degrade(asking(), WHERE) is not None


def test_a_change_is_tried_again_where_the_application_s_own_request_failed_too(
    degrader: Degrader, board: Board
) -> None:
    board.post(order())
    changed = degrader.degrade(asking(), WHERE)
    assert changed is not None

    changed.restores(Rejected())

    assert degrader.degrade(asking(), WHERE) is not None


def test_what_is_remembered_is_bounded(
    degrader: Degrader, board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(degrading, "KEPT", 2)
    board.post(order(Degrading(models=(("*", "gpt-4o-mini"),))))

    for number in range(5):
        changed = degrader.degrade(asking(f"m{number}"), WHERE)
        assert changed is not None
        changed.restores(Rejected())
        changed.settled()

    assert len(degrader._spurned) == 2


def test_a_fault_of_ours_leaves_the_call_as_it_was_and_is_counted(
    degrader: Degrader, board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(Asked):
        def degrade(self, degrading: Degrading) -> Mapping[str, object] | None:
            raise ValueError("ours")

    monkeypatch.setenv(guard.ENV_RERAISE, "0")
    board.post(order())
    intent = replace(asking(), request=Broken())
    before = guard.FAULTS.count

    assert degrader.degrade(intent, WHERE) is None

    assert guard.FAULTS.count == before + 1
    assert (intent.name, intent.attributes[names.DEGRADED]) == ("gpt-4o", False)
    assert board.effects(order()).calls_not_degraded == 1
