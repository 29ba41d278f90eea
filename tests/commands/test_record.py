"""`spanfuse events`, `report` and `top`: the same from a running service and from the store that it keeps."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.processes import ADMIN_TOKEN, Processor, free_port
from tests.replaying.recorded import EPOCH, lines, looping
from tests.waiting import until

from spanfuse_processor.__main__ import main
from spanfuse_processor.storing import open_store

RUN = f"{0xB7:032x}"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processor]:
    """A service that has stopped a looping run and has it on record."""
    file = tmp_path_factory.mktemp("store") / "kept.db"
    service = Processor(environment={"SPANFUSE_STORE_PATH": str(file)})
    service.start()
    try:
        _fill(service, file)
        yield service
    finally:
        assert service.stop() == 0


def _fill(service: Processor, file: Path) -> None:
    """A looping run, judged and on record with its snapshot."""
    for line in lines(map(_of_late, looping(trace=0xB7))).splitlines():
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{service.http}/v1/traces", line.encode(), headers)
        urllib.request.urlopen(request, timeout=10).close()
    until(lambda: _snapshots(file), 10.0)


def _of_late(span: dict[str, Any]) -> dict[str, Any]:
    """A recorded span, ten minutes old."""
    later = int((time.time() - 600 - EPOCH) * 1e9)
    times = {name: str(int(span[name]) + later) for name in ("startTimeUnixNano", "endTimeUnixNano")}
    return span | times


def _snapshots(file: Path) -> bool:
    store = open_store(f"sqlite:{file}")
    try:
        trips = store.events(0.0, 1e11, ("trip",))
        return bool(trips) and store.snapshot(trips[0].id) is not None
    finally:
        store.close()


@pytest.fixture(params=["service", "store"])
def where(request: pytest.FixtureRequest, running: Processor, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Arguments that have a command look there."""
    monkeypatch.setenv("SPANFUSE_ADMIN_TOKEN", ADMIN_TOKEN)
    if request.param == "service":
        return ["--url", running.http]
    monkeypatch.setenv("SPANFUSE_LISTEN_HTTP_PORT", str(free_port()))
    return ["--store", running.environment["SPANFUSE_STORE_PATH"]]


def test_events_are_listed_with_what_tripped_and_why(where: list[str], capsys: Capture) -> None:
    assert main(["events", *where]) == 0

    heading, *rows = capsys.readouterr().out.splitlines()
    assert heading.split()[:2] == ["id", "time"]
    trip = next(row for row in rows if " trip " in row)
    assert "repeat" in trip
    assert "in a row with equal arguments" in trip


