"""`python -m grafana.building [--check]`: writes `grafana/dashboards/*.json`; or 1 when one is stale."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grafana.building import agent, budgets, events, frame, overview, processor

FOLDER = Path(__file__).parents[1] / "dashboards"
DASHBOARDS = (overview, budgets, events, agent, processor)


def documents() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every dashboard, and where it lies."""
    for module in DASHBOARDS:
        made = module.dashboard()
        yield FOLDER / f"{made['uid'].removeprefix('spanfuse-')}.json", made


def stale() -> list[Path]:
    """Files that are not what the code makes, or that no code makes."""
    made = {path: frame.text(document) for path, document in documents()}
    lying = set(FOLDER.glob("*.json"))
    return sorted(
        {p for p, text in made.items() if p not in lying or p.read_text() != text} | lying - set(made)
    )


def main() -> int:
    """Writes them, or compares."""
    parser = argparse.ArgumentParser(prog="python -m grafana.building", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is stale")
    if parser.parse_args().check:
        for path in stale():
            print(f"{path.name} is stale: make dashboards", file=sys.stderr)
        return 1 if stale() else 0
    FOLDER.mkdir(exist_ok=True)
    for path, document in documents():
        path.write_text(frame.text(document))
    return 0


if __name__ == "__main__":
    sys.exit(main())
