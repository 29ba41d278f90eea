"""Switching the library on and off, and asking it how it does.

Rule 1: `instrument` twice is once. Rule 2: this file stays light: what it needs is imported when it is
called, so that `import spanfuse` costs nothing. Rule 3: nothing here prints, and at exit nothing here waits
for long.
"""

from __future__ import annotations

import atexit
import os
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from spanfuse.errors import SettingsError

if TYPE_CHECKING:
    from typing import Unpack

    from spanfuse.context import RunScope
    from spanfuse.host import HostStats
    from spanfuse.settings import Options
    from spanfuse_processor.engine.verdicts import Directive

__all__ = ["SettingsError", "Status", "current_run", "instrument", "kill", "release", "shutdown", "status"]

_lock = threading.RLock()
_exit_hooks: list[str] = []


@dataclass(frozen=True, slots=True)
class Status:
    """How the library does.

    Attributes:
        host: what the host counts, and whether anyone judges; None when the library is off.
        directives: what must be obeyed now.
        sdks: the SDKs that are patched.
        faults: internal errors that were swallowed in this process, and the last one.
    """

    host: HostStats | None = None
    directives: list[Directive] = field(default_factory=list)
    sdks: list[str] = field(default_factory=list)
    faults: int = 0
    last_fault: str = ""


def instrument(**options: Unpack[Options]) -> None:
    """Has every LLM and tool call of this process watched, judged and, where it must be, stopped.

    SDKs are patched now or when they are imported. A second call does nothing: `shutdown()` first to change
    settings.

    Raises:
        SettingsError: a setting that cannot be used.
    """
    from spanfuse import runtime
    from spanfuse.settings import load

    with _lock:
        if runtime.live() is not None:
            return
        settings = load(options)
        if settings.disabled:
            return
        _switch_on(settings)


def _switch_on(settings: Any) -> None:
    from spanfuse import assembly, hooks, prices, process, runtime

    live = assembly.assemble(settings)
    runtime.install(live)
    live.start()
    live.tracing.adopt()
    hooks.notice_providers()
    hooks.patch_sdks()
    hooks.flow_into_threads()
    process.enter(live)
    prices.shared().warm_up()
    if not _exit_hooks:
        _exit_hooks.append("registered")
        atexit.register(shutdown)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_after_fork)


def _after_fork() -> None:
    """In the child of a fork, where an exception would only be printed."""
    from spanfuse import assembly, guard, process

    try:
        process.after_fork()
        assembly.after_fork()
    except Exception as error:
        guard.fault("fork", error)


def shutdown(timeout: float = 2.0) -> None:
    """Stops watching; what is queued gets at most `timeout` seconds to leave. Also done at exit."""
    from spanfuse import guard, process, reaper, runtime

    with _lock:
        live = runtime.live()
        if live is None:
            return
        reaper.flush(timeout)  # streams that were just dropped still have their end
        process.leave()
        runtime.install(None)
        live.throttle.let_go()
        live.payments.let_go()
        try:
            live.host.stop(timeout)
        except Exception as error:
            guard.fault("host.stop", error)


def uninstrument() -> None:
    """As `shutdown`, and leaves SDKs and threads as they were before `instrument`."""
    from spanfuse import hooks

    with _lock:
        shutdown()
        hooks.unpatch_sdks()
        hooks.stay_out_of_threads()
        hooks.stop_noticing()


def kill(run_id: object, reason: str = "stopped by the application") -> bool:
    """Stops a run from inside the application. False where it is stopped, or only the service may do it."""
    return _order("kill", run_id, reason)


def release(run_id: object) -> bool:
    """Takes a stop of a run back. False where none stood, or only the service may do it."""
    return _order("release", run_id)


def _order(what: str, run_id: object, *details: str) -> bool:
    from spanfuse import guard, runtime
    from spanfuse.texts import text
    from spanfuse_processor.engine.nouns import BreakerKey, Level

    live = runtime.live()
    if live is None:
        return False
    live.start()
    try:
        return bool(getattr(live.host, what)(BreakerKey(Level.RUN, text(run_id)), *details))
    except Exception as error:
        guard.fault(what, error)
        return False


def status() -> Status:
    """How the library does in this process."""
    from spanfuse import guard, hooks, runtime

    live = runtime.live()
    return Status(
        host=live.host.stats() if live else None,
        directives=live.board.directives() if live else [],
        sdks=hooks.patched(),
        faults=guard.FAULTS.count,
        last_fault=guard.FAULTS.last,
    )


def current_run() -> RunScope | None:
    """The run that a call made here would be charged to, None when none has been named."""
    from spanfuse import context

    return context.current()
