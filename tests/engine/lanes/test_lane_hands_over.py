"""Hand-overs: what a call brings that hands over, or follows one that did, is what others found meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.making import ended

from spanfuse_processor.engine.calls import News
from spanfuse_processor.engine.lanes.lane import Lane
from spanfuse_processor.engine.nouns import Fingerprints, Kind


def tool(lane: Lane, at: int, *, name: str = "read", effect: str = "exec", found: int = 0) -> News:
    """A tool was called at `at` nanoseconds, when the run had `found` so much that was new."""
    event = ended(at, name=name, started_ns=at, ended_ns=at, prints=Fingerprints("a", "a", "r", "r"))
    return lane.take(event, effect, False, found)


@pytest.mark.parametrize(
    ("name", "effect"), [("transfer_to_coder", ""), ("start", "spawn"), ("delegate", "spawn")]
)
def test_they_are_new_when_something_was_found_since(name: str, effect: str) -> None:
    lane = Lane("main")

    news = [tool(lane, at, name=name, effect=effect, found=at) for at in range(1, 9)]

    assert set(news) == {News.NEW}


def test_they_are_known_when_nothing_was() -> None:
    lane = Lane("main")
    over: dict[str, Any] = {"name": "transfer_to_coder", "effect": "exec"}

    news = [tool(lane, at, found=found, **over) for at, found in enumerate((3, 3, 4, 4), 1)]

    assert news == [News.NEW, News.KNOWN, News.NEW, News.KNOWN]


def test_what_follows_one_is_new_too() -> None:
    lane = Lane("main")
    tool(lane, 1, effect="exec")
    tool(lane, 2, name="transfer_to_coder", effect="exec")

    assert tool(lane, 3, effect="exec", found=1) is News.NEW


def test_what_follows_anything_else_is_not() -> None:
    lane = Lane("main")
    tool(lane, 1, effect="exec")

    assert tool(lane, 2, effect="exec", found=1) is News.KNOWN


def test_a_hook_that_comes_back_while_helpers_find_something_is_new() -> None:
    lane = Lane("main")
    tool(lane, 1, name="start", effect="spawn")

    news = [tool(lane, at, name="stop_hook", found=found) for at, found in enumerate((1, 2, 2, 3), 2)]

    assert news == [News.NEW, News.NEW, News.KNOWN, News.NEW]


def test_a_hook_of_an_agent_that_started_nobody_is_known() -> None:
    lane = Lane("main")

    news = [tool(lane, at, name="stop_hook", found=at) for at in range(1, 4)]

    assert news == [News.NEW, News.KNOWN, News.KNOWN]


def test_an_agent_that_is_asked_the_same_is_new_while_it_finds_something() -> None:
    lane = Lane("main")
    event = ended(1, kind=Kind.AGENT, prints=Fingerprints("task", "task", "done", "done"))

    news = [lane.take(event, "spawn", False, found) for found in (0, 1, 1, 2)]

    assert news == [News.NEW, News.NEW, News.KNOWN, News.NEW]


def test_one_that_is_new_only_for_that_is_spared() -> None:
    lane = Lane("main")
    spared = []
    for at, found in enumerate((0, 1, 1), 1):
        tool(lane, at, name="delegate", effect="spawn", found=found)
        spared.append(lane.spared)

    assert spared == [False, True, False]
