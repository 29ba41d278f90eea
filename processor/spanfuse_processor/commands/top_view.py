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
from typing import Any, Final

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from spanfuse_processor.commands.record import body_of
from spanfuse_processor.commands.top_sight import MICRO, RunLine, Sight
from spanfuse_processor.engine.wording import duration, usd
from spanfuse_processor.store import EventRow
from spanfuse_processor.terminal import printable

_BAR: Final = 20
_STYLES: Final = {
    "stopped": "bold red",
    "stop due": "yellow",
    "warned": "yellow",
    "running": "green",
    "idle": "dim",
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
    Console().print(draw(sight, 200))


def watch(look: Callable[[], Sight], interval: float) -> None:
    """Draws what `look` sees, again and again, until Ctrl-C."""
    console = Console()
    with suppress(KeyboardInterrupt), Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            live.update(draw(look(), console.height), refresh=True)
            time.sleep(interval)


def draw(sight: Sight, height: int = 40) -> RenderableType:
    """The whole screen, for one of so many lines."""
    left = max(12, height - 6)
    events = sight.events[: max(3, left // 4)]
    budgets = sight.budgets[: max(2, left // 5)]
    runs = sight.runs[: max(4, left - len(events) - len(budgets) - 8)]
    parts: list[RenderableType] = [_head(sight)]
    if sight.note:
        parts.append(Text(sight.note, "yellow"))
    if budgets:
        parts.append(_budgets(budgets))
    parts.append(_runs(runs, len(sight.runs) - len(runs)) if runs else Text("no run is under way", "dim"))
    if events:
        parts.append(_events(events))
    return Group(*parts)


def _head(sight: Sight) -> Text:
    states = [line.state for line in sight.runs]
    under_way, stopped = sum(state in ("running", "warned") for state in states), states.count("stopped")
    rate = sum(line.a_minute for line in sight.runs) / MICRO * 60
    clock = f"{datetime.fromtimestamp(sight.at, UTC):%H:%M:%S} UTC"
    line = Text.assemble(("spanfuse top", "bold"), f"  {clock}  {printable(sight.where)}\n")
    line.append(f"{under_way} under way", "green").append(", ")
    line.append(f"{stopped} stopped", "bold red" if stopped else "dim").append(f", {rate:,.2f} USD an hour")
    return line


def _budgets(budgets: Sequence[Mapping[str, Any]]) -> Table:
    table = _table(
        ("budget", "left"),
        ("used", "left"),
        ("spent", "right"),
        ("limit", "right"),
        ("resets in", "right"),
        ("forecast", "left"),
    )
    for row in budgets:
        share = row["share"] or 0.0
        style = "bold red" if share >= 1 else "yellow" if share >= 0.8 else "green"
        full = min(_BAR, round(share * _BAR))
        bar = Text.assemble(
            ("━" * full, style), ("━" * (_BAR - full), "bright_black"), f" {100 * share:.0f} %"
        )
        unit = row["measure"]
        resets = row["resets_in_seconds"]
        table.add_row(
            _text(row["account"]),
            bar,
            _sum(row["spent"], unit),
            _sum(row["limit"], unit),
            duration(resets) if resets else "-",
            _forecast(row),
        )
    return table


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


def _runs(runs: Sequence[RunLine], more: int) -> Table:
    table = _table(
        ("run", "left"),
        ("feature", "left"),
        ("agent", "left"),
        ("state", "left"),
        ("calls", "right"),
        ("failed", "right"),
        ("cost", "right"),
        ("a min", "right"),
        ("last call", "right"),
        ("why", "left"),
    )
    for line in runs:
        table.add_row(
            _text(line.run, 16),
            _text(line.feature or "-", 18),
            _text(line.agent or "-", 16),
            Text(line.state, _STYLES[line.state]),
            f"{line.calls:,}",
            f"{line.failed:,}" if line.failed else "-",
            f"${usd(line.cost)}",
            f"${usd(round(line.a_minute))}" if line.a_minute else "-",
            f"{duration(line.ago)} ago" if line.ago >= 1 else "now",
            _text(line.why),
        )
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


def _table(*columns: tuple[str, Any]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, expand=True, header_style="bold")
    for place, (name, justify) in enumerate(columns):
        last = place == len(columns) - 1
        table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis", ratio=1 if last else None)
    return table


def _text(text: str, most: int = 200) -> Text:
    text = printable(text)
    return Text(text if len(text) <= most else text[: most - 1] + "…")
