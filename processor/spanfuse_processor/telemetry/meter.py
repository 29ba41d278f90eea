"""Counts of calls, tokens, time and money by agent and model: plain dictionaries on the hot path.

Rule 1: a few additions per call; counts become rows when somebody asks. Rule 2: labels are bounded: past the
limit a value becomes `other`, and that is counted. Rule 3: a name that no price list knows may be anything
that a client invents, and never becomes a label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.runs.record import Record
from spanfuse_processor.telemetry.declaring import OTHER, UNKNOWN
from spanfuse_processor.telemetry.labels import Labels
from spanfuse_processor.telemetry.metrics import metric
from spanfuse_processor.telemetry.tally import Counter, Histogram, Row, exemplar

TOOL, MODEL, EMBEDDINGS = Kind.TOOL, Kind.MODEL, Kind.EMBEDDINGS  # to look them up costs more than to count
MAX_AGENTS: Final = 25
MAX_MODELS: Final = 30
MAX_PROVIDERS: Final = 20
TOKEN_TYPES: Final = ("input", "output", "cache_read", "cache_write", "reasoning")
_CALLS: Final = metric("llm_calls_total").name
_TOKENS: Final = metric("llm_tokens_total").name
_COST: Final = metric("llm_cost_usd_total").name
_UNPRICED: Final = metric("llm_unpriced_calls_total").name
_STOPS: Final = ("BreakerOpen", "RunStopped")
"""Errors with which calls end that a stop of ours has ended."""


@dataclass(slots=True)
class ModelCounts:
    """Sums over the model calls of one (agent, provider, model, outcome), and the latest of them."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    micro_usd: int = 0
    unpriced: int = 0
    trace_id: bytes = b""
    cost: int = 0
    wall: float = 0.0

    def sums(self) -> tuple[int, ...]:
        """Tokens by TOKEN_TYPES, money, calls without a price."""
        return (
            self.input_tokens,
            self.output_tokens,
            self.cached_tokens,
            self.cache_write_tokens,
            self.reasoning_tokens,
            self.micro_usd,
            self.unpriced,
        )


