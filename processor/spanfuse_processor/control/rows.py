"""Rows of the journal, written out as operators read them.

Rule 1: money is decimal, what a store keeps as a text of JSON is JSON. Rule 2: rows are written one by one,
so that whoever else is at work need not wait for all of them. It knows no HTTP.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from spanfuse_processor.store import EventRow, StepRow

_MICRO: Final = 1_000_000


def event_fields(row: EventRow) -> dict[str, Any]:
    """An event; `body` is what there is beside its columns."""
    return {**row._asdict(), "body": _read(row.body)}


def step_fields(row: StepRow) -> dict[str, Any]:
    """A step: its cost in dollars, and its contents only where they were captured."""
    fields = row._asdict()
    cost, content = fields.pop("cost"), fields.pop("content")
    fields["cost_usd"] = cost / _MICRO
    return fields | ({"content": _read(content)} if content else {})


def show_event(row: EventRow) -> bytes:
    """One event."""
    return _text(event_fields(row)).encode()


def list_events(since: float, until: float, rows: Sequence[EventRow], most: int) -> bytes:
    """Events, at most so many; `complete`: there are no more, else `before` names where to go on."""
    shown = rows[:most]
    head: dict[str, Any] = {"since": since, "until": until, "complete": len(rows) <= most}
    if len(rows) > most:
        head["before"] = shown[-1].id
    return _listed(head, "events", map(event_fields, shown))


def list_steps(run: str, rows: Sequence[StepRow], most: int) -> bytes:
    """The latest steps of a run, at most so many."""
    shown = rows[max(0, len(rows) - most) :]
    return _listed({"run": run, "complete": len(rows) <= most}, "steps", map(step_fields, shown))


def _listed(head: Mapping[str, Any], name: str, rows: Iterable[Mapping[str, Any]]) -> bytes:
    told = ",".join(_text(row) for row in rows)
    return f'{_text(head)[:-1]}, "{name}": [{told}]}}'.encode()


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value)


def _read(text: str) -> Any:
    """What a text of JSON says; the text itself, where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return text
