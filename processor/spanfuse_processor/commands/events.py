"""`spanfuse events [show ID]`: what tripped, was warned of, forecast and ordered; or one of these, in full.

Rule 1: newest first, with `--follow` oldest first and on and on. Rule 2: an id may be cut short as long as it
is clear which one is meant. Rule 3: names come from applications: nothing in them moves a terminal.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from typing import Any, Final

from spanfuse_processor.commands.admin_client import AdminError
from spanfuse_processor.commands.event_text import as_object, lines_of, rows_of
from spanfuse_processor.commands.money import add_place_arguments
from spanfuse_processor.commands.record import Record, record
from spanfuse_processor.moments import FAR, stretch
from spanfuse_processor.store import EVENT_KINDS, EventRow
from spanfuse_processor.terminal import table

HELP = "List what tripped, was warned of, forecast and ordered; `events show ID` has one with its snapshot."
FOLLOW_EVERY: Final = 1.0
"""Seconds between two looks for newer events."""
FOLLOWED: Final = 1_000
"""The most that is shown of one look."""
QUIET: Final = frozenset({"effect"})
"""Kinds that are shown only when they are asked for: applications report each order that they obey."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which, of when, how to print, and where to look."""
    add = parser.add_argument
    add("what", nargs="*", metavar="show ID", help="one event, with its snapshot")
    add(
        "--since",
        default="",
        metavar="MOMENT",
        help="1d, 2h, 2026-05-28 ... (default: 7 days before --until)",
    )
    add("--until", default="now", metavar="MOMENT", help="likewise (default: now)")
    add("--kind", default="", metavar="KINDS", help=f"comma-separated: {', '.join(EVENT_KINDS)}")
    add("--run", default="", help="of this run only")
    add("--agent", default="", help="of this agent only")
    add("--limit", type=int, default=50, metavar="N", help="at most so many (default 50)")
    add("--json", action="store_true", help="one JSON object a line")
    add("--follow", "-f", action="store_true", help="go on with what comes")
    add_place_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Exit 0 when it was shown, 1 when nobody could say or there is no such event, 2 for wrong use."""
    try:
        name = _named(arguments.what)
        kinds = _kinds(arguments.kind)
        since, until = stretch(arguments.since, arguments.until, time.time())
        if arguments.limit < 1:
            raise ValueError("--limit is at least 1")
    except ValueError as error:
        return _complain(str(error), 2)
    try:
        with record(arguments) as kept:
            if name:
                return _show(kept, name, arguments.json)
            if arguments.follow:
                return _follow(kept, arguments, kinds, since)
            rows = kept.events(since, until, kinds, arguments.limit, run=arguments.run, agent=arguments.agent)
    except AdminError as error:
        return _complain(str(error), 1)
    _print(rows, arguments.json)
    if not rows and not arguments.json:
        _complain("nothing is on record of then", 0)
    return 0


def _named(words: Sequence[str]) -> str:
    """The id in `show ID`."""
    if not words:
        return ""
    if len(words) != 2 or words[0] != "show":
        raise ValueError(f"{' '.join(words)[:60]!r}: write `events`, or `events show ID`")
    return words[1]


def _kinds(text: str) -> tuple[str, ...]:
    kinds = tuple(each.strip() for each in text.split(",") if each.strip())
    for each in kinds:
        if each not in EVENT_KINDS:
            raise ValueError(f"no kind is called {each[:40]!r}, only {', '.join(EVENT_KINDS)}")
    return kinds or tuple(each for each in EVENT_KINDS if each not in QUIET)


def _show(kept: Record, name: str, as_json: bool) -> int:
    event = kept.event(name) or _by_beginning(kept, name)
    snapshot = kept.snapshot(event.id)
    if as_json:
        body: dict[str, Any] = {
            **as_object(event),
            "snapshot": json.loads(snapshot.body) if snapshot else None,
        }
        print(json.dumps(body))  # noqa: T201
    else:
        print("\n".join(lines_of(event, snapshot)))  # noqa: T201
    return 0


def _by_beginning(kept: Record, name: str) -> EventRow:
    """The event whose id begins so.

    Raises:
        AdminError: there is none, or several.
    """
    found = [row for row in kept.events(0.0, FAR, (), 10_000) if row.id.startswith(name)]
    if not found:
        raise AdminError(f"no event is called {name[:80]!r}")
    if len(found) > 1:
        raise AdminError(f"{len(found)} events begin with {name[:80]!r}: write more of it")
    return found[0]


def _follow(kept: Record, arguments: argparse.Namespace, kinds: Sequence[str], since: float) -> int:
    """Events as they come, from the last `limit` on."""
    seen: set[str] = set()
    rows = kept.events(since, FAR, kinds, arguments.limit, run=arguments.run, agent=arguments.agent)
    try:
        while True:
            fresh = [row for row in reversed(rows) if row.id not in seen]
            seen = {row.id for row in rows} | (seen if len(seen) < FOLLOWED else set())
            _print(fresh, arguments.json, heading=False)
            time.sleep(FOLLOW_EVERY)
            newest = max((row.at for row in rows), default=since)
            rows = (
                kept.events(newest - 60.0, FAR, kinds, FOLLOWED, run=arguments.run, agent=arguments.agent)
                or rows
            )
    except KeyboardInterrupt:
        return 0


def _print(rows: Sequence[EventRow], as_json: bool, heading: bool = True) -> None:
    if as_json:
        for row in rows:
            print(json.dumps(as_object(row)), flush=True)  # noqa: T201
    elif rows:
        lines = table(rows_of(rows))
        print("\n".join(lines if heading else lines[1:]), flush=True)  # noqa: T201


def _complain(problem: str, code: int) -> int:
    print(f"spanfuse events: {problem}", file=sys.stderr)  # noqa: T201
    return code
