"""`spanfuse report FILE.html`: one page about a run or a stretch of time, to be kept or sent to somebody.

Rule 1: the page needs no network and no script. Rule 2: a file is written whole or not at all; one that is
there already is replaced. Rule 3: without `--run` it is about the last day.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from spanfuse_processor.commands.admin_client import AdminError
from spanfuse_processor.commands.money import add_place_arguments
from spanfuse_processor.commands.record import Record, record
from spanfuse_processor.moments import FAR, moment, stretch
from spanfuse_processor.reporting import Material, page
from spanfuse_processor.store import EventRow, StepRow

HELP = "Write one self-contained page about a run, or about a stretch of time: calls, cost, stops and why."
MOST_STEPS: Final = 200_000
"""Calls that a page is made of, at most: the latest."""
A_READING: Final = 10_000
"""Calls that are asked for at once."""
MOST_EVENTS: Final = 5_000
A_DAY: Final = "1d"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where to write, about what, and where to look."""
    add = parser.add_argument
    add("file", metavar="FILE.html", help="where the page is written; - is standard output")
    add("--run", default="", metavar="ID", help="about this run; `last` is the one that was stopped last")
    add("--since", default="", metavar="MOMENT", help="1d, 2h, 2026-05-28 ... (default: 1d before --until)")
    add("--until", default="now", metavar="MOMENT", help="likewise (default: now)")
    add_place_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Exit 0 when the page was written, 1 when there is nothing to write or nowhere to, 2 for wrong use."""
    now = time.time()
    try:
        until = moment(arguments.until, now)
        since = moment(arguments.since, now) if arguments.since else moment(A_DAY, until)
        stretch(str(since), str(until), now)
    except ValueError as error:
        return _complain(str(error), 2)
    try:
        with record(arguments) as kept:
            material = (
                _of_run(kept, arguments.run, now) if arguments.run else _of_time(kept, since, until, now)
            )
    except AdminError as error:
        return _complain(str(error), 1)
    return _write(arguments.file, page(material))


def _of_run(kept: Record, name: str, now: float) -> Material:
    if name == "last":
        stops = kept.events(0.0, FAR, ("trip",), 1)
        if not stops:
            raise AdminError("no run was ever stopped, as far as is on record")
        name = stops[0].run
    steps, complete = _steps(kept, 0.0, FAR, name)
    events = list(kept.events(0.0, FAR, (), MOST_EVENTS, run=name))[::-1]
    if not steps and not events:
        raise AdminError(f"nothing is on record of a run {name[:80]!r}")
    since, until = _span(steps, events)
    return Material(name, since, until, steps, events, now, complete)


def _of_time(kept: Record, since: float, until: float, now: float) -> Material:
    steps, complete = _steps(kept, since, until, "")
    events = list(kept.events(since, until, (), MOST_EVENTS))[::-1]
    if steps:  # from the first call on: an empty morning says nothing
        since = min(step.started or step.ended for step in steps)
    return Material("", since, until, steps, events, now, complete)


def _steps(kept: Record, since: float, until: float, run: str) -> tuple[list[StepRow], bool]:
    """The calls, oldest first, read from the latest on; and whether these are all."""
    known: dict[tuple[str, str], StepRow] = {}
    while len(known) < MOST_STEPS:
        read = kept.steps(since, until, A_READING, run=run)
        fresh = [step for step in read if (step.trace_id, step.span_id) not in known]
        known |= {(step.trace_id, step.span_id): step for step in fresh}
        if len(read) < A_READING or not fresh:
            return sorted(known.values(), key=lambda step: step.ended), True
        until = math.nextafter(read[0].ended, math.inf)  # others may have ended at that very moment
    return sorted(known.values(), key=lambda step: step.ended)[-MOST_STEPS:], False


def _span(steps: Sequence[StepRow], events: Sequence[EventRow]) -> tuple[float, float]:
    begins = [step.started or step.ended for step in steps] or [event.at for event in events]
    ends = [step.ended for step in steps] or [event.at for event in events]
    return min(begins), max(ends)


def _write(file: str, text: str) -> int:
    if file == "-":
        sys.stdout.write(text)
        return 0
    path, part = Path(file), Path(f"{file}.part{os.getpid()}")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        return _complain(f"{file} cannot be written: {error.strerror or error}", 1)
    print(f"written to {file}: {len(text):,} characters", file=sys.stderr)  # noqa: T201
    return 0


def _complain(problem: str, code: int) -> int:
    print(f"spanfuse report: {problem}", file=sys.stderr)  # noqa: T201
    return code
