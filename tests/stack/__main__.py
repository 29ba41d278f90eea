"""The stack on this machine, until Ctrl-C: `make stack ARGS="[--no-agents] [--beside]"`.

Its data stays in .stack/data. Ports are those of docker-compose.yml where they are free; a variable of the
same name chooses another.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from tests.stack import ports
from tests.stack.far_ends import Heard, Hook
from tests.stack.programs import ROOT, Failed, Missing, Program, Troupe
from tests.stack.stack import BESIDE, Stack

DATA = ROOT / ".stack" / "data"
PAGES: Mapping[str, tuple[str, str]] = {
    "metrics": ("PROCESSOR_METRICS_PORT", "/metrics"),
    "traces (Jaeger)": ("JAEGER_QUERY_PORT", "/api/services"),
    "figures (Prometheus)": ("PROMETHEUS_PORT", "/alerts"),
    "alerts (Alertmanager)": ("ALERTMANAGER_PORT", "/#/alerts"),
}


def show(stack: Stack) -> None:
    """Prints where everything is."""
    for what, (port, path) in PAGES.items():
        print(f"  {what:<22} {stack.at(port)}{path}")
    database = f"host=127.0.0.1 port={stack.ports['POSTGRES_PORT']} dbname=spanfuse user=grafana_reader"
    print(f"  {'events (Postgres)':<22} {database}, password: {stack.folder}/secrets.env")
    print("  an operator:")
    url = stack.at("PROCESSOR_HTTP_PORT")
    print(f"    set -a; . {stack.folder}/secrets.env; export SPANFUSE_ADMIN_URL={url}")
    print("  an application of yours:")
    for name, value in stack.application().items():
        print(f"    export {name}={value}")


def agents(stack: Stack) -> Program:
    """The agents of the demo, round after round."""
    command = [sys.executable, "-m", "spanfuse.demo.rounds"]
    return Program("agents", command, lambda: True, stack.application())


def shout(heard: Heard) -> None:
    """Prints an alert that people are told of."""
    if heard.name != "Watchdog":
        what = heard.labels.get("severity", "") if heard.firing else "is over"
        print(f"{time.strftime('%H:%M:%S')} alert ({what}): {heard.name}: {heard.text}", flush=True)


def hold(troupe: Troupe) -> int:
    """Waits for Ctrl-C, or for a program that ends by itself. Returns the exit code."""
    try:
        while (ended := troupe.ended()) is None:
            threading.Event().wait(0.5)
    except KeyboardInterrupt:
        print("\nstopping everything ...")
        return 0
    print(f"{ended.program.name} has ended: {ended.last_words()}", file=sys.stderr)
    return 1


def main() -> int:
    """Starts it, shows it, holds it."""
    parser = argparse.ArgumentParser(prog="make stack", description=__doc__)
    parser.add_argument("--no-agents", action="store_true", help="no agents of the demo")
    parser.add_argument("--beside", action="store_true", help="the Collector beside spanfuse, not in front")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of all data")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)  # as Ctrl-C: whatever ends us ends what we started
    collector = BESIDE if options.beside else "collector.yaml"
    try:
        with Hook(shout) as hook:
            stack = Stack(options.data.resolve(), ports.choose(os.environ), collector, people=hook.address)
            return run(stack, with_agents=not options.no_agents)
    except (Failed, Missing) as error:
        print(error, file=sys.stderr)
    except KeyboardInterrupt:
        pass
    return 1


def run(stack: Stack, with_agents: bool) -> int:
    """Starts everything and holds it. Returns the exit code."""
    with Troupe(stack.folder / "logs") as troupe:
        print("starting ...")
        stack.start(troupe)
        if with_agents:
            troupe.launch(agents(stack))
        show(stack)
        return hold(troupe)


if __name__ == "__main__":
    sys.exit(main())
