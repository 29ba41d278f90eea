"""The registry of runs: which run an event is in, and what becomes of runs that nobody sees any more."""

from __future__ import annotations

import gc

from tests.engine.making import NOON, SECOND, agent, ended, model, started, trace
from tests.engine.runs.registering import Registry

from spanfuse_processor.engine.calltree import CallTree
from spanfuse_processor.engine.runs.run import Tombstone

HOUR = 3600


def trees() -> int:
    """How many there are, of whatever run."""
    return sum(isinstance(each, CallTree) for each in gc.get_objects())


class TestFinding:
    def test_our_own_run_id_names_the_run_across_traces(self) -> None:
        seen = Registry()

        assert [seen.id_of(ended(n, of=n, run_id="mine")) for n in (1, 2)] == ["mine", "mine"]

    def test_two_of_our_runs_in_one_trace_stay_two(self) -> None:
        seen = Registry()

        assert [seen.id_of(ended(n, run_id=name)) for n, name in ((1, "a"), (2, "b"))] == ["a", "b"]

    def test_foreign_spans_of_one_trace_are_one_run_named_by_it(self) -> None:
        seen = Registry()

        assert [seen.id_of(ended(n)) for n in (1, 2)] == [trace(1).hex()] * 2

    def test_a_conversation_holds_traces_together(self) -> None:
        seen = Registry()

        ids = [seen.id_of(ended(n, of=n, joins=("conversation:7",))) for n in (1, 2, 3)]

        assert ids == [trace(1).hex()] * 3

    def test_a_linked_trace_is_the_same_run(self) -> None:
        seen = Registry()
        seen.see(ended(1, of=1))

        assert seen.id_of(ended(2, of=2, joins=(trace(1).hex(),))) == trace(1).hex()

    def test_a_nested_agent_with_a_conversation_of_its_own_stays_in_its_parents_run(self) -> None:
        seen = Registry()
        seen.see(ended(1, joins=("conversation:outer",)))

        inner = seen.id_of(ended(2, 1, joins=("conversation:inner",)))
        later = seen.id_of(ended(3, of=2, joins=("conversation:inner",)))

        assert inner == later == trace(1).hex()

    def test_a_foreign_span_in_a_trace_that_our_run_has_claimed_joins_it(self) -> None:
        seen = Registry()
        seen.see(ended(1, run_id="mine"))

        assert seen.id_of(ended(2)) == "mine"

    def test_a_foreign_span_that_came_before_our_claim_joins_it_too(self) -> None:
        seen = Registry()
        seen.see(ended(2))

        run = seen.see(ended(1, run_id="mine"))

        assert run is not None
        assert (run.id, run.tree.totals.calls) == ("mine", 2)

    def test_a_run_named_by_its_trace_and_that_traces_foreign_spans_are_one(self) -> None:
        seen = Registry()
        seen.see(ended(1))

        assert seen.id_of(ended(2, run_id=trace(1).hex())) == trace(1).hex()
        assert seen.runs.counts() == (1, 0)

    def test_a_session_does_not_tie_our_own_runs_together(self) -> None:
        seen = Registry()

        ids = [seen.id_of(ended(n, of=n, run_id=name, joins=("s",))) for n, name in ((1, "a"), (2, "b"))]

        assert ids == ["a", "b"]


class TestUnion:
    def test_two_runs_that_turn_out_to_be_one_become_the_older(self) -> None:
        seen = Registry()
        seen.see(model(1, of=1))
        seen.see(model(2, of=2))

        run = seen.see(model(3, of=3, joins=(trace(2).hex(), trace(1).hex())))

        assert run is not None
        assert (run.id, run.tree.totals.calls, run.tree.totals.cost) == (trace(1).hex(), 3, 3)
        assert (seen.runs.counts(), seen.stats.merged) == ((1, 0), 1)

    def test_what_belonged_to_the_younger_still_finds_its_way(self) -> None:
        seen = Registry()
        for number in (1, 2, 3):
            seen.see(ended(number, of=number))
        seen.see(ended(4, of=3, joins=(trace(2).hex(),)))
        seen.see(ended(5, of=2, joins=(trace(1).hex(),)))

        assert [seen.id_of(ended(n, of=n - 5)) for n in (6, 7, 8)] == [trace(1).hex()] * 3
        assert seen.runs.get(trace(3).hex()) is seen.runs.get(trace(1).hex())

    def test_our_own_run_survives_though_it_is_the_younger(self) -> None:
        seen = Registry()
        seen.see(ended(1, of=1))
        seen.see(ended(2, of=2, run_id="mine"))

        assert seen.id_of(ended(3, of=1, run_id="mine")) == "mine"

    def test_our_own_runs_are_never_united(self) -> None:
        seen = Registry()
        seen.see(ended(1, of=1, run_id="a"))
        seen.see(ended(2, of=2, run_id="b"))

        seen.see(ended(3, of=1, joins=(trace(2).hex(),)))

        assert seen.runs.counts() == (2, 0)


