"""A run that is stopped is described as it was, by a schema that anybody can check."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from tests.bookkeeping.host import SOON, WALL, Host, run_of
from tests.engine.making import ended, model, span, trace
from tests.house.sources import ROOT

from spanfuse_processor.bookkeeping.policies import version_of
from spanfuse_processor.bookkeeping.snapshots import MOST_STEPS, schema
from spanfuse_processor.engine import Policy
from spanfuse_processor.engine.events import RawSpan
from spanfuse_processor.engine.orders import OrderKind
from spanfuse_processor.engine.verdicts import Mode
from spanfuse_processor.store import SnapshotRow, StepRow
from spanfuse_processor.writing import Wanted


def check(snapshot: object) -> None:
    jsonschema.Draft202012Validator(schema()).validate(snapshot)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


def test_a_trip_has_its_snapshot_with_every_step() -> None:
    host = Host()
    host.loop()

    snapshot = host.snapshot(host.ids[-1])

    check(snapshot)
    assert snapshot is not None
    assert (snapshot["id"], snapshot["at"], snapshot["run"]) == (host.ids[-1], WALL, run_of().id)
    assert [step["number"] for step in snapshot["steps"]] == [1, 2, 3, 4, 5, 6, 7]
    assert [step.get("news") for step in snapshot["steps"][2:]] == ["new", *["known"] * 4]
    assert snapshot["steps"][-1]["span_id"] == snapshot["trip"]["span_id"] == span(7).hex()
    assert {step["arguments"] for step in snapshot["steps"][2:]} == {"a" * 16}
    assert sum(step.get("cost_usd", 0.0) for step in snapshot["steps"]) == snapshot["totals"]["cost_usd"]
    assert snapshot["policy"]["version"] == version_of(Policy())
    assert snapshot["policy"]["limits"]["repeat"]["equal"] == snapshot["trip"]["limit"] == 5
    assert (snapshot["who"]["agent"], snapshot["complete"]) == ("planner", True)


def test_a_run_that_a_person_stopped_has_one_too() -> None:
    host = Host()
    host.tell(model(1))
    host.order(OrderKind.KILL, run_of())

    snapshot = host.snapshot(host.kept("trip")[0].id)

    check(snapshot)
    assert snapshot is not None
    assert snapshot["trip"]["detector"] == "operator"


def test_contents_are_in_it_only_where_they_were_captured() -> None:
    span_ = RawSpan(trace(1), span(1), b"", "chat", 1, 2, {"gen_ai.input.messages": "h\ud800i\x00"})
    host, silent = Host(capture_bytes=100), Host()
    for each in (host, silent):
        each.journal.look(span_)
        each.loop()

    seen, unseen = host.snapshot(host.ids[-1]), silent.snapshot(silent.ids[-1])

    check(seen)
    assert seen is not None
    assert unseen is not None
    assert all(step["content"] == {"input": "h\ud800i?"} for step in seen["steps"])
    assert not any("content" in step for step in unseen["steps"])


def test_of_a_long_run_it_has_the_latest_steps() -> None:
    host = Host()
    host.tell(*(ended(number, prints=None) for number in range(100, 101 + MOST_STEPS)))
    host.order(OrderKind.KILL, run_of())

    snapshot = host.snapshot(host.kept("trip")[0].id)

    check(snapshot)
    assert snapshot is not None
    assert (len(snapshot["steps"]), snapshot["complete"]) == (MOST_STEPS, False)
    assert snapshot["steps"][-1]["number"] == MOST_STEPS + 1


def test_a_warning_and_a_stop_that_is_only_said_have_none() -> None:
    host = Host(Policy(mode=Mode.SHADOW))
    host.loop()

    assert [host.snapshot(name) for name in host.ids] == [None, None]


def test_none_is_made_where_none_is_asked_for() -> None:
    host = Host(snapshots=False)
    host.loop()

    assert host.snapshot(host.ids[-1]) is None


def test_it_is_made_when_the_steps_are_kept_that_came_before() -> None:
    host, told = Host(), list[int]()

    def make(steps: Any) -> SnapshotRow:
        told.append(len(steps))
        return SnapshotRow("event-1", WALL)

    rows = [StepRow("ab" * 16, f"{number:016x}", WALL, run="r") for number in range(1_200)]
    host.writer.steps(rows)
    host.writer.snapshots([Wanted("r", 0.0, 2 * WALL, 10_000, make)])
    host.writer.steps([row._replace(trace_id="cd" * 16) for row in rows])

    assert host.writer.flush(SOON)
    assert len(told) == 1
    assert told[0] >= 1_200


def test_one_that_cannot_be_made_costs_no_other() -> None:
    host = Host()

    def fail(steps: Any) -> SnapshotRow:
        raise KeyError("a fault of ours")

    wanted = Wanted("r", 0.0, WALL, 10, lambda steps: SnapshotRow("event-1", WALL, body=json.dumps({})))
    host.writer.snapshots([wanted._replace(make=fail), wanted])

    assert host.writer.flush(SOON)
    assert host.store.snapshot("event-1")
    assert host.writer.by_kind()["snapshots"] == (0, 1, 0, 1)
    with pytest.raises(KeyError):
        raise host.faults[0]


def test_the_page_on_snapshots_names_every_field_and_shows_one_that_is_right() -> None:
    page = (ROOT / "docs" / "snapshot.md").read_text(encoding="utf-8")
    fields = schema()["properties"]
    named = [*fields, *fields["steps"]["items"]["properties"], *fields["totals"]["properties"]]

    assert [name for name in named if f"`{name}`" not in page] == []
    check(json.loads(page.partition("```json")[2].partition("```")[0]))
