"""The run of a whole process: named from outside, handed to child processes."""

from __future__ import annotations

import os

import pytest
from tests.library.making import ask
from tests.library.programs import run_program

import spanfuse
from spanfuse import process
from spanfuse.settings import Settings
from spanfuse.testing import Session
from spanfuse_processor.engine import names


def named(session: Session, **settings: str) -> None:
    session.live.settings = Settings(**settings)  # type: ignore[arg-type]
    process.enter(session.live)


def test_a_named_process_is_one_run_under_one_root(session: Session) -> None:
    named(session, run_name="nightly", feature="reports")
    ask()
    ask()
    process.leave()

    first, second, root = session.spans
    assert root.name == "invoke_workflow nightly"
    assert {span.attributes[names.RUN] for span in session.spans} == {root.attributes[names.RUN]}
    assert first.parent_span_id == second.parent_span_id == root.span_id
    assert first.attributes[names.FEATURE] == "reports"


def test_a_run_inside_it_is_its_part(session: Session) -> None:
    named(session, run_id="p1")

    with spanfuse.run(agent="planner") as run:
        assert run.id == "p1"
    process.leave()

    assert spanfuse.current_run() is None


def test_a_process_that_nobody_named_is_no_run(session: Session) -> None:
    named(session)
    ask()
    ask()

    first, second = (span.attributes[names.RUN] for span in session.spans)
    assert first != second


def test_a_child_process_is_a_part_of_the_run_that_started_it(session: Session) -> None:
    with spanfuse.run(run_id="r1", agent="planner", user="u 1") as run:
        handed = spanfuse.environment()
        told = run_program(
            """
import spanfuse.auto
host = listen()
ask()
span = host.ended[0]
tell(trace=span.trace_id.hex(), parent=span.parent_span_id.hex(), run=span.attributes[names.RUN],
     user=span.attributes[names.USER], path=span.attributes[names.AGENT_PATH])
""",
            **handed,
        )

    root = session.spans[0]
    assert set(handed) >= {"TRACEPARENT", "BAGGAGE"}
    assert told == [
        {
            "trace": root.trace_id.hex(),
            "parent": root.span_id.hex(),
            "run": run.id,
            "user": "u 1",
            "path": "planner",
        }
    ]


def test_outside_of_a_run_nothing_is_handed_over(session: Session) -> None:
    assert spanfuse.environment() == {}


def test_a_stop_reaches_what_a_child_process_asks_for(
    judging: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run's id travels, so that one directive stops it everywhere."""
    with spanfuse.run(run_id="r1"):
        for name, value in spanfuse.environment().items():
            monkeypatch.setenv(name, value)
    process.enter(judging.live)
    judging.trip("r1")

    with pytest.raises(spanfuse.BreakerOpen):
        ask()
    assert "r1" in os.environ["BAGGAGE"]
