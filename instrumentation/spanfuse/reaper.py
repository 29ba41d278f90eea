"""Ends what the application dropped without a word: streams neither read to the end nor closed.

Rule 1: the garbage collector calls in the middle of anything, also while this very thread holds a lock of
ours or of an exporter. So nothing is done there: the ending is queued, and a thread of its own does it (an
SDK's stream is part of a reference cycle, so this is the common case, and who waits for what such a one holds
has it found by `sweep`). Rule 2: `SimpleQueue.put` is made for that place, and the only thing called there.
Rule 3: what is left at exit is ended then; what a process had open when it forked is the parent's to end. It
does not know what it ends.
"""

from __future__ import annotations

import atexit
import gc
import math
import os
import threading
import time
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final

from spanfuse.guard import fault

Ending = Callable[[], None]

EXIT_TIMEOUT: Final = 1.0
"""Seconds that the exit of the process waits for what is left."""

SWEEPS: Final = 1.0
"""Seconds between two sweeps at least, and as many times what the last one took:"""
SPARING: Final = 20
SWEPT: Final = 0.05
"""Seconds that a sweep waits for the ends of what it found."""

_dropped: Final[SimpleQueue[Ending]] = SimpleQueue()
_owners: Final[set[weakref.finalize[..., Any]]] = set()
_thread: threading.Thread | None = None
_sweeping = threading.Lock()
_next_sweep = -math.inf


def when_dropped(owner: object, ending: Ending) -> Ending:
    """Has `ending` called, on another thread, soon after `owner` is collected. `ending` must not refer to it.

    Returns what calls it off.
    """
    _ensure_thread()
    watched = weakref.finalize(owner, _dropped.put, ending)
    watched.atexit = False  # the exit has an order of its own: see `_exit`
    _owners.add(watched)

    def call_off() -> None:
        watched.detach()
        _owners.discard(watched)

    return call_off


def watched() -> int:
    """How many owners are watched now."""
    return len(_owners)


def ready() -> None:
    """Has the thread run that ends things: for who will call `later`, where no thread can be started."""
    _ensure_thread()


def later(ending: Ending) -> None:
    """Has `ending` called on another thread, soon. Safe inside the collector."""
    _dropped.put(ending)


def flush(timeout: float) -> bool:
    """Waits until what has been dropped so far is ended; False when `timeout` seconds were too few."""
    if _thread is None or not _thread.is_alive():
        return True
    done = threading.Event()
    later(done.set)
    return done.wait(timeout)


def sweep() -> bool:
    """Has the collector find what was dropped, and waits a moment until that is ended.

    For who is about to wait for what the dropped may hold, with no lock held. Returns False where it did not
    look: nothing is open, or it has looked just now.
    """
    global _next_sweep
    if not _owners or not _sweeping.acquire(blocking=False):
        return False
    try:
        began = time.monotonic()
        if began < _next_sweep:
            return False
        gc.collect()
        ended = time.monotonic()
        _next_sweep = ended + max(SWEEPS, SPARING * (ended - began))
    finally:
        _sweeping.release()
    flush(SWEPT)
    return True


def _ensure_thread() -> None:
    global _thread
    if _thread is None or not _thread.is_alive():  # the latter in the child of a fork
        _thread = threading.Thread(target=_reap, name="spanfuse-reaper", daemon=True)
        _thread.start()


def _reap() -> None:
    while True:
        _end(_dropped.get())


def _end(ending: Ending) -> None:
    try:
        ending()
    except Exception as error:
        fault("reaper", error)


@atexit.register
def _exit() -> None:
    for owner in tuple(_owners):
        left = owner.detach()  # calling it does nothing once `weakref` has had its own exit
        if left is not None:
            later(*left[2])
    flush(EXIT_TIMEOUT)


def _forget() -> None:
    global _sweeping
    _sweeping = threading.Lock()  # a thread of the parent may have held it
    for parents in tuple(_owners):
        parents.detach()
    _owners.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
