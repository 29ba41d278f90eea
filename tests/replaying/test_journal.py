"""The journal of calls: what is kept of each, in which order, and what is let go when there are too many."""

from __future__ import annotations

from spanfuse_processor.engine import Call, CallEnded, Fingerprints, Kind
from spanfuse_processor.replaying.journal import Journal


def call(number: int, run: str = "r1", **more: object) -> tuple[Call, CallEnded]:
    """A tool's call that started at its number."""
    event = CallEnded(b"t" * 16, number.to_bytes(8), b"", number, Kind.TOOL, "search", ended_ns=number + 1)
    for name, value in more.items():
        setattr(event, name, value)
    return Call(event, run, number, 0, 0, (), True), event


def kept(journal: Journal) -> dict[str, list[int]]:
    """The numbers of the calls that are kept, by run."""
    runs = journal.by_run(lambda run: run)
    return {run: [step.number for step in calls.steps] for run, calls in runs.items()}


def test_calls_are_in_order_of_start_the_outer_first() -> None:
    journal = Journal(lambda run: True)

    journal.note(*call(3))
    journal.note(*call(2))
    journal.note(*call(1, ended_ns=9, started_ns=2))

    assert kept(journal) == {"r1": [1, 2, 3]}


def test_digests_are_kept_short_as_they_are_and_without_noise() -> None:
    journal = Journal(lambda run: True)
    prints = Fingerprints("a" * 16, "0123456789abcdef", "b" * 16, "fedcba9876543210", result_size=12)

    journal.note(*call(1, prints=prints))

    (step,) = journal.by_run(lambda run: run)["r1"].steps
    assert (step.asked, step.asked_masked) == ("aaaaaaaa", "01234567")
    assert (step.came, step.came_masked, step.size) == ("bbbbbbbb", "fedcba98", 12)


def test_runs_that_are_one_by_now_have_their_calls_together() -> None:
    journal = Journal(lambda run: True)

    journal.note(*call(1, "r1"))
    journal.note(*call(2, "r2"))

    assert [calls.tools for calls in journal.by_run(lambda run: "r1").values()] == [2]


def test_too_many_calls_are_forgotten_where_it_was_quiet_the_longest_unseen_first() -> None:
    journal = Journal(lambda run: run != "loud", most=8)

    for number, run in enumerate(["loud", "old", "new", "loud", "old", "new", "new", "old", "new"]):
        journal.note(*call(number, run))

    assert kept(journal) == {"loud": [0, 3], "old": [], "new": [2, 5, 6, 8]}
    assert journal.by_run(lambda run: run)["old"].forgotten == 3
    assert journal.by_run(lambda run: run)["old"].tools == 3


def test_where_all_are_loud_calls_are_forgotten_all_the_same() -> None:
    journal = Journal(lambda run: False, most=4)

    for number in range(5):
        journal.note(*call(number, f"r{number}"))

    assert sum(map(len, kept(journal).values())) == 3
