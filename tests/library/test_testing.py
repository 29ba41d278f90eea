"""What is shipped for other people's tests."""

from __future__ import annotations

import pytest
from tests.library.making import ask

import spanfuse
from spanfuse import runtime
from spanfuse.errors import BreakerOpen
from spanfuse.testing import spanfuse_session, trip
from spanfuse_processor.engine.nouns import BreakerKey, Level


def test_a_session_shows_what_was_called() -> None:
    @spanfuse.tool
    def search(query: str) -> str:
        return query

    with spanfuse_session() as session:
        with spanfuse.run(agent="planner"):
            ask()
            search("x")

        assert session.calls("execute_tool") == ["search"]
        assert session.calls("chat") == ["gpt-4o-mini"]
        assert session.calls("invoke_agent") == ["planner"]


def test_a_trip_stops_the_run() -> None:
    with spanfuse_session(patch=False), spanfuse.run() as run:
        ask()
        order = trip(run.id, "LOOP")
        with pytest.raises(BreakerOpen) as caught:
            ask()

    assert caught.value.directive == order
    assert caught.value.reason == "LOOP"


def test_a_session_puts_back_what_was_live() -> None:
    with spanfuse_session(patch=False) as outer:
        with spanfuse_session(patch=False) as inner:
            assert runtime.live() is inner.live
        assert runtime.live() is outer.live
    assert runtime.live() is None


def test_a_fake_host_kills_and_releases() -> None:
    with spanfuse_session(patch=False) as session, spanfuse.run() as run:
        key = BreakerKey(Level.RUN, run.id)
        assert spanfuse.kill(run.id)
        assert session.fake is not None
        assert session.fake.release(key)
        assert not session.fake.release(key)
        ask()


def test_without_instrumentation_there_is_nothing_to_trip() -> None:
    with pytest.raises(RuntimeError, match="spanfuse_session"):
        trip("r1")
