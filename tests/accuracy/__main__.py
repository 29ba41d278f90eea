"""`python -m tests.accuracy [--shared DIR] [--quick] [--write]`: how accurate the judging is, beside others'.

Exit 0 when every promise is kept and `docs/accuracy.md` says what was found, 1 when not, 2 without data.
`--write` writes the page; `--quick` takes a sample of the runs, and compares no page.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.accuracy import page
from tests.accuracy.measuring import jobs, measure
from tests.accuracy.promises import promises
from tests.accuracy.shared import Shared
from tests.accuracy.telling import same, told

PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"


def main(arguments: list[str] | None = None) -> int:
    """Measures, says what was found, and writes or compares the page."""
    parser = argparse.ArgumentParser(prog="make accuracy", description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared"), help="the folder of data and tools")
    parser.add_argument("--quick", action="store_true", help="a sample of the runs; no page")
    parser.add_argument("--write", action="store_true", help="write docs/accuracy.md")
    options = parser.parse_args(arguments)
    shared = Shared(options.shared.resolve())
    if not shared.data.is_dir():
        print(f"make accuracy needs the data: there is no {shared.data}", file=sys.stderr)
        return 2
    measured = measure(shared, jobs(shared, options.quick), _progress())
    kept = told(promises(measured))
    if options.write:
        PAGE.write_text(page.written(measured))
    elif not options.quick:
        kept = same(PAGE, page.written(measured)) and kept
    return 0 if kept else 1


def _progress() -> Callable[[str], None]:
    began = time.monotonic()

    def say(done: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {done}"[:110], file=sys.stderr)

    return say


if __name__ == "__main__":
    sys.exit(main())
