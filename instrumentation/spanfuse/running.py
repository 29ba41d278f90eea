"""`spanfuse.run`: names a run, and is its root span.

Rule 1: inside a run it is the same run, one agent deeper. Rule 2: what is said of a run (who, which
feature) holds for everything inside, in tasks, threads and other processes. Rule 3: `async with` may be
interrupted by a stop; it then ends with BreakerOpen. It does not know what happens inside.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Final, ParamSpec, TypeVar, cast

from spanfuse import context, runtime
from spanfuse.arguments import named
from spanfuse.calling import ActiveCall, begin
from spanfuse.context import RunScope
from spanfuse.errors import SettingsError
from spanfuse.provider import Intent, Outcome
from spanfuse.texts import text
from spanfuse_processor.engine import names
from spanfuse_processor.engine.fingerprints.canonical import is_opaque
from spanfuse_processor.engine.nouns import Identity, Kind
from spanfuse_processor.engine.policy import Profile

PROFILES: Final = tuple(profile.value for profile in Profile)

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class _Said:
    """What `spanfuse.run` was told."""

    identity: Identity
    agent: str
    name: str
    run_id: str
    budget_usd: float | None

    def scope(self, outer: RunScope | None) -> RunScope:
        """The run that this is, or is a part of."""
        if outer is not None and self.run_id in ("", outer.id):
            part = replace(self.identity, profile="")  # which is the whole run's
            return replace(outer, identity=_over(part, outer.identity), tool="")
        live = runtime.live()
        default = Identity(feature=live.settings.feature if live else "")
        who = _over(self.identity, default)
        return RunScope(self.run_id or context.new_run_id(), who, budget_usd=self.budget_usd)

    def intent(self, scope: RunScope, nested: bool) -> Intent:
        """The root span: an agent's where one is named or encloses it, else a workflow's."""
        attributes: dict[str, object] = {}
        if self.budget_usd is not None:  # of a part of a run it is only said: what is judged is the whole
            attributes[names.BUDGET_USD] = self.budget_usd
        agent = self.agent or (nested and (self.name or f"agent {len(scope.agents) + 1}"))
        if agent:
            return Intent(Kind.AGENT, "invoke_agent", agent, attributes=attributes)
        title = self.name or scope.identity.feature or "run"
        return Intent(Kind.WORKFLOW, "invoke_workflow", title, attributes=attributes)


def _over(said: Identity, known: Identity) -> Identity:
    return Identity(
        service=said.service or known.service,
        instance=said.instance or known.instance,
        tenant=said.tenant or known.tenant,
        namespace=said.namespace or known.namespace,
        feature=said.feature or known.feature,
        user=said.user or known.user,
        session=said.session or known.session,
        profile=said.profile or known.profile,
    )


class Run:
    """A run, or an agent inside one: a context manager, sync and async, and a decorator."""

    def __init__(self, said: _Said) -> None:
        self._said = said
        self._inside: RunScope | None = None
        self._entered: list[ExitStack] = []
        self._arguments: object = None  # of the function that it decorates, and what that returned
        self._answer: object = None

    @property
    def id(self) -> str:
        """The run's id, which `spanfuse kill` takes; empty before the run is entered, unless it was given."""
        return self._inside.id if self._inside else self._said.run_id

    @property
    def depth(self) -> int:
        """How many agents enclose its inside, the root apart."""
        return self._inside.depth if self._inside else 0

    @property
    def stopped(self) -> bool:
        """Whether a directive in force stops it now."""
        live = runtime.live()
        return bool(live and self._inside and live.gate.stopping(self._inside))

    def __enter__(self) -> Run:
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

    async def __aenter__(self) -> Run:
        """Begins, and may be interrupted from now on. Raises as `__enter__`."""
        self._enter(interruptible=True)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """As a decorator: every call of `function` is a run of its own (inside another, an agent of it)."""
        signature = inspect.signature(function)
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def asynchronous(*args: P.args, **kwargs: P.kwargs) -> Any:
                async with self._called(signature, args, kwargs) as run:
                    run._answer = answer = await function(*args, **kwargs)
                    return answer

            return cast("Callable[P, R]", asynchronous)

        @functools.wraps(function)
        def synchronous(*args: P.args, **kwargs: P.kwargs) -> R:
            with self._called(signature, args, kwargs) as run:
                run._answer = answer = function(*args, **kwargs)
                return answer

        return synchronous

    def _called(self, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
        """A run for one call of a function: what that is called with tells agents of one name apart.

        Where that is nothing, or shows nothing of itself, it is not known: two unknown tasks are not equal.
        """
        run = Run(self._said)
        if runtime.live() is not None:
            asked = named(signature, args, kwargs)
            run._arguments = asked if asked and all(map(_shows, asked.values())) else None
        return run

    def _enter(self, interruptible: bool = False) -> None:
        outer = context.current()
        scope = self._said.scope(outer)
        nested = outer is not None and outer.id == scope.id
        intent = self._said.intent(scope, nested)
        if intent.kind is Kind.AGENT:
            intent.arguments = self._arguments
        inside = scope.inside(intent.name) if intent.kind is Kind.AGENT else scope
        call = begin(intent, scope)
        self._inside = inside
        self._entered.append(enter(call, inside, functools.partial(self._end, intent.kind), interruptible))

    def _end(self, kind: Kind, call: ActiveCall, error: BaseException | None) -> None:
        if error is None:
            call.succeed(Outcome(result=self._answer if kind is Kind.AGENT else None))
        else:
            call.fail(error)


def enter(
    call: ActiveCall,
    inside: RunScope,
    end: Callable[[ActiveCall, BaseException | None], None],
    interruptible: bool,
) -> ExitStack:
    """Makes the span of `call`, and `inside`, current; what is returned takes that back and then calls `end`.

    `interruptible`: a stop may cancel the task, which leaves as BreakerOpen.
    """
    with ExitStack() as entering:
        entering.push(lambda kind, error, trace: end(call, error))
        entering.enter_context(context.attached(context.with_run(inside)))
        entering.enter_context(call.attached())
        live = runtime.live()
        if interruptible and live is not None:
            payer = functools.partial(live.gate.payers.of, inside)
            entering.push(live.inflight.wait(inside.keys, payer).interruptibly())
        return entering.pop_all()


def _shows(value: object) -> bool:
    """Whether an argument shows what is asked: a handle or a connection does not."""
    return not any(map(is_opaque, value if isinstance(value, list | tuple) else (value,)))


def run(
    *,
    feature: object = "",
    user: object = "",
    tenant: object = "",
    namespace: object = "",
    session: object = "",
    agent: object = "",
    name: object = "",
    run_id: object = "",
    budget_usd: float | None = None,
    profile: str | None = "",
) -> Run:
    """Names the run that everything inside is charged to.

        with spanfuse.run(feature="support-chat", user="u-123") as run:
            ...

    Also `async with`, and as a decorator. Inside another run it is a part of that run, one agent deeper,
    unless it is given a `run_id` of its own. Names and ids may be of any type, such as numbers and UUIDs:
    what counts is their text; None is not said.

    Args:
        feature, user, tenant, namespace, session: who and what the run is for; each has a breaker of its own,
            the session apart.
        agent: the agent's name; the root span is then `invoke_agent`, else `invoke_workflow`.
        name: what the workflow is called.
        run_id: continues a run of this id, for example in a worker; a new id when empty.
        budget_usd: what the run may cost, in US dollars: at 50 and 80 percent of it there is a warning, and
            when it is spent a stop. Of a part of a run it is only said, on its span
            (`spanfuse.run.budget_usd`).
        profile: what kind of run it is, and so how patiently it is judged: `interactive`, `batch` or `long`.
            The policy's rules go over it; empty leaves it to the policy. A part of a run has its run's.

    Raises:
        SettingsError: no such profile.
    """
    kind = text(profile)
    if kind and kind not in PROFILES:
        raise SettingsError(f"profile {profile!r} is unknown: use {', '.join(PROFILES)}")
    who = Identity(
        tenant=text(tenant),
        namespace=text(namespace),
        feature=text(feature),
        user=text(user),
        session=text(session),
        profile=kind,
    )
    return Run(_Said(who, text(agent), text(name), text(run_id), budget_usd))
