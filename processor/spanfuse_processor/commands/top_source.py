"""What `spanfuse top` looks at, time and again: the service's own memory, or what stores have kept.

Rule 1: a look that fails is said on the screen, and the last one stays. Rule 2: how fast money is spent is
the difference of two looks at the same run, seconds apart; from a store, what the last minute cost. It draws
nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from spanfuse_processor.commands.admin_client import AdminError, get
from spanfuse_processor.commands.money import budgets
from spanfuse_processor.commands.record import Record, ServiceRecord
from spanfuse_processor.commands.top_sight import MICRO, RunLine, Sight
from spanfuse_processor.reporting.material import body_of
from spanfuse_processor.store import EventRow, RunRow

MOST: Final = 200
"""Runs that are looked at."""
IDLE: Final = 60.0
"""Seconds without a call after which a run is said to be idle."""
RATE_OVER: Final = 15.0
"""Seconds that the rate of a run is taken over."""
LATELY: Final = 600.0
"""Seconds for which what was stopped comes first."""
WINDOW: Final = 3_600.0
"""Seconds of which a store is asked for runs."""
EVENTS: Final = ("trip", "withheld", "warn", "release", "order", "budget", "forecast")
_A_DAY: Final = 86_400.0
_STATES: Final = {"stop": "stop due", "warn": "warned", "ok": "running"}


class Source:
    """Looks at a record. `wall` is the time of day."""

    def __init__(self, arguments: argparse.Namespace, record: Record, wall: Callable[[], float]) -> None:
        self._arguments = arguments
        self._record = record
        self._wall = wall
        self._costs: dict[str, tuple[float, int]] = {}
        self._last = Sight(wall(), record.where, (), (), ())

    def look(self) -> Sight:
        """What is the case now."""
        at = self._wall()
        try:
            events = self._record.events(at - _A_DAY, at + _A_DAY, EVENTS, 50)
            runs = (
                self._of_service(at)
                if isinstance(self._record, ServiceRecord)
                else self._of_store(at, events)
            )
            self._last = Sight(at, self._record.where, runs, self._budgets(), events)
        except AdminError as error:
            self._last = self._last._replace(at=at, note=str(error))
        return self._last

    def _budgets(self) -> list[Mapping[str, Any]]:
        try:
            rows: list[Mapping[str, Any]] = budgets(self._arguments)["budgets"]
        except AdminError:  # what keeps calls need not keep a ledger
            return []
        return rows

    def _of_service(self, at: float) -> list[RunLine]:
        """Runs in the service's memory."""
        answer = get(self._arguments, f"/v1/runs?limit={MOST}")
        lines = [self._line(row, at) for row in answer["runs"]]
        old = {run for run, (then, _) in self._costs.items() if at - then >= RATE_OVER}
        self._costs = {
            line.run: self._costs[line.run]
            if line.run in self._costs and line.run not in old
            else (at, line.cost)
            for line in lines
        }
        return sorted(lines, key=_urgency)

    def _line(self, row: Mapping[str, Any], at: float) -> RunLine:
        cost, run = round(row["cost_usd"] * MICRO), row["run"]
        before, then = self._costs.get(run, (at, cost))
        passed, ago = at - before, max(0.0, at - row["last_unix_nano"] / 1e9)
        a_minute = (cost - then) / passed * 60 if passed > 0 else 0.0
        why = row["why"]["message"] if row["why"] else ""
        state = "stopped" if row["state"] in ("open", "forced_open") else _STATES[row["verdict"]]
        over = row["over"] or not row["live"]
        if state == "running" and (ago > IDLE or over):
            state = "done" if over else "idle"
        whose = row["feature"] or row["service"], row["agent"]
        return RunLine(run, *whose, state, row["calls"], None, cost, a_minute, ago, why, over)

    def _of_store(self, at: float, events: Sequence[EventRow]) -> list[RunLine]:
        """Runs by their calls that are on record."""
        said: dict[str, EventRow] = {}
        for event in events:
            if event.kind in ("trip", "withheld", "warn", "release") and event.run:
                said.setdefault(event.run, event)
        fresh = {row.run: row.cost for row in self._record.runs(at - 60.0, at + _A_DAY, MOST)}
        rows = self._record.runs(at - WINDOW, at + _A_DAY, MOST)
        lines = [_from_row(row, said.get(row.run), fresh.get(row.run, 0), at) for row in rows]
        return sorted(lines, key=_urgency)


def _from_row(row: RunRow, event: EventRow | None, a_minute: int, at: float) -> RunLine:
    state = {"trip": "stopped", "withheld": "stop due", "warn": "warned"}.get(event.kind, "") if event else ""
    ago = max(0.0, at - row.ended)
    why = str(body_of(event).get("message", "")) if event and state else ""
    return RunLine(
        row.run,
        row.feature,
        row.agent,
        state or ("idle" if ago > IDLE else "running"),
        row.steps,
        row.failed,
        row.cost,
        float(a_minute),
        ago,
        why,
    )


def _urgency(line: RunLine) -> tuple[float, ...]:
    """What was stopped lately, the latest first; then those under way, by what they spend; then the rest."""
    if line.state in ("stopped", "stop due"):
        return (0 if line.ago < LATELY else 2, line.ago)
    return (2, line.ago) if line.over or line.ago > IDLE else (1, -line.a_minute, -line.cost)
