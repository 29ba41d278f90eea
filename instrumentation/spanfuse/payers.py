"""Who a call is charged to, as orders for the calls of a budget name them.

Rule 1: it says what the processor will read off the call's span: what a run does not say of itself, the
process's resource may. Rule 2: it is made when somebody asks; most calls are made without. It does not know
what is ordered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from spanfuse.context import RunScope
from spanfuse.provider import Intent
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.engine.reading.lenient import text

_OF_MODELS: Final = frozenset({Kind.MODEL, Kind.EMBEDDINGS})
_NOTHING: Final[Mapping[str, object]] = {}


def _no_resource() -> Mapping[str, object]:
    return _NOTHING


class Payers:
    """Tells who pays. `resource` says what is known of the process; it may become known late."""

    def __init__(self, resource: Callable[[], Mapping[str, object]] = _no_resource) -> None:
        self._resource = resource
        self._read: Mapping[str, object] = _NOTHING  # what `_base` was made of
        self._base = Payer()

    def of(self, scope: RunScope, intent: Intent | None = None) -> Payer:
        """Who pays for a call in `scope`; without an intent, for the run itself."""
        resource = self._resource()
        if resource is not self._read:
            self._base, self._read = _base(resource), resource
        base, who, agents = self._base, scope.identity, scope.agents
        model, tool, agent = "", "", agents[-1] if agents else ""
        if intent is not None:
            if intent.kind in _OF_MODELS:
                model = intent.name
            elif intent.kind is Kind.TOOL:
                tool = intent.name
            elif intent.kind is Kind.AGENT:
                agent = intent.name
        return Payer(
            who.tenant or base.tenant,
            base.service,
            who.namespace or base.namespace,
            who.feature or base.feature,
            agent,
            who.user or base.user,
            model,
            tool,
            scope.id,
        )


def _base(resource: Mapping[str, object]) -> Payer:
    def said(name: str) -> str:
        return text(resource.get(name))

    return Payer(
        tenant=said(names.TENANT),
        service=said(names.SERVICE_NAME),
        namespace=said(names.NAMESPACE) or said(names.SERVICE_NAMESPACE),
        feature=said(names.FEATURE),
        user=said(names.USER),
    )
