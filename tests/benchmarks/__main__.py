"""All benchmarks, one after the other: `python -m tests.benchmarks [--quick] [NAME ...]`.

Each `bench_<name>.py` has `main(quick: bool) -> dict[str, float]`, medians of rounds in one process, with its
peer or baseline in the same run. Figures are printed, never asserted: machines are shared and noisy.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def names() -> list[str]:
    """The benchmarks that there are."""
    return sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))


def run_one(name: str, quick: bool) -> None:
    """Runs one benchmark in this process and prints its figures as one JSON line."""
    module = importlib.import_module(f"tests.benchmarks.bench_{name}")
    print(json.dumps({"benchmark": name} | module.main(quick)))


def table(name: str, line: str) -> None:
    """Prints the figures of one benchmark for a person."""
    figures = json.loads(line)
    print(f"\n{name}")
    for key, value in figures.items():
        if key != "benchmark":
            print(f"  {key:<58} {value:>14,.2f}" if isinstance(value, float) else f"  {key:<58} {value:>14}")


def main() -> int:
    """Each benchmark gets a process of its own, so that none warms another."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*names(), []], help="which; all when none is named")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: a smoke test of the benchmarks")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        run_one(options.only, options.quick)
        return 0
    failed = 0
    for name in options.names or names():
        command = [sys.executable, "-m", "tests.benchmarks", "--only", name]
        done = subprocess.run(
            command + ["--quick"] * options.quick, stdout=subprocess.PIPE, text=True, timeout=900, check=False
        )
        if done.returncode:
            failed += 1
            print(f"\n{name}: failed with {done.returncode}")
        else:
            table(name, done.stdout.strip().splitlines()[-1])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
