"""How a repeat is said."""

from __future__ import annotations

import pytest

from spanfuse_processor.engine.repeats.saying import Repeat
from spanfuse_processor.engine.repeats.sequence import Step


def step(name: str = "search", failed: bool = False) -> Step:
    return Step(1, 1, 1, 1, name, "", failed, b"", 0, 0)


@pytest.mark.parametrize(
    ("repeat", "steps", "reason", "message"),
    [
        (
            Repeat(1, 5, 3, 5),
            [step()] * 5,
            "LOOP",
            "search was called 5 times in a row with equal arguments and equal results",
        ),
        (
            Repeat(1, 4, 3, 4),
            [step(failed=True)] * 4,
            "RETRY_STORM",
            "search failed 4 times in a row with equal arguments and the same error",
        ),
        (
            Repeat(3, 9, 7, 9),
            [step(name) for name in "abcabcabc"],
            "LOOP",
            "a cycle of 3 calls (a, b, c) went round 3 times with equal results",
        ),
        (Repeat(0, 6, 6, 0), [step()] * 6, "LOOP", "the last 6 calls brought nothing new"),
    ],
    ids=["calls", "failures", "cycle", "stale"],
)
def test_it_names_tools_and_count(repeat: Repeat, steps: list[Step], reason: str, message: str) -> None:
    assert (repeat.reason(steps), repeat.message(steps)) == (reason, message)


def test_a_cycle_is_a_storm_only_when_every_call_of_it_failed() -> None:
    mixed = [step("a", failed=True), step("b")]

    assert Repeat(2, 8, 6, 8).reason(mixed * 4) == "LOOP"
    assert Repeat(2, 8, 6, 8).reason([step(failed=True)] * 8) == "RETRY_STORM"
