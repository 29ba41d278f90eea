"""Between an agent of the demo and its runner: events out, orders in, and how a run ended.

Rule 1: one JSON object a line on standard output, one word a line on standard input. Rule 2: when standard
input closes the runner is gone, and this process ends. It does not know what the agent does.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, replace
from io import FileIO

import spanfuse
from spanfuse import runtime
from spanfuse.demo.results import Ended
from spanfuse.demo.task import Task
from spanfuse.host import HostState
from spanfuse.link.local_limits import ISSUER as LOCAL

CONNECT_WITHIN = 10.0
"""Seconds that an agent waits for the processor, so that its first call is judged like all others."""

SWITCH_INTERVAL = 0.0005
"""Seconds after which a thread that waits for the interpreter gets it."""

_JUDGED = (HostState.JUDGING, HostState.CONNECTED)


def tell(event: str, **fields: object) -> None:
    """Says one thing to the runner."""
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


def wait_for_curtain() -> None:
    """Says that this process is ready, and returns when all others are."""
    _share_the_interpreter()
    wait_for_judge()
    tell("ready")
    orders = open(0, "rb", buffering=0, closefd=False)  # a buffer's lock would be held at exit
    if orders.readline() != b"go\n":
        sys.exit("the runner is gone")
    threading.Thread(target=_listen, args=(orders,), daemon=True).start()


def _share_the_interpreter() -> None:
    """What a busy service does that wants to be stopped at once.

    A stop comes in on a thread. By default a thread that computes (the SDK does, for 3 ms of each call) keeps
    the others waiting for up to 5 ms, and a full garbage collection walks everything that was imported.
    """
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.collect()
    gc.freeze()


def wait_for_judge() -> None:
    """Returns once somebody judges, or nobody came."""
    deadline, pause = time.monotonic() + CONNECT_WITHIN, threading.Event()
    while (host := spanfuse.status().host) and host.state not in _JUDGED and time.monotonic() < deadline:
        pause.wait(0.01)


def _listen(orders: FileIO) -> None:
    """Takes the operator's orders, until the runner is gone: then nobody wants this process any more."""
    for line in orders:
        order, _, run = line.decode().strip().partition(" ")
        if order == "kill":
            spanfuse.kill(run)
    os._exit(1)


@contextlib.contextmanager
def ending(task: Task) -> Iterator[None]:
    """Tells the runner how the run inside ended: finished, stopped, or failed."""
    ended = Ended("finished")
    try:
        yield
    except spanfuse.BreakerOpen as stop:
        ended = _stopped(stop)
    except Exception as error:
        traceback.print_exc()
        ended = Ended(f"failed ({type(error).__name__})")
    tell("ended", name=task.scenario.name, ended=asdict(replace(ended, calls=task.calls, used=task.used)))


def _stopped(stop: spanfuse.BreakerOpen) -> Ended:
    """How the run was stopped. A stop that was given here for want of a processor is another outcome."""
    directive = stop.directive
    parts = runtime.live()
    assert parts is not None  # who else could have raised it
    effects = parts.board.effects(directive)
    return Ended(
        "stopped locally" if directive.issuer == LOCAL else "stopped",
        detector=directive.evidence.detector or directive.issuer,
        kill_latency=effects.kill_latency,
        closed_at=effects.received,
    )
