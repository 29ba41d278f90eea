"""Supervisors, and the agents that they hand over to again and again: who finds something goes on."""

from __future__ import annotations

import pytest
from tests.engine.detectors.watching import Watch

TASKS = (
    "login page|payment form|user table|search index|export job|mail queue|audit log|rate limit|cache|menu"
).split("|")


def handed(finds: bool, rounds: int = 60, tool: str = "transfer_to_coder", worded: bool = False) -> Watch:
    """A supervisor hands over, and the coder looks at something: at the next file, or at one and the same."""
    watch = Watch()
    for n in range(rounds):
        watch.model({"round": n}, f"answer {n}", agents=("supervisor",), parent=7)
        task = {"task": f"please build the {TASKS[n % 10]} of the shop, and test it"} if worded else {}
        watch.tool(tool, task, "Successfully transferred to coder", agents=("supervisor",), parent=7)
        file = n if finds else 0
        watch.tool("read", {"file": file}, f"text {file}", agents=("supervisor", "coder"), parent=8)
    return watch


OVER = ("transfer_to_coder", "delegate", "handoff_to_agent", "transfer_back_to_coder", "hand_off_to_coder")


@pytest.mark.parametrize("tool", OVER)
class TestASupervisor:
    def test_whose_coder_finds_new_things_is_never_stopped(self, tool: str) -> None:
        assert handed(True, tool=tool).stopped is None

    def test_whose_coder_finds_none_is(self, tool: str) -> None:
        assert handed(False, tool=tool).stopped is not None

    def test_who_words_each_task_alike_is_not_either(self, tool: str) -> None:
        assert handed(True, tool=tool, worded=True).stopped is None


def alone(finds: bool, rounds: int = 60) -> Watch:
    """The same where nothing tells whose call is whose: all are below one span."""
    watch = Watch()
    for n in range(rounds):
        watch.tool("transfer_to_coder", {}, "Successfully transferred to coder")
        watch.tool("read", {"file": n if finds else 0}, f"text {n if finds else 0}")
    return watch


def test_it_is_the_same_in_one_lane() -> None:
    assert alone(True).findings == []
    assert alone(False).stopped == 9


def launched(finds: bool, rounds: int = 60) -> Watch:
    """The same task goes to a helper again and again."""
    watch = Watch()
    for n in range(rounds):
        file = n if finds else 0
        watch.tool("read", {"file": file}, f"text {file}", agents=("main", "helper"), parent=8)
        watch.agent("helper", "go on with the next file", parent=7)
    return watch


def test_a_helper_that_does_new_work_may_be_told_the_same() -> None:
    assert launched(True).findings == []


def test_but_not_one_that_does_none() -> None:
    assert launched(False).stopped is not None


def drafted(new: bool, tokens: int, rounds: int = 10) -> Watch:
    """A supervisor lets one write and another review in turn, by tools that say no more than that it did."""
    watch = Watch()
    for n in range(rounds):
        for who in ("writer", "critic"):
            done = f"Successfully transferred to {who}"
            watch.tool(f"transfer_to_{who}", {}, done, agents=("main",), parent=7)
            text = f"{who} writes about {TASKS[n]}, as the {who} should" if new else f"{who} adds nothing"
            watch.model({"n": n}, text, tokens=(900, tokens), agents=("main", who), parent=8)
    return watch


WRITERS = [(True, 200, False), (False, 200, True), (True, 10, True)]


@pytest.mark.parametrize(("new", "tokens", "stops"), WRITERS)
def test_what_is_written_at_length_is_found(new: bool, tokens: int, stops: bool) -> None:
    assert (drafted(new, tokens).stopped is not None) is stops


def fixing(finds: bool, rounds: int = 20) -> Watch:
    """Helpers edit, each in another way, and the one that starts them runs the tests, which still fail."""
    watch = Watch()
    for n in range(rounds):
        text = f"x = {n if finds else 0}"
        watch.tool("edit_file", {"text": text}, f"wrote {text}", agents=("main", "fixer"), parent=8)
        watch.agent("fixer", f"try {TASKS[n % 10]}", agents=("main",), parent=7)
        watch.tool("run_tests", {}, "1 failed: assert f() == 3", agents=("main",), parent=7)
    return watch


def test_tests_between_edits_of_a_helper_are_no_repeat() -> None:
    assert fixing(True).stopped is None
    assert fixing(False).stopped is not None
