"""The guard at the rim: a fault of ours is counted and logged, and never reaches the application.

Rule 1: every entry that the application (or a patched SDK) calls is guarded once, here and nowhere deeper.
Rule 2: BreakerOpen and RunStopped are no faults; they pass. Rule 3: under pytest a fault is raised again,
so that tests see it (`SPANFUSE_RERAISE=0` switches that off). It does not know what failed.
"""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from spanfuse.errors import BreakerOpen, RunStopped

P = ParamSpec("P")
R = TypeVar("R")
A = TypeVar("A")

ENV_RERAISE = "SPANFUSE_RERAISE"
ORDERS = (BreakerOpen, RunStopped)
"""What is raised on purpose: it must reach the application."""

_log = logging.getLogger("spanfuse")


@dataclass(slots=True)
class Faults:
    """What was swallowed in this process. `count` may miss one of two that fall together."""

    count: int = 0
    last: str = ""


FAULTS = Faults()
_logged: set[tuple[str, str]] = set()


def fault(where: str, error: Exception) -> None:
    """Takes note of an internal error: counted always, logged once for each place and type."""
    kind = type(error).__name__
    FAULTS.count += 1
    FAULTS.last = f"{where}: {kind}: {error}"
    if (where, kind) not in _logged:
        _logged.add((where, kind))
        _log.warning("internal error in %s; the call goes on unwatched", where, exc_info=error)
    if os.environ.get("PYTEST_CURRENT_TEST") and os.environ.get(ENV_RERAISE) != "0":
        raise error


def guarded(where: str, instead: A) -> Callable[[Callable[P, R]], Callable[P, R | A]]:
    """Decorates an entry: whatever goes wrong in it stays in it, and `instead` is the answer."""

    def decorate(entry: Callable[P, R]) -> Callable[P, R | A]:
        @functools.wraps(entry)
        def inside(*args: P.args, **kwargs: P.kwargs) -> R | A:
            try:
                return entry(*args, **kwargs)
            except ORDERS:
                raise
            except Exception as error:
                fault(where, error)
                return instead

        return inside

    return decorate
