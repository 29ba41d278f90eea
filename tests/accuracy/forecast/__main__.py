"""`python -m tests.accuracy.forecast [--shared DIR] [--write]`: how right the forecast of spend is.

Exit 0 when every promise is kept and `docs/forecast.md` says what was found, 1 when not, 2 without data.
`--write` writes the page.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from tests.accuracy.forecast import page
from tests.accuracy.forecast.measuring import Measured, measure
from tests.accuracy.forecast.promises import promises
from tests.accuracy.shared import Shared

PAGE = Path(__file__).parents[3] / "docs" / "forecast.md"
_SHOWN = 40  # lines of difference


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
    kept = _say(measured)
    text = page.written(measured)
    if options.write:
        PAGE.write_text(text)
    else:
        kept = _same(text) and kept
    return 0 if kept else 1


def _say(measured: Measured) -> bool:
    """Prints every promise; True when all are kept."""
    found = promises(measured)
    for promise in found:
        print(f"{'ok    ' if promise.kept else 'MISSED'}  {promise.what}: {promise.found}")
    missed = sum(not promise.kept for promise in found)
    print(f"{len(found) - missed} promises kept, {missed} missed")
    return not missed


def _same(text: str) -> bool:
    """Whether the page says what was found; prints how it differs."""
    old = PAGE.read_text() if PAGE.exists() else ""
    if old == text:
        return True
    difference = difflib.unified_diff(
        old.splitlines(), text.splitlines(), str(PAGE.name), "measured", lineterm=""
    )
    print("\n".join(list(difference)[:_SHOWN]))
    print("docs/forecast.md is not what was measured: look, and --write")
    return False


if __name__ == "__main__":
    sys.exit(main())