class TestPuttingAway:
    def test_an_idle_run_is_put_away_and_not_before(self) -> None:
        seen = Registry(idle=900.0)
        seen.see(ended(1))

        due = seen.runs.next_deadline()
        seen.wait(899.0)
        before = seen.runs.counts()
        seen.wait(1.0)

        assert (due, before, seen.runs.counts()) == (900.0, (1, 0), (0, 1))

    def test_a_span_keeps_its_run_alive(self) -> None:
        seen = Registry(idle=900.0)
        seen.see(ended(1))
        seen.wait(600.0)
        seen.see(ended(2))

        seen.wait(600.0)

        assert seen.runs.counts() == (1, 0)

    def test_a_late_span_is_counted_and_starts_nothing(self) -> None:
        seen = Registry()
        seen.see(ended(1, joins=("conversation:7",)))
        seen.wait(HOUR)

        late = [seen.see(ended(2)), seen.see(ended(3, of=2, joins=("conversation:7",)))]

        assert late == [None, None]
        assert (seen.runs.counts(), seen.stats.late) == ((0, 1), 2)

    def test_a_run_that_paused_by_its_own_clock_goes_on_with_what_it_had(self) -> None:
        seen = Registry(idle=900.0)
        seen.see(model(1))
        seen.wait(HOUR)
        pause = NOON + HOUR * SECOND

        run = seen.see(model(2, started_ns=pause, ended_ns=pause + SECOND))

        assert run is not None
        assert (run.id, run.tree.totals.calls, run.tree.totals.cost) == (trace(1).hex(), 2, 2)
        assert (seen.stats.resumed, seen.stats.late, seen.runs.counts()) == (1, 0, (1, 0))

    def test_a_call_that_took_longer_than_the_idle_time_is_not_late(self) -> None:
        seen = Registry(idle=900.0)
        seen.see(model(1, run_id="mine"))
        seen.wait(HOUR)

        assert seen.id_of(ended(2, run_id="mine", ended_ns=NOON + HOUR * SECOND)) == "mine"

    def test_parents_that_never_came_are_counted_when_the_run_is_put_away(self) -> None:
        seen = Registry()
        seen.see(ended(2, 1))
        seen.see(agent(3, 9))
        seen.see(agent(9))

        seen.wait(HOUR)

        assert seen.stats.orphans == 1

    def test_the_longest_unseen_makes_room(self) -> None:
        seen = Registry(runs=2)
        for number, now in ((1, 0.0), (2, 1.0), (1, 2.0), (3, 3.0)):
            seen.now = now
            seen.see(ended(number, of=number))

        assert [run.id for run in seen.runs.live()] == [trace(1).hex(), trace(3).hex()]
        assert (seen.stats.evicted, seen.runs.counts()) == (1, (2, 1))

    def test_a_run_that_had_to_make_room_goes_on_when_it_is_seen_again(self) -> None:
        seen = Registry(runs=1)
        seen.see(model(1, of=1))
        seen.see(model(2, of=2))

        run = seen.see(model(3, of=1))

        assert run is not None
        assert (run.tree.totals.cost, seen.stats.resumed, seen.stats.late) == (2, 1, 0)

    def test_a_tombstone_is_forgotten_in_the_end_and_its_trace_starts_anew(self) -> None:
        seen = Registry(idle=900.0, tombstone=100.0)
        seen.see(ended(1, joins=("conversation:7",)))
        seen.wait(900.0)
        due = seen.runs.next_deadline()
        seen.wait(100.0)

        assert (due, seen.runs.counts(), seen.runs.next_deadline()) == (1000.0, (0, 0), None)
        assert seen.id_of(ended(2)) == trace(1).hex()
        assert seen.id_of(ended(3, of=3, joins=("conversation:7",))) == trace(3).hex()

    def test_only_so_many_tombstones_are_kept(self) -> None:
        seen = Registry(tombstones=2)
        for number in (1, 2, 3):
            seen.see(ended(number, of=number))

        seen.wait(HOUR)

        kept = [tombstone.record.id for tombstone in seen.runs.tombstones()]
        assert kept == [trace(2).hex(), trace(3).hex()]

    def test_the_trees_of_runs_that_are_gone_wait_for_no_collector(self) -> None:
        gc.collect()
        gc.disable()
        try:
            before, seen = trees(), Registry()
            for number in (1, 2, 3):
                seen.see(agent(number, of=number))
            seen.see(ended(4, of=3, joins=(trace(2).hex(),)))
            seen.runs.merged.clear()
            alive = trees() - before
            seen.wait(HOUR)
            left = trees() - before
        finally:
            gc.enable()

        assert (alive, left) == (2, 0)

    def test_what_was_put_away_can_be_looked_at(self) -> None:
        seen = Registry()
        seen.see(model(1))
        seen.wait(HOUR)

        known = seen.runs.get(trace(1).hex())

        assert isinstance(known, Tombstone)
        assert known.record.cost == 1

    def test_a_conversation_of_endlessly_many_traces_is_remembered_within_bounds(self) -> None:
        seen = Registry(nodes_per_run=5)

        for number in range(1, 50):
            run = seen.see(ended(number, of=number, joins=("conversation:7",)))

        assert run is not None
        assert len(run.record.keys) == 5
        assert run.tree.totals.calls == 49


def test_a_heartbeat_keeps_a_run_alive() -> None:
    seen = Registry(idle=900.0)
    seen.see(started(1, run_id="mine"))
    seen.wait(600.0)
    seen.see(started(1, run_id="mine"))

    seen.wait(600.0)

    assert seen.runs.counts() == (1, 0)


def test_a_span_that_is_no_call_finds_the_run_of_its_trace() -> None:
    seen = Registry()
    run = seen.see(ended(1))

    assert seen.runs.by_trace(trace(1)) is run
    assert seen.runs.by_trace(trace(2)) is None