class Meter:
    """What was called, by whom, and what it cost. `add` is called for every ended call; `wall` is the time.

    Attributes:
        agents: the names of agents, for whoever counts by them.
        models: sums by agent, provider, model and outcome.
        allowed: calls by agent that a gate of our own library let through: those that it tells of.
        now: about the time, for what points to traces; see `tick`.
    """

    def __init__(
        self,
        wall: Callable[[], float],
        agents: Labels | None = None,
        models: Labels | None = None,
    ) -> None:
        self._wall = wall
        self.agents = agents or Labels("agent", MAX_AGENTS)
        self.model_names = models or Labels("model", MAX_MODELS)
        self.providers = Labels("provider", MAX_PROVIDERS)
        self.models: dict[tuple[str, str, str, str], ModelCounts] = {}
        self.tools = Counter(metric("tool_calls_total"), wall)
        self.runs = Counter(metric("runs_total"), wall)
        self.durations = Histogram(metric("call_duration_seconds"), wall)
        self.durations.begin([kind.value for kind in Kind])
        self._tools_took, self._models_took = (
            self.durations.of((kind.value,)) for kind in (Kind.TOOL, Kind.MODEL)
        )
        self.allowed: dict[str, int] = {}
        self.now = 0.0
        self.own = (self.tools, self.runs, self.durations)

    def begin(self, agent: str) -> None:
        """This agent is new: what may come of its calls is there at zero."""
        for counter in (self.tools, self.runs):
            counter.begin((agent,), counter.metric.values["outcome"])

    def add(self, call: Call, event: CallEnded) -> None:
        """Counts one ended call."""
        kind, took = event.kind, event.ended_ns - event.started_ns
        seconds = took / 1e9 if took > 0 else 0.0
        if kind is TOOL:
            self._tools_took.add(seconds, event.trace_id, self.now)
            agent = self.agents.bounded(event.agent)
            self._add_tool(agent, outcome_of(event.error))
        elif kind is MODEL or kind is EMBEDDINGS:
            of_kind = self._models_took if kind is MODEL else self.durations.of((kind.value,))
            of_kind.add(seconds, event.trace_id, self.now)
            agent = self._add_model(call, event)
        else:
            self.durations.of((kind.value,)).add(seconds, event.trace_id, self.now)
            return
        if event.run_id:
            self.allowed[agent] = self.allowed.get(agent, 0) + 1

    def tick(self) -> None:
        """Looks at the clock: several calls share a look."""
        self.now = self._wall()

    def over(self, record: Record, error: str) -> None:
        """Counts a run that is over."""
        halted = record.halted or outcome_of(error) == "killed"
        outcome = "stopped" if halted else "error" if error else "ok"
        self.runs.add(self.agents.bounded(record.agent), outcome)

    def refused(self, agent: str, tool: bool, count: int) -> None:
        """Counts calls that were not made. What was to be called is not told."""
        if tool:
            self.tools.add(agent, "denied", by=count)
        else:
            self._of(agent, UNKNOWN, OTHER, "denied").calls += count

    def rows(self, shown: bool) -> Iterator[Row]:
        """All of it."""
        yield from self._models()
        for each in self.own:
            yield from each.rows(shown)

    def _add_tool(self, agent: str, outcome: str) -> None:
        counts, key = self.tools.counts, (agent, outcome)
        if key in counts:
            counts[key] += 1
        else:
            self.tools.add(agent, outcome)

    def _add_model(self, call: Call, event: CallEnded) -> str:
        known = call.cost is not None and not call.unpriced
        name = self.model_names.bounded(event.model) if known else OTHER
        agent, provider = self.agents.bounded(event.agent), self.providers.bounded(event.provider)
        key = (agent, provider, name, outcome_of(event.error))
        counts = self.models.get(key) or self._of(*key)
        counts.calls += 1
        counts.trace_id, counts.cost, counts.wall = event.trace_id, 0, self.now
        usage = event.usage
        if usage is None or not call.counts:
            return agent
        counts.input_tokens += usage.input_tokens
        counts.output_tokens += usage.output_tokens
        counts.cached_tokens += usage.cached_tokens
        counts.cache_write_tokens += usage.cache_write_tokens
        counts.reasoning_tokens += usage.reasoning_tokens
        counts.unpriced += not known
        counts.cost = call.cost or 0
        counts.micro_usd += counts.cost
        return agent

    def _of(self, *labels: str) -> ModelCounts:
        key: tuple[str, str, str, str] = labels  # type: ignore[assignment]
        counts = self.models.get(key)
        if counts is None:
            counts = self.models[key] = ModelCounts()
        return counts

    def _models(self) -> Iterator[Row]:
        spent: dict[tuple[str, str], tuple[list[int], ModelCounts]] = {}
        for labels, counts in list(self.models.items()):
            yield _CALLS, labels, counts.calls, exemplar(counts.trace_id, 1, counts.wall)
            agent, _, model, outcome = labels
            if outcome != "denied":
                sums, latest = spent.get((agent, model), ([0] * 7, counts))
                sums = [one + other for one, other in zip(sums, counts.sums(), strict=True)]
                spent[agent, model] = sums, counts if counts.wall >= latest.wall else latest
        unpriced = {OTHER: 0}  # it is what a model without a price is called
        for (agent, model), (sums, latest) in spent.items():
            for kind, part in zip(TOKEN_TYPES, sums, strict=False):
                yield _TOKENS, (agent, model, kind), part, None
            last = exemplar(latest.trace_id, latest.cost / 1e6, latest.wall)
            yield _COST, (agent, model), sums[5] / 1e6, last
            unpriced[model] = unpriced.get(model, 0) + sums[6]
        for model, count in unpriced.items():
            yield _UNPRICED, (model,), count, None


def outcome_of(error: str) -> str:
    """What came of a call that ended with this error, or with none.

    >>> outcome_of(""), outcome_of("TimeoutError"), outcome_of("spanfuse.errors.BreakerOpen")
    ('ok', 'error', 'killed')
    """
    if not error:
        return "ok"
    return "killed" if error.rpartition(".")[2] in _STOPS else "error"
