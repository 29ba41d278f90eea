"""Repeats the demo and says how often its outcome was right, and how fast its kills were.

    python tests/acceptance/demo_repeat.py [--times N] [--mode embedded|processor|both]

Exit 0 only when every repetition was right. Latencies are shown against their budget and do not decide: they
depend on what else the machine does.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from typing import Any

TIMEOUT = 180.0
P50_MS, P99_MS = 5.0, 20.0
"""Budgets of the kill latency beside the storm."""


def repeat(mode: str, times: int) -> list[dict[str, Any]]:
    """Runs the demo `times` times. Returns what it said each time; {"ok": False} when it said nothing."""
    results = []
    for number in range(1, times + 1):
        began = time.monotonic()
        results.append(once(mode))
        say(f"{mode} {number:>2}/{times} {time.monotonic() - began:5.1f} s  {describe(results[-1])}")
    return results


def once(mode: str) -> dict[str, Any]:
    """One demo in a process of its own."""
    command = [sys.executable, "-m", "spanfuse_processor", "demo", f"--{mode}", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    try:
        return {**json.loads(done.stdout), "exit": done.returncode, "error": done.stderr}
    except ValueError:
        return {"ok": False, "exit": done.returncode, "runs": [], "storm": None, "error": done.stderr}


def describe(result: dict[str, Any]) -> str:
    """One line about one demo."""
    runs = ", ".join(map(describe_run, result["runs"]))
    storm = result["storm"] or {}
    money = describe_money(result.get("money") or {})
    verdict = "right" if right(result) else f"WRONG {result.get('error', '')}"
    return f"{verdict}: {runs}; {describe_storm(storm)}; {money}"


def describe_storm(storm: dict[str, Any]) -> str:
    """The storm in a few words."""
    share, p50, p99 = (storm.get(name) for name in ("spent_share", "p50_ms", "p99_ms"))
    return f"storm {storm.get('calls_made')} calls, share {share}, p50 {p50}, p99 {p99} ms"


def describe_money(money: dict[str, Any]) -> str:
    """The last act in a few words."""
    alert = money.get("alert") or {}
    return f"money {money.get('spent_usd')}, alert at {alert.get('after_s')} s, lead {alert.get('lead_s')} s"


def describe_run(run: dict[str, Any]) -> str:
    """A run in four words."""
    latency = run["kill_latency_ms"]
    return f"{run['name']} {run['outcome']} {run['calls']}" + (f" in {latency:.1f} ms" if latency else "")


def right(result: dict[str, Any]) -> bool:
    """The outcome is as expected, and the exit code says so."""
    return bool(result["ok"]) and result["exit"] == 0


def is_quick(storm: dict[str, Any]) -> bool:
    """The kill latencies are within their budgets."""
    known = storm["p50_ms"] is not None
    return known and bool(storm["p50_ms"] <= P50_MS and storm["p99_ms"] <= P99_MS)


def conclude(mode: str, results: list[dict[str, Any]]) -> bool:
    """Says how all of them went. True when all were right."""
    storms = [result["storm"] for result in results if result["storm"]]
    good = sum(map(right, results))
    quick = sum(is_quick(storm) for storm in storms)
    say(f"{mode}: right {good} of {len(results)}; within p50 {P50_MS} and p99 {P99_MS} ms: {quick}")
    return good == len(results)


def say(text: str) -> None:
    """One line, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    """Reads the arguments, repeats, concludes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--mode", choices=("embedded", "processor", "both"), default="both")
    arguments = parser.parse_args()
    modes = ("embedded", "processor") if arguments.mode == "both" else (arguments.mode,)
    return 0 if all([conclude(mode, repeat(mode, arguments.times)) for mode in modes]) else 1


if __name__ == "__main__":
    sys.exit(main())
