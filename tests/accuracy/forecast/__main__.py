"""`python -m tests.accuracy.forecast [--shared DIR] [--write]`: how right the forecast of spend is.

Exit 0 when every promise is kept and `docs/forecast.md` says what was found, 1 when not, 2 without data.
`--write` writes the page.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.accuracy.forecast import page
from tests.accuracy.forecast.measuring import measure
from tests.accuracy.forecast.promises import promises
from tests.accuracy.shared import Shared
from tests.accuracy.telling import same, told

PAGE = Path(__file__).parents[3] / "docs" / "forecast.md"


def main(arguments: list[str] | None = None) -> int:
    """Measures, says what was found, and writes or compares the page."""
    parser = argparse.ArgumentParser(prog="make accuracy", description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared"), help="the folder of data")
    parser.add_argument("--write", action="store_true", help="write docs/forecast.md")
    options = parser.parse_args(arguments)
    shared = Shared(options.shared.resolve())
    if not (shared.data / "spend").is_dir():
        print(f"the forecast is measured on data: there is no {shared.data}/spend", file=sys.stderr)
        return 2
    measured = measure(shared)
    kept = told(promises(measured))
    text = page.written(measured)
    if options.write:
        PAGE.write_text(text)
    else:
        kept = same(PAGE, text) and kept
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
