"""Twins: runs of nearly the same shape, one stuck and one honest; what tells them apart tells the engine.

Two pairs differ by nothing that content shows, only by what comes of them in the end: there neither is
stopped, and budgets are what is left. All detectors are on, as policy has them by default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.engine.making import NOON, SECOND, Book, ended

from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.fingerprint import UNKNOWN, Fingerprinter
from spanfuse_processor.engine.nouns import Kind, Usage
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.verdicts import Severity, Verdict

PRINTS = Fingerprinter()


class Run:
    """One agent at work, told to an engine call by call."""

    def __init__(self) -> None:
        self.engine = Engine(Policy(), Book())
        self.now = 0.0
        self.calls = 0
        self.said: list[Verdict] = []

    def model(self, answer: str = "", *, after: float = 3.0, error: str = "", tokens: int = 0) -> None:
        """A model was asked: its request grows from turn to turn. It answered `after` so many seconds."""
        usage = None if error else Usage(tokens or 6_000 + 250 * self.calls, 120)
        self._tell(Kind.MODEL, "gpt-4o", f"turn {self.calls}", answer or UNKNOWN, after, error, usage=usage)

    def tool(self, name: str, asked: object, came: object = UNKNOWN, **more: Any) -> None:
        """A tool was called; `error` is how it failed, `after` so many seconds."""
        after, error = more.pop("after", 2.0), more.pop("error", "")
        self._tell(Kind.TOOL, name, asked, came, after, error, **more)

    def agent(self, name: str, task: object, came: object = UNKNOWN, *, after: float = 2.0) -> None:
        """An agent was started, and brought something."""
        self._tell(Kind.AGENT, name, task, came, after, "")

    def _tell(
        self, kind: Kind, name: str, asked: object, came: object, after: float, error: str, **more: Any
    ) -> None:
        self.calls += 1
        start, self.now = self.now, self.now + after
        event = ended(
            self.calls + 1, 1, kind, name=name, error="Failed" if error else "",
            started_ns=NOON + int(start * SECOND), ended_ns=NOON + int(self.now * SECOND),
            prints=PRINTS.fingerprints(asked, came, "Failed" if error else "", error), **more,
        )  # fmt: skip
        self.said += self.engine.observe(event, self.now)

    @property
    def stopped(self) -> int | None:
        """At which call it was stopped."""
        found = (verdict.finding for verdict in self.said if verdict.finding is not None)
        return next((each.call for each in found if each.severity is Severity.STOP), None)


def silent_poll(run: Run, polls: int) -> None:
    """A look at a process, each time with a model in between."""
    for _ in range(polls):
        run.model(after=2.8)
        run.tool("process", {"action": "log", "session": "s1"}, "no new output", after=1.9, effect="wait")


def eight_polls(run: Run) -> None:
    silent_poll(run, 8)
    run.tool("process", {"action": "log", "session": "s1"}, "exit code 0", effect="wait")


def distinct_reads(run: Run, files: int) -> None:
    for file in range(files):
        run.model()
        run.tool("read_file", {"path": f"/repo/{file}.py"}, f"text of file {file}")


def reads_and_an_edit(run: Run) -> None:
    distinct_reads(run, 24)
    run.tool("edit", {"path": "/repo/1.py", "patch": "x"}, "ok")


def pages(run: Run, count: int, sweeps: int = 1) -> None:
    for _ in range(sweeps):
        for page in range(count):
            run.model()
            run.tool("read_file", {"path": "/out", "offset": 200 * page}, f"page {page} of the output")


def empty_pages(run: Run) -> None:
    for page in range(40):
        run.tool("places_search", {"q": "town", "page_token": f"t{page * 7919}"}, {"results": []}, after=0.5)


def full_pages(run: Run) -> None:
    for page in range(125):
        run.tool("list_blocks", {"cursor": f"c{page * 7919}"}, f"items of page {page}", after=0.5)


def research(run: Run, topics: int) -> None:
    words = "amber birch cedar delta ember fjord grove heath inlet jetty knoll ledge marsh nadir".split()
    for topic in range(topics):
        word = f"{words[topic % 14]} {words[topic * 9 % 14]} {topic}"
        run.tool("web_search", {"q": f"topic {word}"}, f"links about {word}")
        run.model()
        run.tool("web_fetch", {"url": f"https://{words[topic % 14]}.org/{topic}"}, f"a page about {word}")
        run.model()


def failing_edits(run: Run) -> None:
    """Read, an edit that misses, a test that is red."""
    for _ in range(10):
        run.tool("read_file", {"path": "a.py"}, "text of a")
        run.tool("edit", {"old": "x", "new": "y"}, error="the old text is not in the file")
        run.tool("bash", {"command": "npm test"}, error="3 failing")


def edits_and_tests(run: Run) -> None:
    for left in range(9, 0, -1):
        run.model()
        run.tool("edit", {"path": f"f{left % 3}", "patch": f"p{left}"}, "ok")
        run.model()
        run.tool("bash", {"command": "npm test"}, error=f"{left} failing")


def one_error(run: Run) -> None:
    for attempt in range(85):
        run.model()
        run.tool(
            "handoff", {"note": f"wording {chr(97 + attempt % 26)}"}, error="missing parameter: agent_name"
        )


def three_reasons(run: Run) -> None:
    for reason in ("no such flight", "the date has passed", "the seat is taken"):
        run.model()
        run.tool("book", {"flight": reason}, error=reason)
    run.tool("book", {"flight": "LH 400"}, "booked")


def same_two_fields(run: Run) -> None:
    """Each try brings back the field that the one before left out."""
    for attempt in range(40):
        run.model()
        field = ("title", "owner")[attempt % 2]
        run.tool("create_issue", {"draft": attempt}, error=f"missing parameter: {field}")


def field_by_field(run: Run) -> None:
    for field in "title owner labels milestone project sprint component severity platform reporter".split():
        run.model()
        run.tool("create_issue", {"all up to": field}, error=f"missing parameter: {field}")
    run.tool("create_issue", {"all": "fields"}, "issue 7")


def poll_a_state(run: Run, polls: int, gap: float) -> None:
    """A tool whose name does not say that it waits."""
    for _ in range(polls):
        run.tool("get_report", {"id": 7}, {"state": "running"}, after=gap, effect="read")


def denied_again(run: Run) -> None:
    for attempt in range(20):
        run.model()
        run.tool("merge", {"wording": chr(97 + attempt)}, error="permission denied")


def denied_reads(run: Run) -> None:
    """A crawler meets sites that refuse it, all in the same words."""
    for site in range(20):
        run.model()
        run.tool("fetch", {"url": f"https://{chr(97 + site)}.org"}, error="HTTP 403", effect="read")


def refused_at_once(run: Run) -> None:
    for _ in range(175):
        run.model(error="429 too many requests", after=0.03)


def refused_with_patience(run: Run) -> None:
    for gap in (1, 4, 16, 30, 30):
        run.model(error="429 too many requests", after=gap)
    run.model("at last")


def equal_batches(run: Run) -> None:
    """Six helpers, and then the same six again."""
    for _ in range(4):
        for part in range(6):
            run.agent("reviewer", {"task": f"review part {part}"}, after=0.1)
        run.model()


def three_samples(run: Run) -> None:
    for sample in range(3):
        run.agent("estimator", {"task": "estimate the effort"}, f"{sample + 4} days", after=0.1)
    run.model("about five days")


def goes_on_after_a_lock(run: Run) -> None:
    for item in range(34):
        came = "done" if item < 22 else {"status": "error", "code": 403, "message": "locked"}
        run.tool("regenerate", {"item": item}, came, after=60.0, effect="send")


def one_overload_in_many(run: Run) -> None:
    for mail in range(250):
        if mail in (100, 101):
            run.model(error="overloaded", after=30.0)
        run.model(tokens=2_000)
        run.tool("label", {"id": f"m{mail}"}, "ok", after=0.5)


def clicks_without_effect(run: Run) -> None:
    for _ in range(12):
        run.model()
        run.tool("click", {"role": "button", "name": "Send"}, "clicked; the page is as it was")


def next_months(run: Run) -> None:
    for month in range(8):
        run.model()
        run.tool("click", {"role": "button", "name": "Next month"}, f"the page shows month {month}")


def job(run: Run, ticks: int, gap: float) -> None:
    for _ in range(ticks):
        run.now += gap
        run.tool("append_log", {"line": "hourly check"}, "ok")


TWINS: dict[str, tuple[Callable[[Run], None], Callable[[Run], None], range]] = {
    "a poll": (lambda run: silent_poll(run, 200), eight_polls, range(55, 65)),
    "reading": (lambda run: pages(run, 6, sweeps=5), lambda run: pages(run, 5), range(26, 38)),
    "pages": (empty_pages, full_pages, range(7, 10)),
    "edits": (failing_edits, edits_and_tests, range(7, 10)),
    "failures": (one_error, three_reasons, range(10, 11)),
    "validation": (same_two_fields, field_by_field, range(12, 15)),
    "a state": (
        lambda run: poll_a_state(run, 60, 2.0),
        lambda run: poll_a_state(run, 10, 8.0),
        range(30, 31),
    ),
    "a denial": (denied_again, denied_reads, range(8, 9)),
    "refusals": (refused_at_once, refused_with_patience, range(8, 12)),
    "helpers": (equal_batches, three_samples, range(15, 28)),
    "errors in a batch": (goes_on_after_a_lock, one_overload_in_many, range(25, 28)),
    "clicks": (clicks_without_effect, next_months, range(8, 13)),
    "a schedule": (lambda run: job(run, 24, 60.0), lambda run: job(run, 24, 3_600.0), range(4, 6)),
}

ALIKE: dict[str, tuple[Callable[[Run], None], Callable[[Run], None]]] = {
    "reads": (lambda run: distinct_reads(run, 50), reads_and_an_edit),
    "research": (lambda run: research(run, 50), lambda run: research(run, 6)),
}


@pytest.mark.parametrize("name", TWINS)
def test_of_twins_the_stuck_one_is_stopped_in_time(name: str) -> None:
    stuck, _, due = TWINS[name]
    run = Run()

    stuck(run)

    assert run.stopped in due


@pytest.mark.parametrize("name", TWINS)
def test_of_twins_the_honest_one_is_not_stopped(name: str) -> None:
    _, honest, _ = TWINS[name]
    run = Run()

    honest(run)

    assert run.stopped is None


@pytest.mark.parametrize("name", ALIKE)
def test_where_content_shows_no_difference_neither_is_stopped(name: str) -> None:
    for story in ALIKE[name]:
        run = Run()

        story(run)

        assert run.stopped is None
