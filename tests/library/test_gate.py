"""The gate: refuses what the board orders, and does not let a refusal be swallowed for ever."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.library.making import Clock, chat, scope, tool

from spanfuse.board import Board
from spanfuse.errors import BreakerOpen, RunStopped
from spanfuse.gate import VOLLEY, Gate, Permit
from spanfuse.payers import Payers
from spanfuse.provider import Intent
from spanfuse_processor.engine.nouns import BreakerKey, Kind, Level, Usage
from spanfuse_processor.engine.reach import Degrading, Reach
from spanfuse_processor.engine.verdicts import Action, Directive, Mode

R1 = BreakerKey(Level.RUN, "r1")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def board(clock: Clock) -> Board:
    return Board(clock)


@pytest.fixture
def gate(board: Board) -> Gate:
    return Gate(board)


def stop(key: BreakerKey = R1, **more: object) -> Directive:
    made = Directive(f"{key}/stop", 1, key, reason="LOOP", message="5 equal calls", model_message="Stop.")
    return replace(made, **more)  # type: ignore[arg-type]


def attempt(gate: Gate, intent: Intent | None = None) -> type[BaseException]:
    """What an attempt in the code's own context raises."""
    with pytest.raises((BreakerOpen, RunStopped)) as caught:
        gate.admit(intent or chat(), scope())
    return caught.type


def elsewhere(work: Callable[[], object]) -> object:
    """Does it in a context that knows nothing of this one, as a task or thread of its own."""
    return contextvars.Context().run(work)


def test_an_empty_board_admits(gate: Gate) -> None:
    assert isinstance(gate.admit(chat(), scope()), Permit)


def test_a_refusal_says_who_stopped_what_and_why(gate: Gate, board: Board) -> None:
    board.post(stop())

    with pytest.raises(BreakerOpen) as caught:
        gate.admit(chat(), scope())

    assert (caught.value.reason, caught.value.model_message) == ("LOOP", "Stop.")
    assert caught.value.directive == stop()
    assert "run/r1 is stopped (LOOP): 5 equal calls" in str(caught.value)


@pytest.mark.parametrize(
    "key",
    [
        BreakerKey(Level.USER, "u"),
        BreakerKey(Level.FEATURE, "f"),
        BreakerKey(Level.NAMESPACE, "n"),
        BreakerKey(Level.TENANT, "t"),
        BreakerKey(Level.AGENT, "outer"),
        BreakerKey(Level.AGENT, "inner"),
        BreakerKey(Level.TOOL, "search"),
        BreakerKey(Level.EVERYTHING, ""),
    ],
)
def test_a_call_answers_to_every_key_that_it_is_made_under(gate: Gate, board: Board, key: BreakerKey) -> None:
    where = scope(user="u", feature="f", namespace="n", tenant="t").inside("outer").inside("inner")
    board.post(stop(key))

    with pytest.raises(BreakerOpen):
        gate.admit(tool(), where)
    assert gate.admit(tool("other"), scope("r2")) if key.level is not Level.EVERYTHING else True


def test_a_model_is_stopped_by_its_name(gate: Gate, board: Board) -> None:
    board.post(stop(BreakerKey(Level.MODEL, chat().name)))

    with pytest.raises(BreakerOpen):
        gate.admit(chat(), scope())
    gate.admit(tool(chat().name), scope())  # a tool of the same name is no model


def test_blocking_tools_lets_models_pass(gate: Gate, board: Board) -> None:
    board.post(stop(action=Action.BLOCK_TOOL))

    gate.admit(chat(), scope())
    with pytest.raises(BreakerOpen):
        gate.admit(tool(), scope())


@pytest.mark.parametrize("mode", [Mode.SHADOW, Mode.WARN])
def test_what_only_watches_never_refuses_but_counts(gate: Gate, board: Board, mode: Mode) -> None:
    board.post(stop(mode=mode))

    gate.admit(chat(), scope())
    gate.admit(chat(), scope())

    assert board.effects(stop()).calls_passed == 2
    assert board.effects(stop()).calls_refused == 0


def test_after_three_swallowed_refusals_a_model_call_raises_what_except_exception_does_not_catch(
    gate: Gate, board: Board
) -> None:
    board.post(stop())

    raised = [attempt(gate) for _ in range(5)]

    assert raised == [BreakerOpen] * 3 + [RunStopped] * 2
    assert not issubclass(RunStopped, Exception)


