"""What `spanfuse top` shows: budgets and their forecasts, runs by what they cost, what was stopped and why.

Rule 1: it draws what it is given, and asks nobody. Rule 2: the most urgent comes first, and what does not fit
on the screen is left out from the end. Rule 3: names come from applications: nothing in them is markup, and
none moves the terminal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from spanfuse_processor.commands.top_sight import MICRO, RunLine, Sight
from spanfuse_processor.engine.wording import duration, usd
from spanfuse_processor.reporting.material import body_of
from spanfuse_processor.store import EventRow
from spanfuse_processor.terminal import printable

_BAR: Final = 20
A_MINUTE: Final = 60.0
"""Seconds without a call for which a run counts as under way."""
_STYLES: Final = {
    "stopped": "bold red",
    "stop due": "yellow",
    "warned": "yellow",
    "running": "green",
    "idle": "dim",
    "done": "dim",
}
_KINDS: Final = {
    "trip": "bold red",
    "withheld": "yellow",
    "warn": "yellow",
    "forecast": "magenta",
    "budget": "magenta",
}


def show(sight: Sight) -> None:
    """Writes it once."""
    console = Console()
    console.print(draw(sight, 200, console.width))


def watch(look: Callable[[], Sight], interval: float) -> None:
    """Draws what `look` sees, again and again, until Ctrl-C."""
    console = Console()
    with suppress(KeyboardInterrupt), Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            live.update(draw(look(), console.height, console.width), refresh=True)
            time.sleep(interval)


def draw(sight: Sight, height: int, width: int) -> RenderableType:
    """The whole screen, for one of so many lines and columns."""
    left = max(12, height - 6)
    events = sight.events[: max(3, left // 4)]
    budgets = sight.budgets[: max(2, left // 5)]
    runs = sight.runs[: max(4, left - len(events) - len(budgets) - 8)]
    parts: list[RenderableType] = [_head(sight)]
    if sight.note:
        parts.append(Text(sight.note, "yellow"))
    if budgets:
        parts.append(_budgets(budgets, width))
    parts.append(
        _runs(runs, len(sight.runs) - len(runs), width) if runs else Text("no run is under way", "dim")
    )
    if events:
        parts.append(_events(events))
    return Group(*parts)


def _head(sight: Sight) -> Text:
    under_way = sum(not line.over and line.ago < A_MINUTE and line.state != "stopped" for line in sight.runs)
    stopped = sum(line.state == "stopped" for line in sight.runs)
    rate = sum(line.a_minute for line in sight.runs) / MICRO * 60
    clock = f"{datetime.fromtimestamp(sight.at, UTC):%H:%M:%S} UTC"
    line = Text.assemble(("spanfuse top", "bold"), f"  {clock}  {printable(sight.where)}\n")
    line.append(f"{under_way} under way", "green").append(", ")
    line.append(f"{stopped} stopped", "bold red" if stopped else "dim").append(f", {rate:,.2f} USD an hour")
    return line


def _budgets(budgets: Sequence[Mapping[str, Any]], width: int) -> Table:
    wide = width >= 110
    resets = (("resets in", "right"),) if wide else ()
    columns: tuple[tuple[str, JustifyMethod], ...] = (("budget", "left"), ("used", "left"))
    table = _table(*columns, ("spent", "right"), ("limit", "right"), *resets, ("forecast", "left"))
    for row in budgets:
        unit, left = row["measure"], row["resets_in_seconds"]
        when = (duration(left) if left else "-",) if wide else ()
        sums = _sum(row["spent"], unit), _sum(row["limit"], unit)
        table.add_row(_text(row["account"], 24), _used(row["share"], wide), *sums, *when, _forecast(row))
    return table


def _used(share: float | None, wide: bool) -> Text:
    """How much of it, as a bar where there is room; nothing where its limit is not known."""
    if share is None:
        return Text("?", "dim")
    style = "bold red" if share >= 1 else "yellow" if share >= 0.8 else "green"
    full = min(_BAR, round(share * _BAR)) if wide else 0
    rest = _BAR - full if wide else 0
    return Text.assemble(
        ("━" * full, style), ("━" * rest, "bright_black"), (f" {100 * share:.0f} %".strip(), style)
    )


def _forecast(row: Mapping[str, Any]) -> Text:
    said = ", ".join(row["reactions"])
    forecast = row["forecast"]
    if (row["share"] or 0.0) >= 1.0:
        return Text("all is spent" + (f"; {said}" if said else ""), "bold red")
    if forecast and forecast["exhausted_in_seconds"] is not None:
        return Text(
            f"runs out in {duration(forecast['exhausted_in_seconds'])}" + (f"; {said}" if said else ""),
            "bold magenta",
        )
    if forecast and forecast["total_mid"] is not None:
        return Text(
            f"will come to {_sum(forecast['total_mid'], row['measure'])}" + (f"; {said}" if said else "")
        )
    return Text(said or "-", "yellow" if said else "dim")


def _sum(amount: float | None, measure: str) -> str:
    if amount is None:
        return "?"
    return f"${usd(round(amount * MICRO))}" if measure == "usd" else f"{amount:,.0f} {measure}"


class _Column(NamedTuple):
    """A column of the table of runs, shown from so many columns of a terminal on."""

    name: str
    justify: JustifyMethod
    from_width: int
    cell: Callable[[RunLine], Text | str]


_COLUMNS: Final = (
    _Column("run", "left", 0, lambda line: _text(line.run, 12)),
    _Column("feature", "left", 120, lambda line: _text(line.feature or "-", 18)),
    _Column("agent", "left", 100, lambda line: _text(line.agent or "-", 16)),
    _Column("state", "left", 0, lambda line: Text(line.state, _STYLES[line.state])),
    _Column("calls", "right", 90, lambda line: f"{line.calls:,}"),
    _Column("failed", "right", 130, lambda line: f"{line.failed:,}" if line.failed else "-"),
    _Column("cost", "right", 0, lambda line: f"${usd(line.cost)}"),
    _Column("a min", "right", 110, lambda line: f"${usd(round(line.a_minute))}" if line.a_minute else "-"),
    _Column("last call", "right", 90, lambda line: f"{duration(line.ago)} ago" if line.ago >= 1 else "now"),
    _Column("why", "left", 0, lambda line: _text(line.why)),
)


def _runs(runs: Sequence[RunLine], more: int, width: int) -> Table:
    counted = any(line.failed is not None for line in runs)
    columns = [each for each in _COLUMNS if width >= each.from_width and (counted or each.name != "failed")]
    table = _table(*((each.name, each.justify) for each in columns))
    for line in runs:
        table.add_row(*(each.cell(line) for each in columns))
    if more > 0:
        table.caption = f"and {more} more"
    return table


def _events(events: Sequence[EventRow]) -> Table:
    table = _table(("time", "left"), ("what", "left"), ("by", "left"), ("whom", "left"), ("why", "left"))
    for event in events:
        body = body_of(event)
        table.add_row(
            f"{datetime.fromtimestamp(event.at, UTC):%H:%M:%S}",
            Text(event.kind, _KINDS.get(event.kind, "")),
            _text(str(body.get("budget") or body.get("detector") or body.get("issuer") or "-"), 16),
            _text(event.agent or event.feature or event.key or "-", 22),
            _text(str(body.get("message") or body.get("words") or body.get("why") or "")),
        )
    return table


def _table(*columns: tuple[str, JustifyMethod]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, expand=True, header_style="bold")
    for place, (name, justify) in enumerate(columns):
        last = place == len(columns) - 1
        table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis", ratio=1 if last else None)
    return table


def _text(text: str, most: int = 200) -> Text:
    text = printable(text)
    return Text(text if len(text) <= most else text[: most - 1] + "…")
