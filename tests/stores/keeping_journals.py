"""What every store must do with steps, runs and snapshots, and when it is asked for some events only.

A class with these tests has a fixture `url`: that of an empty store.
"""

from __future__ import annotations

import json

import pytest
from tests.stores.making import NOON, call, happened, taken

from spanfuse_processor.store import MOST_ROWS, RunRow, SnapshotRow, Store

ALL = (0.0, 2 * NOON)


class Steps:
    """Steps and runs."""

    def test_a_step_comes_back_as_it_was(self, store: Store) -> None:
        row = call(
            1,
            run="r",
            started=NOON - 2,
            parent_span_id="ab" * 8,
            number=7,
            depth=2,
            name="sear'ch",
            provider="openai",
            error="TimeoutError",
            error_class="transient",
            arguments="a" * 16,
            result="b" * 16,
            result_size=120,
            news="known",
            content=json.dumps({"input": "wörld 🦊"}),
            failed=True,
            estimated=True,
        )

        store.append_steps([row])

        assert list(store.steps()) == [row]

    def test_steps_are_those_of_a_run_or_of_a_trace_oldest_first(self, store: Store) -> None:
        later = call(1, NOON + 2, run="r")
        first = call(2, NOON + 1, run="r")
        other = call(3, run="s")._replace(trace_id="cd" * 16)
        store.append_steps([later, first, other])

        assert list(store.steps(run="r")) == [first, later]
        assert list(store.steps(trace_id="cd" * 16)) == [other]
        assert list(store.steps(run="r", trace_id="cd" * 16)) == []
        assert list(store.steps()) == [other, first, later]

    def test_of_too_many_steps_the_latest_are_told(self, store: Store) -> None:
        rows = [call(number, NOON + number, run="r") for number in range(5)]
        store.append_steps(rows)

        assert list(store.steps(run="r", most=2)) == rows[3:]
        assert list(store.steps(NOON + 1, NOON + 3)) == rows[1:3]

    def test_an_answer_is_bounded_unless_more_is_asked(self, store: Store) -> None:
        store.append_steps([call(number, run="r") for number in range(MOST_ROWS + 5)])

        assert len(store.steps(run="r")) == MOST_ROWS
        assert len(store.steps(run="r", most=MOST_ROWS + 1)) == MOST_ROWS + 1

    def test_a_correction_is_the_step_that_is_told(self, store: Store) -> None:
        store.append_steps([call(1, run="r"), call(1, run="r", cost=7, revision=1, news="new")])
        store.append_steps([call(1, run="r")])

        assert [(row.cost, row.revision, row.news) for row in store.steps(run="r")] == [(7, 1, "new")]

    def test_runs_are_summed_by_what_counts_in_them(self, store: Store) -> None:
        agent = call(
            1,
            NOON + 9,
            run="r",
            kind="agent",
            name="planner",
            agent="planner",
            service="shop",
            cost=0,
            input_tokens=0,
            output_tokens=0,
            counts=False,
            started=NOON - 1,
        )
        inner = call(2, NOON + 1, run="r", agent="writer", parent_span_id="1" * 16, estimated=True)
        failed = call(3, NOON + 2, run="r", agent="writer", failed=True, cost=0, unpriced=True)
        twin = call(4, NOON + 2, run="r", counts=False)
        store.append_steps([agent, inner, failed, twin, call(5, NOON + 99, run="s"), call(6)])

        second, first = store.runs(*ALL)

        assert second.run == "s"
        assert first == RunRow(
            run="r",
            trace_id="ab" * 16,
            started=NOON - 1,
            ended=NOON + 9,
            service="shop",
            feature="",
            agent="planner",
            steps=4,
            failed=1,
            calls=2,
            input_tokens=200,
            output_tokens=20,
            cost=1_000,
            estimated_cost=1_000,
            unpriced=1,
        )

    def test_runs_are_those_of_a_time_as_many_as_asked(self, store: Store) -> None:
        store.append_steps([call(number, NOON + number, run=f"r{number}", agent="a") for number in range(5)])

        assert [(row.run, row.agent) for row in store.runs(NOON, NOON + 4, 2)] == [("r3", "a"), ("r2", "a")]


class Snapshots:
    """Snapshots."""

    def test_a_snapshot_comes_back_as_it_was(self, store: Store) -> None:
        row = SnapshotRow("event-1", NOON, "r", "ab" * 16, json.dumps({"steps": [1, "ü"]}))

        store.append_snapshots([row])

        assert store.snapshot("event-1") == row
        assert store.snapshot("event-2") is None

    def test_a_snapshot_that_comes_twice_is_there_as_it_came_first(self, store: Store) -> None:
        store.append_snapshots([taken(1, run="r"), taken(1, run="s")])
        store.append_snapshots([taken(1, run="t")])

        found = store.snapshot("event-1")
        assert found is not None
        assert found.run == "r"

    def test_what_is_old_is_let_go(self, store: Store) -> None:
        store.append_snapshots([taken(1, NOON - 10), taken(2, NOON)])
        store.append_events([happened(1, NOON - 10), happened(2, NOON)])
        store.append_steps([call(1, NOON - 10), call(2, NOON)])

        assert store.prune(NOON) == 3
        assert (store.snapshot("event-1"), store.event("event-1")) == (None, None)
        assert store.snapshot("event-2")
        assert [row.ended for row in store.steps()] == [NOON]


class SomeEvents:
    """Events of a run, of an agent, after another."""

    def test_events_are_those_of_a_run_and_of_an_agent(self, store: Store) -> None:
        store.append_events(
            [
                happened(1, run="r", agent="a"),
                happened(2, run="r", agent="b", kind="warn"),
                happened(3, run="s"),
            ]
        )

        assert {row.id for row in store.events(*ALL, run="r")} == {"event-1", "event-2"}
        assert [row.id for row in store.events(*ALL, agent="b")] == ["event-2"]
        assert [row.id for row in store.events(*ALL, ("warn",), run="r", agent="b")] == ["event-2"]
        assert list(store.events(*ALL, ("trip",), run="r", agent="b")) == []

    @pytest.mark.parametrize("most", [1, 2, 3])
    def test_page_by_page_all_come_once(self, store: Store, most: int) -> None:
        rows = [happened(number, NOON + number // 3, run="r" * (number != 4)) for number in range(9)]
        store.append_events(rows)

        found, last = list[str](), ""
        while page := store.events(*ALL, most=most, run="r", before_id=last):
            found += [row.id for row in page]
            last = page[-1].id

        assert sorted(found) == sorted(row.id for row in rows if row.run)
        assert found == [row.id for row in store.events(*ALL, run="r")]

    def test_nothing_comes_after_an_event_that_is_not_there(self, store: Store) -> None:
        store.append_events([happened(1)])

        assert list(store.events(*ALL, before_id="gone")) == []
