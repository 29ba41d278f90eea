"""Writes the tables of docs/metrics.md from the declarations; `--check` fails when they are stale.

Rule: what stands between the marks is made here, the words around them are written by hand.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from spanfuse_processor.telemetry.declaring import Metric, Type
from spanfuse_processor.telemetry.metrics import BREAKERS, BUDGETS, CALLS, INTAKE, KEEPING, SERVICE

PAGE = Path(__file__).parents[1] / "docs" / "metrics.md"
BEGIN, END = "<!-- made by scripts/metrics_page.py -->", "<!-- end -->"
GROUPS: dict[str, Sequence[Metric]] = {
    "Calls and runs": CALLS,
    "Gates and breakers": BREAKERS,
    "Budgets": BUDGETS,
    "What comes in and goes on": INTAKE,
    "What is kept and told": KEEPING,
    "The service": SERVICE,
}
MARKS = {Type.COUNTER: "c", Type.GAUGE: "g", Type.HISTOGRAM: "h", Type.INFO: "i"}


def main(arguments: list[str] | None = None) -> int:
    """Writes the page, or with `--check` returns 1 when it is stale."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the page is stale")
    check = parser.parse_args(arguments).check
    before = PAGE.read_text()
    head, _, rest = before.partition(BEGIN)
    after = f"{head}{BEGIN}\n\n{tables()}\n{END}{rest.partition(END)[2]}"
    if not check:
        PAGE.write_text(after)
    return int(check and before != after)


def tables() -> str:
    """A table for each group."""
    return "\n".join(line for title, group in GROUPS.items() for line in _table(title, group))


def _table(title: str, group: Sequence[Metric]) -> Iterator[str]:
    yield from (f"### {title}", "", "| metric | | labels | |", "|---|---|---|---|")
    for metric in group:
        mark = MARKS[metric.type] + "*" * metric.exemplars
        yield f"| `{metric.name}` | {mark} | {_labels(metric)} | {_words(metric)} |"
    yield ""


def _labels(metric: Metric) -> str:
    """Labels, with the words that they may say."""
    said = [
        f"{label} ({', '.join(metric.values[label])})" if label in metric.values else label
        for label in metric.labels
    ]
    return ", ".join(said)


def _words(metric: Metric) -> str:
    told = metric.help
    if metric.absent:
        told += f". **Absent** while {metric.absent}"
    if metric.buckets:
        told += f". Bounds: {' '.join(f'{bound:g}' for bound in metric.buckets)}"
    return told


if __name__ == "__main__":
    sys.exit(main())
