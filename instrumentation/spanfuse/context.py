"""Which run is current: identity that travels in OTel context and baggage.

Rule 1: context variables only (OTel's context); so it flows into tasks by itself, into threads by the
threading instrumentation, into other processes by baggage. Rule 2: reading is cheap: the run rides as an
object, baggage is read only where it came from another process. It knows no gate and no host.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace

from opentelemetry import baggage
from opentelemetry import context as otel_context
from opentelemetry.context import Context

from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Identity

_KEY = otel_context.create_key("spanfuse-run")
MAX_AGENTS = 32  # names of enclosing agents that are remembered


@dataclass(frozen=True, slots=True)
class RunScope:
    """The run that calls are charged to.

    `agents` are the names of the agents that enclose the current point, outermost first; the run's own root
    is not one of them unless it was given an agent's name. `budget_usd` is what `spanfuse.run` was told.
    """

    id: str
    identity: Identity
    agents: tuple[str, ...] = ()
    budget_usd: float | None = None

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
        return replace(self, agents=(*self.agents[: MAX_AGENTS - 1], agent))


def new_run_id() -> str:
    """A fresh run id, 32 hex digits."""
    return uuid.uuid4().hex


def current() -> RunScope | None:
    """The run of the current context, or None. Baggage from another process counts."""
    scope = otel_context.get_value(_KEY)
    if isinstance(scope, RunScope):
        return scope
    return _from_baggage()


def with_run(scope: RunScope, context: Context | None = None) -> Context:
    """A context in which `scope` is current, here and (as baggage) in processes that it is handed to."""
    made = otel_context.set_value(_KEY, scope, context)
    for name, value in _entries(scope):
        made = baggage.set_baggage(name, value, made)
    return made


def _entries(scope: RunScope) -> list[tuple[str, str]]:
    who = scope.identity
    entries = [
        (names.RUN, scope.id),
        (names.AGENT_PATH, "/".join(agent.replace("/", "_") for agent in scope.agents)),
        (names.TENANT, who.tenant),
        (names.NAMESPACE, who.namespace),
        (names.FEATURE, who.feature),
        (names.USER, who.user),
        (names.SESSION, who.session),
    ]
    return [(name, value) for name, value in entries if value]


def _from_baggage() -> RunScope | None:
    run = baggage.get_baggage(names.RUN)
    if not isinstance(run, str) or not run:
        return None

    def text(name: str) -> str:
        value = baggage.get_baggage(name)
        return value if isinstance(value, str) else ""

    who = Identity(
        tenant=text(names.TENANT),
        namespace=text(names.NAMESPACE),
        feature=text(names.FEATURE),
        user=text(names.USER),
        session=text(names.SESSION),
    )
    path = text(names.AGENT_PATH)
    return RunScope(run, who, tuple(path.split("/")[:MAX_AGENTS]) if path else ())
