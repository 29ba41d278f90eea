"""Events as people and programs read them.

Rule 1: the id comes first, cut to what tells events apart; the whole is in JSON and in `show`. Rule 2:
nothing is worked out here but how it is written.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from spanfuse_processor.moments import written
from spanfuse_processor.reporting.material import body_of
from spanfuse_processor.store import EventRow, SnapshotRow
from spanfuse_processor.terminal import cut, printable

COLUMNS: Final = ("id", "time (UTC)", "what", "by", "whom", "why")
_ID: Final = 10
"""Characters of an id, at least: as many are shown as tell those that are listed apart."""
_WHY: Final = 90
_STEPS: Final = 12
"""The last steps of a snapshot that are shown."""


def as_object(event: EventRow) -> dict[str, Any]:
    """An event for programs: its columns, and its body as an object."""
    return {**event._asdict(), "body": body_of(event)}


def rows_of(events: Sequence[EventRow]) -> list[tuple[str, ...]]:
    """Lines of a table, with its heading."""
    width = _width([event.id for event in events])
    return [COLUMNS, *(_row(event, width) for event in events)]


def _width(names: Sequence[str]) -> int:
    """How much of each it takes to tell them apart.

    >>> _width(["everything/2026-11-30/50", "everything/2026-11-30/80"])
    23
    """
    longest = max(map(len, names), default=_ID)
    return next((w for w in range(_ID, longest) if len({name[:w] for name in names}) == len(names)), longest)


def _row(event: EventRow, width: int) -> tuple[str, ...]:
    said = body_of(event)
    by = said.get("budget") or said.get("detector") or said.get("issuer") or said.get("service") or "-"
    whom = "/".join(filter(None, (event.feature, event.agent))) or event.run or event.key or "-"
    cells = (event.id[:width], written(event.at)[:19].replace("T", " "), event.kind, str(by), cut(whom, 30))
    return (*map(printable, cells), cut(printable(_why(event, said)), _WHY))


def _why(event: EventRow, said: Mapping[str, Any]) -> str:
    if event.kind == "effect":
        latency = said.get("kill_latency_ms")
        counts = ", ".join(f"{said[name]} {name.replace('_', ' ')}" for name in _EFFECTS if said.get(name))
        return ", ".join(filter(None, (f"after {latency:.1f} ms" if latency else "", counts))) or "-"
    return str(said.get("message") or said.get("words") or said.get("why") or said.get("reason") or "-")


_EFFECTS: Final = ("calls_refused", "tasks_cancelled", "streams_closed", "not_interruptible")


def lines_of(event: EventRow, snapshot: SnapshotRow | None) -> Iterator[str]:
    """An event with all that is known of it, and the end of its snapshot."""
    yield f"{printable(event.kind)} {event.id}"
    columns = {k: v for k, v in event._asdict().items() if v and k not in ("id", "kind", "body")}
    columns["at"] = written(event.at)
    for name, value in {**columns, **body_of(event)}.items():
        if value in ("", None, [], {}):
            continue
        text = value if isinstance(value, str) else json.dumps(value)
        yield from textwrap.wrap(
            printable(text), 110, initial_indent=f"  {name:<14} ", subsequent_indent=" " * 17
        )
    if snapshot is None:
        return
    frozen = json.loads(snapshot.body)
    steps = frozen.get("steps", [])
    yield f"  snapshot: {len(steps)} steps; the last {min(_STEPS, len(steps))} (the whole: --json)"
    for step in steps[-_STEPS:]:
        yield "    " + _step(step)


def _step(step: Mapping[str, Any]) -> str:
    what = step.get("tool") or step.get("model") or step.get("name") or step.get("kind", "")
    prints = " ".join(filter(None, (step.get("arguments", ""), step.get("result", ""))))
    failed = f"  failed: {step.get('error') or 'error'}" if step.get("failed") else ""
    return printable(f"{step.get('number', ''):>5}  {step.get('kind', ''):<10} {what:<28} {prints}{failed}")
