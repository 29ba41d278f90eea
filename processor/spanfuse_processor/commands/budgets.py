"""`spanfuse budgets`: what may be spent, what is, and when that runs out.

Rule 1: those that are nearest to their limit come first. Rule 2: names come from applications: nothing in
them moves a terminal. Rule 3: a forecast is said where there is one, and as what it is.
What was charged to budgets that the configuration does not name is shown, too: its limit is not known.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from spanfuse_processor.commands.admin_client import AdminError
from spanfuse_processor.commands.money import add_place_arguments, budgets
from spanfuse_processor.terminal import printable, table

HELP = "Show every budget: limit, spent, reserved, when it resets, and what is forecast."
COLUMNS: Final = ("budget", "period", "limit", "spent", "reserved", "used", "resets in", "forecast")
_RIGHT: Final = range(2, 7)
_UNITS: Final = {"usd": "USD"}
_SPANS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How to print, and where to look."""
    parser.add_argument("--json", action="store_true", help="one JSON object, with all that is known")
    add_place_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Exit 0 when they were shown, 1 when nobody could say."""
    try:
        answer = budgets(arguments)
    except AdminError as error:
        print(f"spanfuse budgets: {error}", file=sys.stderr)  # noqa: T201
        return 1
    rows = answer.get("budgets", [])
    if arguments.json:
        print(json.dumps(answer))  # noqa: T201
    elif rows:
        print("\n".join(table([COLUMNS, *map(_cells, rows)], _RIGHT)))  # noqa: T201
    else:
        print("nothing has been charged to any budget")  # noqa: T201
    for note in filter(None, (answer.get("note"), _unknown(rows))):
        print(f"spanfuse budgets: {note}", file=sys.stderr)  # noqa: T201
    return 0


def _unknown(rows: Sequence[Mapping[str, Any]]) -> str:
    """What is to be done about budgets whose limits are not known."""
    names = sorted({printable(row["budget"]) for row in rows if not row.get("configured", True)})
    if not names:
        return ""
    return (
        f"no budget of the configuration counts {', '.join(names)}: give --config FILE for limits and marks"
    )


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    unit, share = row["measure"], row["share"]
    resets = row["resets_in_seconds"]
    return (
        printable(row["account"]),
        row["period"] or "-",
        f"{'?' if row['limit'] is None else _figure(row['limit'], unit)} {_UNITS.get(unit, unit)}",
        _figure(row["spent"], unit),
        _figure(row["reserved"], unit),
        "-" if share is None else f"{100 * share:.0f} %",
        "-" if resets is None else span(resets),
        ", ".join([*row["reactions"], *_forecast(row), *_unconfigured(row)]) or "-",
    )


def _unconfigured(row: Mapping[str, Any]) -> list[str]:
    return [] if row.get("configured", True) else ["not configured"]


def _forecast(row: Mapping[str, Any]) -> list[str]:
    forecast, unit = row["forecast"], row["measure"]
    if not forecast:
        return []
    if forecast["exhausted_in_seconds"] is not None:
        return [f"runs out in {span(forecast['exhausted_in_seconds'])}"]
    low, mid, high = (forecast[f"total_{name}"] for name in ("low", "mid", "high"))
    if low is not None and high is not None:
        return [f"ends at {_figure(low, unit)} to {_figure(high, unit)}"]
    return [] if mid is None else [f"ends at about {_figure(mid, unit)}"]


def _figure(value: float, unit: str) -> str:
    return f"{value:,.2f}" if unit == "usd" else f"{value:,.0f}"


def span(seconds: float) -> str:
    """A length of time, in its two largest units.

    >>> span(0.4), span(61), span(2 * 86_400 + 3_700)
    ('0 s', '1 min 1 s', '2 d 1 h')
    """
    rest = int(seconds)
    words: list[str] = []
    for size, unit in _SPANS:
        count, rest = divmod(rest, size)
        if count:
            words.append(f"{count} {unit}")
    return " ".join(words[:2]) or "0 s"
