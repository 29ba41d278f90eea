"""Tails that bring nothing new: what a stuck agent does with its tools.

Rule 1: each is a function of an actor and returns the index of its onset, the first call that brings nothing
new. Rule 2: each goes on long enough for the most patient of all rules. It does not know what stops it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.accuracy.synthetic.actor import Actor, Made

CALLS = 36


def _repeat(actor: Actor, make: Callable[[int], Made], calls: int = CALLS, **more: Any) -> int:
    """The onset of calls of which the second brings nothing new."""
    return [actor.call(*make(number), **more) for number in range(calls)][1]


def _ring(actor: Actor, period: int) -> int:
    calls = [actor.call(*actor.look(number % period)) for number in range(max(CALLS, 4 * period))]
    return calls[period]


def identical(actor: Actor) -> int:
    """One call, one answer."""
    return _repeat(actor, lambda _: actor.look(0))


def identical_slow(actor: Actor) -> int:
    """One call, one answer, and a model that thinks for half a minute each time."""

    def one(_: int) -> Made:
        actor.wait(25.0)
        return actor.look(0)

    return _repeat(actor, one)


def a_b(actor: Actor) -> int:
    """Two calls in turn."""
    return _ring(actor, 2)


def a_b_c(actor: Actor) -> int:
    """Three calls in turn."""
    return _ring(actor, 3)


def period_7(actor: Actor) -> int:
    """Seven calls in turn."""
    return _ring(actor, 7)


def period_12(actor: Actor) -> int:
    """Twelve calls in turn."""
    return _ring(actor, 12)


def counter_in_arguments(actor: Actor) -> int:
    """The attempt is numbered, the answer is one."""
    tool, arguments, answer = actor.look(0)
    return _repeat(actor, lambda number: (tool, {**arguments, "attempt": number + 1}, answer))


def counter_in_result(actor: Actor) -> int:
    """The answer says how often it was given."""
    tool, arguments, answer = actor.look(0)
    return _repeat(actor, lambda number: (tool, arguments, f"{answer} (read {number + 1}x)"))


def ids_in_arguments(actor: Actor) -> int:
    """Every request has an id."""

    def one(_: int) -> Made:
        tool, arguments, answer = actor.look(0)
        return tool, {**arguments, "request_id": actor.token()}, answer

    return _repeat(actor, one)


def ids_in_results(actor: Actor) -> int:
    """Every answer has an id."""

    def one(_: int) -> Made:
        tool, arguments, answer = actor.look(0)
        return tool, arguments, json.dumps({"request_id": actor.token(), "data": answer})

    return _repeat(actor, one)


def ids_in_both(actor: Actor) -> int:
    """Every request has an id, and its answer repeats it."""

    def one(_: int) -> Made:
        tool, arguments, answer = actor.look(0)
        token = actor.token()
        return tool, {**arguments, "request_id": token}, json.dumps({"request_id": token, "data": answer})

    return _repeat(actor, one)


def timestamps_in_arguments(actor: Actor) -> int:
    """Every request says when it is made."""

    def one(_: int) -> Made:
        tool, arguments, answer = actor.look(0)
        return tool, {**arguments, "timestamp": actor.moment()}, answer

    return _repeat(actor, one)


def timestamps_in_results(actor: Actor) -> int:
    """Every answer says when it was made."""

    def one(_: int) -> Made:
        tool, arguments, answer = actor.look(0)
        return tool, arguments, json.dumps({"generated_at": actor.moment(), "data": answer})

    return _repeat(actor, one)


def timestamped_errors(actor: Actor) -> int:
    """One call fails in one way, each time at another time."""

    def one(number: int) -> Made:
        tool, arguments, _ = actor.look(0)
        return tool, arguments, f"{actor.moment()} ERROR worker-{number % 4}: no such record"

    return _repeat(actor, one, error=True)


def error_with_other_arguments(actor: Actor) -> int:
    """One tool fails in one way whatever it is asked; attempt, id and time differ too."""

    def one(number: int) -> Made:
        asked = {"query": actor.question(number), "attempt": number + 1, "request_id": actor.token()}
        return "update_record", asked, f"{actor.moment()} ValidationError: field 'owner' is required"

    return _repeat(actor, one, error=True)


def reworded_text(actor: Actor) -> int:
    """One call, one answer, and always other words before it."""
    calls = [actor.call(*actor.look(0), thought=actor.sentence(number)) for number in range(CALLS)]
    return calls[1]


def reworded_reason(actor: Actor) -> int:
    """A field of the arguments explains the call, in other words each time."""
    tool, arguments, answer = actor.look(0)
    return _repeat(actor, lambda number: (tool, {**arguments, "reason": actor.sentence(number)}, answer))


def reworded_arguments(actor: Actor) -> int:
    """A question is asked in other words each time, and has one long answer."""
    answer = f"Three documents mention {actor.world.topic}; none of them says more than that it exists."
    return _repeat(actor, lambda number: ("search_docs", {"query": actor.question(number)}, answer))


def drifting_results(actor: Actor) -> int:
    """Nearly the same is asked, and nearly the same comes back."""

    def one(number: int) -> Made:
        found = [f"{actor.world.topic}, part {part}: see section {part + number % 5}" for part in range(6)]
        return "search_docs", {"query": actor.question(number)}, "\n".join(found[: 5 + number % 2])

    return _repeat(actor, one)


def edit_applied_again(actor: Actor) -> int:
    """One edit is made over and over, and the file that comes back has grown by it."""
    edit = {"path": "src/app.py", "insert_after": "import os", "text": "import sys"}
    file = "import json\nimport os\n{}\n\ndef main():\n    print(json.dumps(dict(os.environ)))\n"
    return _repeat(actor, lambda number: ("insert_text", edit, file.format("import sys\n" * (number + 1))))


def growing_result(actor: Actor) -> int:
    """A file is read again and again, and has one more line of the same each time."""
    line = "warning: connection pool is empty, waiting for a free slot\n"
    asked = {"path": "var/app.log"}
    return _repeat(actor, lambda number: ("read_file", asked, "started worker\n" + line * (number + 5)))


def empty_pages(actor: Actor) -> int:
    """Fresh cursors over pages without anything."""

    def one(_: int) -> Made:
        return "list_events", {"cursor": actor.token()}, json.dumps({"events": [], "next": actor.token()})

    return _repeat(actor, one)


def fixed_and_undone(actor: Actor) -> int:
    """A change, a test that fails, the change undone, the test that fails: and again."""
    old, new = "return total / count", "return total / max(count, 1)"
    failed = (
        "FAILED tests/test_mean.py::test_empty - AssertionError: expected None, got 0\n1 failed, 4 passed"
    )
    calls = []
    for number in range(CALLS):
        before, after = (old, new) if number % 4 == 0 else (new, old)
        if number % 2:
            calls.append(actor.call("bash", {"command": "pytest tests/test_mean.py"}, failed))
        else:
            edit = {"path": "mean.py", "old": before, "new": after}
            calls.append(actor.call("str_replace", edit, "The file mean.py has been edited."))
    return calls[4]


def split_over_agents(actor: Actor) -> int:
    """One call and one answer, made in turn by two agents that do not know of each other."""
    calls = []
    for number in range(CALLS):
        actor.agent = ("north", "south")[number % 2]
        calls.append(actor.call(*actor.look(0)))
    return calls[1]


def ring_with_strangers(actor: Actor) -> int:
    """Three calls in turn, and after every four of them one that was never made before."""
    calls: list[int] = []
    for number in range(CALLS):
        calls.append(actor.call(*actor.look(number % 3)))
        if number % 4 == 3:
            tool, arguments, answer = actor.look(4)
            actor.call(tool, {**arguments, "section": actor.token()}, f"{answer} {actor.token()}")
    return calls[3]


def varied_waste(actor: Actor) -> int:
    """Work that is always another and leads nowhere: nothing in it ever comes back."""
    calls = []
    for number in range(CALLS):
        tool, arguments, answer = actor.look(number % 12)
        found = f"{answer} Note {actor.token()}: {actor.sentence(number)}"
        calls.append(actor.call(tool, {**arguments, "section": actor.token()}, found))
    return calls[0]
