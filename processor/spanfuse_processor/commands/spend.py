"""`spanfuse spend --by feature,model --since 7d`: the bill, summed by what calls have in common.

Rule 1: money is exact: as many decimals as it has. Rule 2: what is a guess, or has no known price, is told
apart. Rule 3: the same rows for people, as CSV (RFC 4180) and as JSON; a name that a spreadsheet would take
for a formula is made a text.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from spanfuse_processor.commands.admin_client import AdminError
from spanfuse_processor.commands.money import add_place_arguments, spend
from spanfuse_processor.moments import stretch, written
from spanfuse_processor.store import GROUPS, check_groups
from spanfuse_processor.terminal import printable, table

HELP = "Report what calls cost, by feature, model, user, day ..."
FIGURES: Final = (
    "calls",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cost_usd",
    "estimated_cost_usd",
    "unpriced_calls",
)
_SHOWN: Final = ("calls", "input", "output", "cached", "USD", "of it guessed", "unpriced")
_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """By what, of when, how to print, and where to look."""
    add = parser.add_argument
    add(
        "--by",
        default="feature",
        metavar="FIELDS",
        help=f"comma-separated: {', '.join(GROUPS)} (default: feature)",
    )
    add(
        "--since",
        default="",
        metavar="MOMENT",
        help="7d, 12h, 2026-05-28, 2026-05-28T12:00, or seconds since the epoch "
        "(default: 7 days before --until)",
    )
    add(
        "--until", default="now", metavar="MOMENT", help="likewise (default: now); days begin at midnight UTC"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="comma-separated values, with a heading")
    form.add_argument("--json", action="store_true", help="one JSON object")
    add_place_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Exit 0 when it was shown, 1 when nobody could say, 2 for a field or a moment that is none."""
    now = time.time()
    try:
        by = check_groups(filter(None, arguments.by.split(",")))
        since, until = stretch(arguments.since, arguments.until, now)
        answer = spend(arguments, by, since, until)
    except ValueError as error:
        return _complain(str(error), 2)
    except AdminError as error:
        return _complain(str(error), 1)
    if arguments.json:
        print(json.dumps(answer))  # noqa: T201
    elif arguments.csv:
        _write_csv(by, answer["rows"])
    elif answer["rows"]:
        _write_table(by, answer)
    else:
        print(f"nothing was spent from {_short(since)} to {_short(until)}")  # noqa: T201
    if note := answer.get("note"):
        _complain(note, 0)
    if not answer["complete"]:
        _complain("there is more: only the dearest rows are shown", 0)
    return 0


def _write_csv(by: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    writer = csv.writer(sys.stdout)
    writer.writerow([*by, *FIGURES])
    for row in rows:
        writer.writerow([*(_harmless(row[field]) for field in by), *_figures(row)])


def _write_table(by: Sequence[str], answer: Mapping[str, Any]) -> None:
    lines = [[*by, *_SHOWN]]
    lines += [[*(printable(row[field]) or "-" for field in by), *_figures(row)] for row in answer["rows"]]
    if len(answer["rows"]) > 1 and by:
        lines.append([*["total", *[""] * (len(by) - 1)], *_figures(answer["total"])])
    print("\n".join(table(lines, range(len(by), len(lines[0])))))  # noqa: T201


def _short(at: float) -> str:
    """A moment for people, to the minute."""
    return f"{written(at)[:16].replace('T', ' ')} UTC"


def _figures(row: Mapping[str, Any]) -> list[str]:
    return [f"{row[name]:.6f}" if name.endswith("_usd") else str(row[name]) for name in FIGURES]


def _harmless(text: str) -> str:
    """A text that a spreadsheet shows and does not compute."""
    return f"'{text}" if text.startswith(_FORMULAS) else text


def _complain(problem: str, code: int) -> int:
    print(f"spanfuse spend: {problem}", file=sys.stderr)  # noqa: T201
    return code
