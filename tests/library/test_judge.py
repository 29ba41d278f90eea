"""A judge in the application: verdicts to the board, whoever calls and from wherever."""

from __future__ import annotations

import gc
import threading
from dataclasses import replace

import pytest
from tests.library.examples import failed_tool, key, span, started

from spanfuse.board import Board
from spanfuse.judge import Judge
from spanfuse_processor.engine import NoPrices, Policy, names
from spanfuse_processor.engine.alerts import BudgetEvent
from spanfuse_processor.engine.budget import Budget, Measure
from spanfuse_processor.engine.nouns import BreakerKey, Kind, Level
from spanfuse_processor.engine.verdicts import Mode, Verdict

LOOP = 8


@pytest.fixture
def board() -> Board:
    return Board()


@pytest.fixture
def judge(board: Board) -> Judge:
    return Judge(board, Policy(), NoPrices(), issuer="here", prefix="mine/")


def test_a_loop_is_on_the_board_before_the_call_returns(board: Board, judge: Judge) -> None:
    said = [verdict for _ in range(LOOP) for verdict in judge.span_ended(failed_tool("r"))]

    directive = board.standing([key("r")])
    assert directive is not None
    assert directive.id.startswith("mine/")
    assert directive.issuer == "here"
    assert directive.issued_ns > 0
    assert [verdict for verdict in said if verdict.directive]


def test_whoever_listens_hears_everything(board: Board) -> None:
    heard: list[Verdict] = []
    judge = Judge(board, Policy(), NoPrices(), issuer="here", on_verdict=heard.append)

    said = [verdict for _ in range(LOOP) for verdict in judge.span_ended(failed_tool("r"))]

    assert heard == said


def test_a_kill_stands_until_it_is_taken_back(board: Board, judge: Judge) -> None:
    assert judge.kill(key("r"), "enough")
    assert board.standing([key("r")]) is not None

    assert judge.release(key("r"))

    assert board.standing([key("r")]) is None
    assert not judge.release(key("r"))


def test_time_is_asked_for_when_it_matters(board: Board) -> None:
    clock = [0.0]
    judge = Judge(board, Policy(), NoPrices(), issuer="here", clock=lambda: clock[0])

    judge.observe(started(Kind.AGENT))

    wait = judge.advance()
    assert wait is None or wait > 0


def test_threads_lose_nothing(judge: Judge) -> None:
    threads = [
        threading.Thread(target=lambda: [judge.span_ended(failed_tool("r")) for _ in range(100)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10.0)

    assert judge.inspect(lambda engine: engine.stats().calls) == 400


def test_a_finaliser_may_end_a_call_in_the_middle_of_another(board: Board) -> None:
    """The collector runs wherever it likes: also inside the engine, on the thread that is there."""

    class Collecting(NoPrices):
        def rates(self, provider: str, model: str, day: int) -> None:
            gc.collect()

    class Dropped:
        def __init__(self) -> None:
            self.me = self  # a cycle, as SDKs' streams are: only the collector ends it

        def __del__(self) -> None:
            judge.span_ended(failed_tool("dropped"))

    judge = Judge(board, Policy(), Collecting(), issuer="here")
    chat = {names.OPERATION: "chat", names.REQUEST_MODEL: "m", names.INPUT_TOKENS: 1, names.OUTPUT_TOKENS: 1}
    Dropped()

    judge.span_ended(span(attributes=chat))

    assert judge.inspect(lambda engine: engine.stats().calls) == 2


def test_another_policy_holds_for_a_run_that_had_begun(board: Board, judge: Judge) -> None:
    judge.span_ended(failed_tool("r"))

    judge.renew(Policy(mode=Mode.SHADOW))
    said = [verdict for _ in range(LOOP) for verdict in judge.span_ended(failed_tool("r"))]

    assert {verdict.directive.mode for verdict in said if verdict.directive} == {Mode.SHADOW}


def test_a_changed_budget_keeps_what_was_spent_and_says_so(board: Board) -> None:
    events: list[BudgetEvent] = []
    daily = Budget("daily", 4, Measure.CALLS)
    judge = Judge(board, Policy(budgets=(daily,)), NoPrices(), issuer="here", on_event=events.append)
    for run in ("a", "b", "c"):
        judge.span_ended(failed_tool(run))

    judge.renew(Policy(budgets=(replace(daily, limit=3),)))

    assert (events[-1].spent, events[-1].limit) == (3, 3)
    assert [each.key for each in board.directives()] == [BreakerKey(Level.BUDGET, "daily")]
