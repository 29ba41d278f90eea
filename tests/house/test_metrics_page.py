"""What is written about metrics is true: the tables are those of the declarations, and so is every name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.house.sources import ROOT

from spanfuse_processor.telemetry.metrics import declared, metric

NAME = re.compile(r"(?<![\w:/])spanfuse_[a-z_*]+")
OF_BUDGETS = {"usd", "tokens", "calls"}
NO_METRICS = {"spanfuse_processor"}


def known(name: str) -> bool:
    """Whether it is a metric, a part of one, or all of one kind (`*`)."""
    if "*" in name:
        return all(known(name.replace("*", unit)) for unit in OF_BUDGETS)
    try:
        return bool(metric(name))
    except KeyError:
        return name in declared()


def test_the_page_of_metrics_is_made_from_the_declarations() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/metrics_page.py", "--check"], cwd=ROOT, timeout=60, check=False
    )

    assert done.returncode == 0, "stale: run scripts/metrics_page.py"


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.name)
def test_every_metric_that_a_page_names_is_there(path: Path) -> None:
    named = set(NAME.findall(path.read_text())) - NO_METRICS

    assert {name for name in named if not known(name)} == set()


def test_the_golden_figures_are_asked_of_what_can_be_asked_for() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text()
    table = page.partition("## Golden figures")[2].partition("\n## ")[0]
    queries = [row.split(" | ")[1] for row in table.splitlines() if row.startswith("| ")][1:]

    assert len(queries) == 8
    for query in queries:
        for name, matchers in re.findall(r"(spanfuse_[a-z_]+)(?:\{([^}]*)\})?", query):
            labels = set(re.findall(r"(\w+)=", matchers))
            assert labels <= declared()[name], (name, labels)
