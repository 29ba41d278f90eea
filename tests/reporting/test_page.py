"""The page about a run or a stretch of time."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from tests.reporting.rows import RUN, START, event, material, steps

from spanfuse_processor.reporting import Material, page


class _Reader(HTMLParser):
    """What a browser would make of a page: its tags, and the text outside of style."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href")]

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] != ["style"]:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)


def read(made: Material) -> _Reader:
    return _Reader(page(made))


def test_it_says_what_it_cost_and_why_it_was_stopped_first() -> None:
    trip = event(
        "trip",
        START + 10.5,
        detector="repeat",
        rule="equal",
        message="search was called 5 times",
        observed=5,
        limit=5,
        call=10,
        cleared_by="another result",
    )

    text = read(material(steps(20), [trip])).text

    head = text[: text.index("Calls")]
    for said in ("20", "$0.10", "Stopped at", "repeat.equal", "search was called 5 times", "another result"):
        assert said in head
    assert "$0.05" in head  # five of the ten calls that cost something came after the stop


def test_nothing_is_fetched_and_nothing_runs() -> None:
    made = read(material(steps(6), [event("warn", START + 3, message="m")]))

    assert "script" not in made.tags
    assert made.addresses == []
    assert "http" not in page(material(steps(6), [])).replace("http-equiv", "")


def test_what_applications_wrote_stays_text() -> None:
    hostile = '<script>alert(1)</script> "&\x00\x1b[2J\ud800'
    rows = [
        row._replace(agent=hostile, tool=row.tool and hostile, error=hostile, failed=True) for row in steps(4)
    ]

    made = read(material(rows, [event("trip", START + 4, message=hostile, detector=hostile)]))

    assert "script" not in made.tags
    assert "<script>alert(1)</script>" in made.text
    assert not re.search("[\x00-\x08\x1b]", page(material(rows, [])))


def test_a_run_without_a_stop_says_that_there_was_none() -> None:
    assert "Nothing was stopped" in read(material(steps(4), [])).text


def test_a_stop_that_was_only_told_is_no_stop() -> None:
    text = read(material(steps(4), [event("withheld", START + 2, message="m")])).text

    assert "only told" in text
    assert "spent after the stop" not in text


def test_a_page_without_calls_says_so() -> None:
    text = read(Material("", START, START + 60, [], [], START)).text

    assert "No call is on record" in text


def test_a_day_lists_runs_dearest_first() -> None:
    rows = steps(4, "cheap", cost=1) + steps(4, "dear", cost=500_000)
    rows.sort(key=lambda row: row.ended)

    text = read(material(rows, [event("trip", START + 4, run="dear", message="m")], run="")).text

    listed = text[text.index("Runs, dearest first") :]
    assert listed.index("dear ") < listed.index("cheap ")
    assert "stopped" in listed


def test_pages_are_bounded_and_say_what_they_leave_out() -> None:
    rows = [row for run in range(150) for row in steps(20, f"run-{run}", START + run)]
    rows.sort(key=lambda row: row.ended)
    many = [event("warn", START + place, message="m") for place in range(1_000)]

    made = page(material(rows, many, run=""))

    assert len(made) < 600_000
    for said in (
        "700 more events are left out",
        "50 more runs are left out",
        "126 more runs, the cheapest, are not drawn",
    ):
        assert said in made


def test_a_long_run_shows_its_first_and_its_last_calls() -> None:
    made = page(material(steps(5_000), []))

    assert len(made) < 400_000
    assert "call 1: " in made and "call 5000: " in made and "call 2500: " not in made
    assert "4,500 more calls, those in the middle, are left out" in made


def test_both_drawings_have_one_axis_of_time() -> None:
    made = page(material(steps(40), [event("trip", START + 20.5, detector="repeat")]))

    stops = re.findall(r'<line x1="([\d.]+)" y1="[\d.]+" x2="\1" y2="[\d.]+" class="stop"', made)
    assert len(stops) == 2
    assert len(set(stops)) == 1


def test_run_that_is_named_is_the_title() -> None:
    assert f"<h1>run {RUN}</h1>" in page(material(steps(2), []))
