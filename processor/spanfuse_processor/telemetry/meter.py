"""Counts of calls, tokens and money by agent and model: plain dictionaries on the hot path.

Rule 1: one dictionary update per call; counts become series when somebody scrapes. Rule 2: labels are
bounded: past the limit a value becomes `other`, and that is counted. Rule 3: only the engine's thread writes;
readers copy.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Kind

OTHER = "other"
MAX_AGENTS = 25
MAX_MODELS = 30


class Labels:
    """The first `limit` values of a label keep their name; later ones share `other`."""

    def __init__(self, name: str, limit: int) -> None:
        self.name = name
        self.overflow = 0
        self._limit = limit
        self._known: dict[str, str] = {"": "unknown"}

    def bounded(self, value: str) -> str:
        """The label to use for `value`."""
        known = self._known.get(value)
        if known is not None:
            return known
        if len(self._known) > self._limit:
            self.overflow += 1
            return OTHER
        self._known[value] = value
        return value

    def known(self, value: str) -> str:
        """The label that `value` has got, without counting that it was asked for."""
        return self._known.get(value, OTHER)


@dataclass(slots=True)
class ModelCounts:
    """Sums over the model calls of one (agent, provider, model, outcome)."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    micro_usd: int = 0
    unpriced: int = 0


@dataclass(slots=True)
class Meter:
    """What was called, by whom, and what it cost. `add` is called for every ended call."""

    models: dict[tuple[str, str, str, str], ModelCounts] = field(default_factory=dict)
    tools: dict[tuple[str, str], int] = field(default_factory=dict)
    agents: Labels = field(default_factory=lambda: Labels("agent", MAX_AGENTS))
    model_names: Labels = field(default_factory=lambda: Labels("model", MAX_MODELS))

    def add(self, call: Call, event: CallEnded) -> None:
        """Counts one ended call."""
        kind = event.kind
        if kind is Kind.TOOL:
            key = (self.agents.bounded(event.agent), "error" if event.error else "ok")
            self.tools[key] = self.tools.get(key, 0) + 1
        elif kind is Kind.MODEL or kind is Kind.EMBEDDINGS:
            self._add_model(call, event)

    def _add_model(self, call: Call, event: CallEnded) -> None:
        # A name that no price list knows may be anything a client invents: it never becomes a label.
        known = call.cost is not None and not call.unpriced
        name = self.model_names.bounded(event.model) if known else OTHER
        outcome = "error" if event.error else "ok"
        key = (self.agents.bounded(event.agent), event.provider or "unknown", name, outcome)
        counts = self.models.get(key)
        if counts is None:
            counts = self.models[key] = ModelCounts()
        counts.calls += 1
        usage = event.usage
        if usage is None or not call.counts:
            return
        counts.input_tokens += usage.input_tokens
        counts.output_tokens += usage.output_tokens
        counts.cached_tokens += usage.cached_tokens
        counts.cache_write_tokens += usage.cache_write_tokens
        counts.reasoning_tokens += usage.reasoning_tokens
        counts.unpriced += not known
        counts.micro_usd += call.cost or 0
