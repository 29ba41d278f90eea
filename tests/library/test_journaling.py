"""An application that judges itself records what happens, and neither waits for that nor fails by it."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.library.examples import failed_tool
from tests.library.recordings import RUN, SOON, Recording, events, kept
from tests.waiting import until

from spanfuse.board import Board
from spanfuse.errors import BreakerOpen
from spanfuse.hosts.embedded import EmbeddedHost
from spanfuse.settings import Settings
from spanfuse_processor.engine import NoPrices, Policy
from spanfuse_processor.engine.budget import Budget, Measure
from spanfuse_processor.engine.verdicts import Mode
from spanfuse_processor.store import FOR_EVER


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "record.db"


@pytest.fixture(autouse=True)
def _stopped() -> Iterator[None]:
    yield
    for each in Recording.made:
        each.host.stop(0.1)
    Recording.made.clear()


def test_steps_a_trip_its_effect_and_its_snapshot_are_recorded(file: Path) -> None:
    application = Recording(file)
    application.loop()
    until(lambda: file.exists() and events(file, "effect"), SOON)
    application.stop()

    store = kept(file)
    (trip,) = store.events(0.0, FOR_EVER, ["trip"])
    steps, snapshot = store.steps(run="r"), store.snapshot(trip.id)
    store.close()
    assert len(steps) == 8
    assert [step.number for step in steps] == list(range(1, 9))
    body = json.loads(trip.body)
    assert (trip.run, body["issuer"], body["mode"], body["action"]) == ("r", "embedded", "enforce", "stop")
    assert snapshot is not None
    assert len(json.loads(snapshot.body)["steps"]) >= body["call"]
    (effect,) = events(file, "effect")
    assert json.loads(effect.body)["trip"] == trip.id
    assert json.loads(effect.body)["kill_latency_ms"] > 0.0
    assert (application.host.stats().unkept, application.host.stats().lost) == (0, 0)


def test_what_was_only_due_and_what_was_ordered_is_recorded_as_that(file: Path) -> None:
    application = Recording(file, mode=Mode.SHADOW)
    application.loop()
    assert application.host.kill(RUN, "enough")
    assert application.host.release(RUN)
    assert not application.host.release(RUN)
    application.stop()

    assert [row.kind for row in events(file, "withheld", "order", "release")].count("order") == 3
    assert [row.kind for row in events(file, "withheld")] == ["withheld"]
    done = [json.loads(row.body)["done"] for row in events(file, "order")]
    assert done == [True, True, False]
    released = [json.loads(row.body) for row in events(file, "release")]
    assert [each["action"] for each in released] == ["release"]


def test_what_is_told_of_a_budget_is_recorded_with_its_call(file: Path) -> None:
    application = Recording(file, budgets=(Budget("calls", 4, Measure.CALLS),))
    application.loop(6)
    application.stop()

    rows = events(file, "budget")
    assert {json.loads(row.body)["budget"] for row in rows} == {"calls"}
    assert rows[-1].run == "r"


def test_the_file_is_the_users_alone(file: Path) -> None:
    application = Recording(file)
    application.loop(1)
    application.stop()

    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_money_and_the_record_share_a_writer_where_they_share_a_store(file: Path) -> None:
    budgets = (Budget("calls", 100, Measure.CALLS),)
    settings = Settings(policy=Policy(budgets=budgets), store=str(file), journal=str(file))
    host = EmbeddedHost(settings, Board(), NoPrices())
    host.start()
    for _ in range(3):
        host.span_ended(failed_tool())
    host.stop()

    assert host._keeping._writer is host._journaling.writer
    store = kept(file)
    assert len(store.steps()) == 3
    assert store.load_ledger().dump is not None
    store.close()


def test_a_refusal_is_an_effect_that_is_recorded(file: Path) -> None:
    application = Recording(file)
    application.loop()
    directive = application.board.standing([RUN])
    assert directive is not None
    application.board.ledger.add(directive, refused=3)
    application.stop()

    said = [json.loads(row.body) for row in events(file, "effect")]
    assert said[-1]["calls_refused"] == 3
    assert str(BreakerOpen(directive))
