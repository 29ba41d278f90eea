"""`python -m grafana.lint [FILE ...]`: tells what is wrong with dashboards; 1 when something is."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from grafana.lint import findings
from grafana.lint.known import known

FOLDER = Path(__file__).parents[1] / "dashboards"


def main(arguments: list[str]) -> int:
    """Lints the files, or all dashboards."""
    paths = [Path(each) for each in arguments] or sorted(FOLDER.glob("*.json"))
    found = list(findings([json.loads(path.read_text()) for path in paths], known()))
    for finding in found:
        print(finding)
    print(f"{len(paths)} dashboards, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
