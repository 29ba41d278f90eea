"""Long work: `spanfuse.stage` bounds a stretch of it, `spanfuse.heartbeat` says that it lives.

Rule 1: a stage is a span of its own, and is stamped on every call inside, in other processes too. Rule 2: who
is stopped learns of it at his heartbeat: code that makes no calls has no other place. Rule 3: outside of any
run a stage is a run, and a heartbeat is nobody's. It does not know when anything is stopped.
"""

from __future__ import annotations

import math
from contextlib import ExitStack
from types import TracebackType

from spanfuse import context, runtime
from spanfuse.calling import ActiveCall, begin
from spanfuse.context import RunScope
from spanfuse.errors import BreakerOpen, SettingsError
from spanfuse.guard import guarded
from spanfuse.provider import Intent, Outcome
from spanfuse.running import enter
from spanfuse.runtime import Runtime
from spanfuse.texts import text
from spanfuse_processor.engine import names
from spanfuse_processor.engine.events import Heartbeat
from spanfuse_processor.engine.nouns import Identity, Kind
from spanfuse_processor.engine.reading import stages as marks

ID_DIGITS = 16


class Stage:
    """A stretch of a run's work: a context manager, sync and async. Each entry has the whole budget."""

    def __init__(self, name: str, budget_usd: float | None, timeout: float | None) -> None:
        self.name = name
        self._budget_usd = budget_usd
        self._timeout = timeout
        self._entered: list[ExitStack] = []

    def __enter__(self) -> Stage:
        """Begins.

        Raises:
            BreakerOpen: a directive in force covers the run.
        """
        self._enter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered.pop().__exit__(kind, error, trace)

    async def __aenter__(self) -> Stage:
        """Begins, and may be interrupted from now on. Raises as `__enter__`."""
        self._enter(interruptible=True)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def _enter(self, interruptible: bool = False) -> None:
        budget = None if self._budget_usd is None else round(self._budget_usd * 1_000_000)
        mark = marks.Stage(context.new_run_id()[:ID_DIGITS], self.name, budget, self._timeout)
        inside = (context.current() or _run_of_its_own()).in_stage(mark)
        said: dict[str, object] = {
            names.STAGE: self.name,
            names.STAGE_BUDGET_USD: self._budget_usd,
            names.STAGE_TIMEOUT: self._timeout,
        }
        attributes = {name: value for name, value in said.items() if value is not None}
        call = begin(Intent(Kind.WORKFLOW, "invoke_workflow", self.name, attributes=attributes), inside)
        self._entered.append(enter(call, inside, _end, interruptible))


def stage(name: object, *, budget_usd: float | None = None, timeout: float | None = None) -> Stage:
    """A stage of the current run, with a budget and a time of its own.

        with spanfuse.stage("index", budget_usd=1.0, timeout=600):
            ...

    Also `async with`. Near its budget and its time there is a warning. Over them it may go on, to half as
    much again, while it makes progress, which is new results of tools; without, the run is stopped, and the
    reason names the stage. A stage inside another counts for both.

    Args:
        name: what it is called, on spans and in reasons; what counts is its text.
        budget_usd: what the calls inside may cost, in US dollars; each entry anew. None: unlimited.
        timeout: seconds that it may take. None: unlimited.

    Raises:
        SettingsError: no name, a negative budget, a time that is not positive.
    """
    called = text(name)
    if not called:
        raise SettingsError(f"stage name {name!r} says nothing: give it a name")
    if budget_usd is not None and not (math.isfinite(budget_usd) and budget_usd >= 0):
        raise SettingsError(f"stage budget_usd {budget_usd!r} is no sum of money")
    if timeout is not None and not (math.isfinite(timeout) and timeout > 0):
        raise SettingsError(f"stage timeout {timeout!r} is no number of seconds")
    return Stage(called, budget_usd, timeout)


@guarded("heartbeat", None)
def heartbeat(within: float = 0.0) -> None:
    """The current run lives, although it makes no calls. Cheap: call it as often as you like.

    A run that has sent a heartbeat is expected to go on doing so while nothing of it is open, until the
    stage, agent or run ends in which it did: it is warned of after 25 seconds without one, and stopped five
    minutes later. Inside a tool it also says that the tool is not stuck.

    Args:
        within: seconds in which the next one comes at the latest, where 25 are too few.

    Raises:
        BreakerOpen: the run has been stopped.
    """
    live, scope = runtime.live(), context.current()
    if live is None or scope is None:
        return
    live.start()
    live.host.heartbeat(Heartbeat(scope.id, *context.current_call(), within=within))
    _obey(live, scope)


def _obey(live: Runtime, scope: RunScope) -> None:
    directive = live.gate.stopping(scope)
    if directive is not None:
        live.inflight.refused(directive)
        live.board.ledger.add(directive, refused=1)
        raise BreakerOpen(directive)


def _run_of_its_own() -> RunScope:
    live = runtime.live()
    return RunScope(context.new_run_id(), Identity(feature=live.settings.feature if live else ""))


def _end(call: ActiveCall, error: BaseException | None) -> None:
    if error is None:
        call.succeed(Outcome())
    else:
        call.fail(error)
