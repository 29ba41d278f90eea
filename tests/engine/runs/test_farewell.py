"""The end of a run: its root's, or that it is put away; told once, and again when it went on after that."""

from __future__ import annotations

import pytest
from tests.engine.driving import RUN, engine, order, stopped, tell
from tests.engine.making import Book, agent, ended, model, trace
from tests.engine.runs.registering import Registry

from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.orders import OrderKind
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.runs.record import Record

HOUR = 3_600.0


class Told:
    """An engine, and what it told of runs that are over."""

    def __init__(self) -> None:
        self.ends: list[tuple[str, str, str]] = []
        self.gone: list[str] = []
        self.engine = Engine(Policy(), Book(), farewell=self.hear)

    def hear(self, record: Record, error: str, gone: bool) -> None:
        if not record.over:
            self.ends.append((record.id, record.agent, error))
        if gone:
            self.gone.append(record.id)

    @property
    def counts(self) -> tuple[int, int]:
        """Runs that are active, and all that are held."""
        stats = self.engine.stats()
        return stats.active, stats.runs


@pytest.fixture
def told() -> Told:
    return Told()


def test_a_run_is_over_when_its_root_ends_and_is_called_by_its_roots_name(told: Told) -> None:
    tell(told.engine, [model(2, 1, agent="helper")])
    before = told.counts

    tell(told.engine, [agent(1, agent="main")])

    assert (before, told.counts) == ((1, 1), (0, 1))
    assert told.ends == [(trace(1).hex(), "main", "")]


def test_it_is_told_with_which_error_the_root_ended(told: Told) -> None:
    tell(told.engine, [ended(1, kind=Kind.WORKFLOW, error="TimeoutError")])

    assert told.ends == [(trace(1).hex(), "", "TimeoutError")]


def test_an_agent_below_another_ends_no_run_and_neither_does_a_lone_call(told: Told) -> None:
    tell(told.engine, [agent(2, 1), model(3, of=2)])

    assert (told.ends, told.counts) == ([], (2, 2))


def test_a_run_without_a_root_is_over_when_it_is_put_away(told: Told) -> None:
    tell(told.engine, [model(1, agent="main")])

    told.engine.advance(HOUR)

    assert (told.ends, told.counts) == ([(trace(1).hex(), "main", "")], (0, 0))


def test_it_is_told_once_however_often_the_root_comes_and_though_it_is_put_away(told: Told) -> None:
    tell(told.engine, [agent(1), agent(1), model(2, 1)])

    told.engine.advance(HOUR)

    assert (len(told.ends), told.gone, told.counts) == (1, [trace(1).hex()], (0, 0))


def test_another_turn_of_a_conversation_ends_anew(told: Told) -> None:
    tell(told.engine, [agent(1, joins=("conversation:7",))])
    tell(told.engine, [model(3, 2, of=2, joins=("conversation:7",))])
    between = told.counts

    tell(told.engine, [agent(2, of=2, joins=("conversation:7",))])

    assert (between, told.counts, len(told.ends)) == ((1, 1), (0, 1), 2)


def test_two_runs_that_turn_out_to_be_one_are_not_active_twice() -> None:
    seen = Registry()
    for event in (agent(1), agent(2, of=2)):
        run = seen.see(event)
        assert run is not None
        seen.runs.over(run, event)

    seen.see(model(3, of=2, joins=(trace(1).hex(),)))

    assert (seen.runs.counts(), seen.runs.active) == ((1, 0), 0)


def test_a_run_that_comes_back_is_active_again(told: Told) -> None:
    seen = Registry(runs=1)
    seen.see(model(1))
    seen.see(model(2, of=2))  # there is room for one: the first was put away early

    seen.see(model(3))

    assert (seen.runs.counts(), seen.runs.active) == ((1, 1), 1)


def test_a_record_knows_whether_a_stop_was_enforced() -> None:
    enforced: list[bool] = []
    made, _ = stopped()
    calm = engine()
    tell(calm, [model(1)])
    order(calm, OrderKind.KILL)
    for each in (made, calm):
        known = each._runs.get(RUN)
        assert known is not None
        enforced.append(known.record.halted)

    assert enforced == [True, True]
    assert not Record("r", 1, b"t", model(1).identity, 0).halted
