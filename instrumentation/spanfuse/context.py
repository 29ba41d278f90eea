"""Which run is current: identity that travels in OTel context and baggage.

Rule 1: context variables only (OTel's context); so it flows into tasks by itself, into threads by the
threading instrumentation, into other processes by baggage; beneath them all lies the run of the process,
where it has one. Rule 2: reading is cheap: the run rides as an object, baggage is read only where it came
from another process. It knows no gate and no host.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager
from contextvars import Token
from dataclasses import dataclass, field, replace

from opentelemetry import baggage
from opentelemetry import context as otel_context
from opentelemetry.context import Context

from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import BreakerKey, Identity, Level
from spanfuse_processor.engine.reading.lenient import number, text
from spanfuse_processor.engine.reading.stages import Stage, pack, unpack

_KEY = otel_context.create_key("spanfuse-run")
_CALL = otel_context.create_key("spanfuse-call")
MAX_AGENTS = 32  # names of enclosing agents that are remembered

_CARRIED = (
    names.RUN,
    names.AGENT_PATH,
    names.TENANT,
    names.NAMESPACE,
    names.FEATURE,
    names.USER,
    names.SESSION,
    names.BUDGET_USD,
    names.PROFILE,
    names.STAGES,
)
"""What says to another process which run it works for."""


@dataclass(frozen=True, slots=True)
class RunScope:
    """The run that calls are charged to.

    `agents` are the names of the agents that enclose the current point, outermost first; the run's own root
    is not one of them unless it was given an agent's name. `budget_usd` is what the whole run may cost.
    `tool` is the tool whose body this is, empty outside of one. `stages` are those that enclose the current
    point, as their text on spans. `keys` are the breakers that every call here answers to, its own model or
    tool apart.
    """

    id: str
    identity: Identity
    agents: tuple[str, ...] = ()
    budget_usd: float | None = None
    tool: str = ""
    stages: str = ""
    keys: tuple[BreakerKey, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        who = self.identity
        named = [
            (Level.RUN, self.id),
            *((Level.AGENT, agent) for agent in dict.fromkeys(self.agents)),
            (Level.USER, who.user),
            (Level.FEATURE, who.feature),
            (Level.NAMESPACE, who.namespace),
            (Level.TENANT, who.tenant),
        ]
        keys = [BreakerKey(level, name) for level, name in named if name]
        object.__setattr__(self, "keys", (*keys, BreakerKey(Level.EVERYTHING, "")))

    @property
    def depth(self) -> int:
        """How many agents enclose the current point, the root apart."""
        return max(0, len(self.agents) - 1)

    @property
    def agent(self) -> str:
        """The innermost agent, empty at the top."""
        return self.agents[-1] if self.agents else ""

    def inside(self, agent: str) -> RunScope:
        """The same run, one agent deeper."""
        return replace(self, agents=(*self.agents[: MAX_AGENTS - 1], agent), tool="")

    def carries_same(self, other: RunScope) -> bool:
        """Whether both say the same to another process."""
        mine = (self.id, self.agents, self.identity, self.budget_usd, self.stages)
        return mine == (other.id, other.agents, other.identity, other.budget_usd, other.stages)

    def within(self, tool: str) -> RunScope:
        """The same run, in the body of a tool."""
        return replace(self, tool=tool)

    def in_stage(self, stage: Stage) -> RunScope:
        """The same run, in a stage inside of those that enclose it already."""
        return replace(self, stages=pack((*unpack(self.stages), stage)))


def new_run_id() -> str:
    """A fresh run id, 32 hex digits."""
    return uuid.uuid4().hex


def current() -> RunScope | None:
    """The run of the current context, else of the process, or None. Baggage from another process counts."""
    context = otel_context.get_current()
    scope = context.get(_KEY)
    if isinstance(scope, RunScope):
        return scope
    return from_baggage(context) or _process.scope


def in_call(trace_id: bytes, span_id: bytes, context: Context) -> Context:
    """`context`, in the body of the call that has this span."""
    return otel_context.set_value(_CALL, (trace_id, span_id), context)


def current_call() -> tuple[bytes, bytes]:
    """The trace and span of the call in whose body this is; empty outside of any in this process."""
    ids = otel_context.get_value(_CALL)
    return ids if isinstance(ids, tuple) else (b"", b"")


class _Attached:
    """Makes a context current for the length of a `with`: a class, so that it is no frame in a traceback."""

    __slots__ = ("_context", "_token")

    def __init__(self, context: Context) -> None:
        self._context = context

    def __enter__(self) -> None:
        self._token: Token[Context] = otel_context.attach(self._context)

    def __exit__(self, *_: object) -> None:
        otel_context.detach(self._token)


def attached(context: Context) -> AbstractContextManager[None]:
    """Makes `context` the current one."""
    return _Attached(context)


def set_process_run(scope: RunScope | None) -> None:
    """Makes `scope` the run of every context that has none of its own; None takes it back."""
    _process.scope = scope


def with_run(scope: RunScope, context: Context | None = None) -> Context:
    """A context in which `scope` is current, here and (as baggage) in processes that it is handed to."""
    before = otel_context.get_value(_KEY, context)
    made = otel_context.set_value(_KEY, scope, context)
    if isinstance(before, RunScope) and before.carries_same(scope):
        return made
    entries = dict(_entries(scope))
    carried = baggage.get_all(made)
    for name in _CARRIED:
        if name in entries:
            made = baggage.set_baggage(name, entries[name], made)
        elif name in carried:  # of a run around this one
            made = baggage.remove_baggage(name, made)
    return made


def kept_here(scope: RunScope) -> Context:
    """A context in which `scope` is current in this process alone: nothing of it goes out as baggage."""
    made = otel_context.set_value(_KEY, scope)
    carried = baggage.get_all(made)
    for name in _CARRIED:
        if name in carried:
            made = baggage.remove_baggage(name, made)
    return made


def path_of(agents: tuple[str, ...]) -> str:
    """Enclosing agents as one text, as it stands in baggage and on spans."""
    return "/".join(agent.replace("/", "_") for agent in agents)


def _entries(scope: RunScope) -> list[tuple[str, str]]:
    who = scope.identity
    path = path_of(scope.agents)
    budget = "" if scope.budget_usd is None else str(scope.budget_usd)
    values = (
        scope.id, path, who.tenant, who.namespace, who.feature, who.user, who.session, budget, who.profile,
        scope.stages,
    )  # fmt: skip
    return [(name, value) for name, value in zip(_CARRIED, values, strict=True) if value]


def from_baggage(context: Context) -> RunScope | None:
    """The run that a context's baggage names, or None."""
    carried = baggage.get_all(context)
    run = _text(carried, names.RUN)
    if not run:
        return None
    who = Identity(
        tenant=_text(carried, names.TENANT),
        namespace=_text(carried, names.NAMESPACE),
        feature=_text(carried, names.FEATURE),
        user=_text(carried, names.USER),
        session=_text(carried, names.SESSION),
        profile=_text(carried, names.PROFILE),
    )
    path = _text(carried, names.AGENT_PATH)
    agents = tuple(path.split("/")[:MAX_AGENTS]) if path else ()
    budget = number(_text(carried, names.BUDGET_USD))
    return RunScope(run, who, agents, budget, stages=_text(carried, names.STAGES))


def _text(carried: Mapping[str, object], name: str) -> str:
    return text(carried.get(name))


class _Process:
    """The run of the whole process, where it has one."""

    scope: RunScope | None = None


_process = _Process()
