"""Runs a module as `python -m` does, on a leash: it is told to end when standard input closes.

    python -m spanfuse.demo.leash MODULE [ARGUMENT ...]

So no part of the demo outlives its runner, however that ended. It does not know what it runs.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading


def main() -> None:
    """Drops its own name from the arguments and becomes the module."""
    threading.Thread(target=_hold, daemon=True).start()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def _hold() -> None:
    """Standard input says nothing until it closes. Read unbuffered: a buffer's lock would be held at exit."""
    while os.read(0, 1_024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