def test_a_tool_never_raises_it(gate: Gate, board: Board) -> None:
    board.post(stop())

    assert [attempt(gate, tool()) for _ in range(6)] == [BreakerOpen] * 6


def test_nor_does_a_model_call_inside_a_tools_body(gate: Gate, board: Board) -> None:
    board.post(stop())
    inside = scope().within("search")

    for _ in range(6):
        with pytest.raises(BreakerOpen):
            gate.admit(chat(), inside)


def test_refusals_of_calls_made_side_by_side_count_as_one(gate: Gate, board: Board) -> None:
    """Ten parallel calls are refused at one blow; nobody has swallowed anything."""
    board.post(stop())

    raised = [elsewhere(lambda: attempt(gate)) for _ in range(10)]

    assert raised == [BreakerOpen] * 10


def test_a_run_that_goes_on_in_ever_new_tasks_is_caught_as_well(
    gate: Gate, board: Board, clock: Clock
) -> None:
    board.post(stop())

    raised = []
    for _ in range(4):
        raised.append(elsewhere(lambda: attempt(gate)))
        clock.pass_(VOLLEY * 2)

    assert raised == [BreakerOpen] * 3 + [RunStopped]


def test_another_stop_is_counted_from_the_start(gate: Gate, board: Board) -> None:
    board.post(stop())
    for _ in range(3):
        attempt(gate)
    board.withdraw("run/r1/stop", 2)
    gate.admit(chat(), scope())

    board.post(stop(revision=3))

    assert attempt(gate) is BreakerOpen


def test_refusals_are_counted_across_threads(gate: Gate, board: Board) -> None:
    board.post(stop())

    threads = [threading.Thread(target=lambda: [attempt(gate, tool()) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert board.effects(stop()).calls_refused == 200


def test_a_permit_is_answered_once() -> None:
    permit = Permit()

    permit.settle(Usage(1, 1))
    permit.fail(ValueError())

    assert permit.settled


def test_a_refused_agent_counts_by_its_name(gate: Gate, board: Board) -> None:
    board.post(stop(BreakerKey(Level.AGENT, "planner")))

    with pytest.raises(BreakerOpen):
        gate.admit(Intent(Kind.AGENT, "invoke_agent", "planner"), scope())


DAILY = BreakerKey(Level.BUDGET, "daily")


def wide(**reach: tuple[str, ...]) -> Directive:
    return stop(DAILY, reach=Reach(**reach))


def test_an_order_of_a_budget_refuses_the_calls_that_it_reaches(gate: Gate, board: Board) -> None:
    board.post(wide(user=("ann",), model=("gpt-*",)))

    with pytest.raises(BreakerOpen) as caught:
        gate.admit(chat(), scope(user="ann"))

    assert caught.value.directive.key == DAILY
    assert isinstance(gate.admit(chat(), scope(user="bob")), Permit)
    assert isinstance(gate.admit(tool(), scope(user="ann")), Permit)


def test_an_order_reaches_calls_by_what_the_process_says_of_itself(board: Board) -> None:
    gate = Gate(board, Payers(lambda: {"service.name": "checkout"}))
    board.post(wide(service=("checkout",)))

    with pytest.raises(BreakerOpen):
        gate.admit(chat(), scope())


def test_a_run_as_a_whole_is_stopped_by_what_covers_all_its_calls(gate: Gate, board: Board) -> None:
    where = scope("r1", user="ann")
    assert gate.stopping(where) is None

    board.post(wide(user=("ann",), model=("gpt-*",)))
    board.post(stop(action=Action.BLOCK_TOOL))
    assert gate.stopping(where) is None

    board.post(replace(wide(user=("ann",)), revision=2))
    assert gate.stopping(where) == replace(wide(user=("ann",)), revision=2)


def test_what_slows_calls_and_what_makes_them_cheaper_admits_them(gate: Gate, board: Board) -> None:
    slow = stop(id="slow", action=Action.THROTTLE, params=(("calls_per_second", 1.0),))
    short = stop(id="short", action=Action.DEGRADE, degrading=Degrading())
    board.post(slow)
    board.post(short)

    assert isinstance(gate.admit(chat(), scope()), Permit)
    assert gate.sparing(Action.THROTTLE, chat(), scope()) == [slow]
    assert gate.sparing(Action.DEGRADE, chat(), scope()) == [short]
    assert gate.sparing(Action.DEGRADE, tool(), scope()) == []

    board.post(stop())
    assert gate.sparing(Action.THROTTLE, chat(), scope()) == []