def test_events_may_be_chosen_by_kind_and_run(where: list[str], capsys: Capture) -> None:
    assert main(["events", "--kind", "trip", "--run", RUN, "--json", *where]) == 0

    (row,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (row["kind"], row["run"], row["body"]["detector"]) == ("trip", RUN, "repeat")


def test_one_event_is_shown_with_its_snapshot_by_the_beginning_of_its_id(
    where: list[str], capsys: Capture
) -> None:
    main(["events", "--kind", "trip", "--json", *where])
    name = json.loads(capsys.readouterr().out)["id"]

    assert main(["events", "show", name[:9], *where]) == 0
    text = capsys.readouterr().out
    assert main(["events", "show", name, "--json", *where]) == 0
    whole = json.loads(capsys.readouterr().out)

    assert text.startswith(f"trip {name}")
    assert "cleared_by" in text
    assert "snapshot: " in text
    assert [step["number"] for step in whole["snapshot"]["steps"]][:2] == [1, 2]


def test_an_event_that_is_not_there_is_said(where: list[str], capsys: Capture) -> None:
    assert main(["events", "show", "nothing-of-that-name", *where]) == 1
    assert "no event is called 'nothing-of-that-name'" in capsys.readouterr().err


def test_a_page_about_the_run_that_was_stopped_last(where: list[str], tmp_path: Path) -> None:
    file = tmp_path / "run.html"

    assert main(["report", str(file), "--run", "last", *where]) == 0

    page = file.read_text()
    assert f"run {RUN}" in page
    assert "Stopped at" in page and "repeat" in page
    assert list(tmp_path.iterdir()) == [file]


def test_a_page_about_the_last_hour(where: list[str], capsys: Capture) -> None:
    assert main(["report", "-", "--since", "1h", *where]) == 0

    page = capsys.readouterr().out
    assert "Runs, dearest first" in page
    assert RUN in page


def test_a_run_that_nobody_knows_makes_no_page(where: list[str], tmp_path: Path, capsys: Capture) -> None:
    assert main(["report", str(tmp_path / "x.html"), "--run", "nobody", *where]) == 1

    assert "nothing is on record of a run 'nobody'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_page_that_cannot_be_written_is_said(where: list[str], tmp_path: Path, capsys: Capture) -> None:
    assert main(["report", str(tmp_path / "no" / "x.html"), "--since", "1h", *where]) == 1
    assert "cannot be written" in capsys.readouterr().err


def test_top_shows_what_was_stopped_and_why(
    where: list[str], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")

    assert main(["top", "--once", *where]) == 0

    shown = capsys.readouterr().out
    assert "1 stopped" in shown
    assert "equal arguments" in shown
    assert "trip" in shown


def test_a_page_is_made_of_all_calls_however_many_are_read_at_once(
    where: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spanfuse_processor.commands.report.A_READING", 4)
    main(["report", str(tmp_path / "parts.html"), "--run", "last", *where])
    monkeypatch.undo()
    monkeypatch.setenv("SPANFUSE_ADMIN_TOKEN", ADMIN_TOKEN)
    main(["report", str(tmp_path / "whole.html"), "--run", "last", *where])

    parts, whole = ((tmp_path / name).read_text() for name in ("parts.html", "whole.html"))
    assert parts.split("Made by")[0] == whole.split("Made by")[0]
    assert "<b>18</b><span>calls</span>" in whole


def test_a_page_that_leaves_calls_out_says_so(
    where: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spanfuse_processor.commands.report.A_READING", 4)
    monkeypatch.setattr("spanfuse_processor.commands.report.MOST_STEPS", 8)

    main(["report", str(tmp_path / "part.html"), "--run", "last", *where])

    assert "There are more calls" in (tmp_path / "part.html").read_text()


@pytest.mark.parametrize("width", ["60", "80", "120", "200"])
def test_top_cuts_no_figure_short_however_narrow_it_is(
    width: str, where: list[str], capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)

    assert main(["top", "--once", *where]) == 0

    (line,) = (row for row in capsys.readouterr().out.splitlines() if " stopped " in row and "$" in row)
    assert "$0.032" in line
    assert "search" in line or width == "60"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["events", "tell", "x"], "write `events`, or `events show ID`"),
        (["events", "--kind", "crash"], "no kind is called 'crash'"),
        (["events", "--limit", "0"], "--limit is at least 1"),
        (["report", "x.html", "--since", "soon"], "no moment: 'soon'"),
        (["report", "x.html", "--since", "1h", "--until", "2h"], "nothing lies between them"),
    ],
)
def test_wrong_use_is_two(words: list[str], problem: str, capsys: Capture) -> None:
    assert main(words) == 2
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize("words", [["events"], ["report", "-"], ["top", "--once"]])
def test_without_a_service_and_without_a_store_both_are_named(
    words: list[str], capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("SPANFUSE_LISTEN_HTTP_PORT", str(free_port()))
    monkeypatch.setenv("SPANFUSE_ADMIN_TOKEN", "t")

    assert main(words) == 1

    said = capsys.readouterr().err
    assert "no service answers" in said and "there is no store at" in said
    assert list(tmp_path.rglob("*")) == []


def test_what_applications_kept_themselves_is_read_when_no_service_answers(
    running: Processor, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spanfuse").mkdir()
    source = open_store(f"sqlite:{running.environment['SPANFUSE_STORE_PATH']}")
    own = open_store(f"sqlite:{tmp_path / 'spanfuse' / 'embedded.db'}")
    own.append_events(source.events(0.0, 1e11))
    source.close(), own.close()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("SPANFUSE_LISTEN_HTTP_PORT", str(free_port()))
    monkeypatch.setenv("SPANFUSE_ADMIN_TOKEN", "t")

    assert main(["events", "--kind", "trip"]) == 0

    assert "repeat" in capsys.readouterr().out
