"""The rows of the journal: steps, events and snapshots; and what is summed of them.

Rule 1: rows are flat and plain, as a table holds them; money is micro-dollars, time is wall time in seconds
since the epoch, ids are lower-case hex. Rule 2: a row only grows at its end, and what is added has a default.
They do not know where they are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from spanfuse_processor.engine.reach import PAYER_FIELDS

EVENT_KINDS: Final = ("trip", "withheld", "warn", "release", "order", "effect", "budget", "forecast")
"""What events there are: a stop that is enforced; one that is only said; a warning; a stop taken back; an
order of an operator or an alert; what an application reports of a directive; a mark of a budget; a forecast
of one."""


TIMES: Final[Mapping[str, str]] = {"month": "%Y-%m", "day": "%Y-%m-%d", "hour": "%Y-%m-%dT%H:00"}
"""Spans of time (UTC) that spend can be grouped by, and how they are written."""

GROUPS: Final = (*PAYER_FIELDS, "kind", *TIMES)
"""What spend can be grouped by."""


class StepRow(NamedTuple):
    """One call that ended. Empty texts and zeros where it is not known or does not apply.

    `kind` is that of the call (model, embeddings, tool, agent, workflow, other), `ended` when it ended. Input
    includes cached and cache-written tokens, output includes reasoning. `estimated`: usage or price is a
    guess; `unpriced`: no price is known; `counts` is False where another row tells of the same call, and has
    its cost, and for kinds that nobody charges. A correction of a call is its row with a higher `revision`.

    `number` is its place in the run, from 1 in order of arrival, `depth` how many agents are above it. `name`
    is the tool's, the model's or the agent's. `error` is `error.type`, `error_class` what it promises to who
    tries again (permanent, denied, transient, failed). `arguments` and `result` are digests with noise
    removed, `result_size` is in characters, `news` what it brought its agent (new, known, forgiven, unknown).
    `content` is empty unless contents are captured: then a JSON object of texts, each cut, with any of
    "arguments", "result", "input", "output".
    """

    trace_id: str
    span_id: str
    ended: float
    kind: str = ""
    tenant: str = ""
    service: str = ""
    namespace: str = ""
    feature: str = ""
    agent: str = ""
    user: str = ""
    model: str = ""
    tool: str = ""
    run: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost: int = 0
    failed: bool = False
    estimated: bool = False
    unpriced: bool = False
    counts: bool = True
    revision: int = 0
    started: float = 0.0
    parent_span_id: str = ""
    number: int = 0
    depth: int = 0
    name: str = ""
    provider: str = ""
    error: str = ""
    error_class: str = ""
    arguments: str = ""
    result: str = ""
    result_size: int = 0
    news: str = "unknown"
    content: str = ""


class EventRow(NamedTuple):
    """Something that happened, for the record. `kind` is one of EVENT_KINDS.

    `id` makes it the same event when it comes again. `key` is the breaker or the account that it is about.
    `body` is a JSON object with all that has no column: docs/stores.md says what, by kind.
    """

    id: str
    at: float
    kind: str
    severity: str = ""
    key: str = ""
    trace_id: str = ""
    span_id: str = ""
    tenant: str = ""
    service: str = ""
    namespace: str = ""
    feature: str = ""
    agent: str = ""
    user: str = ""
    model: str = ""
    tool: str = ""
    run: str = ""
    body: str = "{}"


class SnapshotRow(NamedTuple):
    """What a run looked like when it was stopped. `id` is that of the trip's event, `body` a JSON object (its
    schema: `bookkeeping/snapshot.schema.json`)."""

    id: str
    at: float
    run: str = ""
    trace_id: str = ""
    body: str = "{}"


class RunRow(NamedTuple):
    """What is known of one run by its steps. `agent` is its outermost agent where that is known.

    `started` and `ended` are those of its first and its last step. `calls`, tokens and costs are sums over
    the steps that count, `failed` is how many of all steps did.
    """

    run: str
    trace_id: str
    started: float
    ended: float
    service: str
    feature: str
    agent: str
    steps: int
    failed: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: int
    estimated_cost: int
    unpriced: int


class SpendRow(NamedTuple):
    """What the calls of one group cost. `values` are those of the fields that were asked by, in their order.

    `estimated_cost` is the part of `cost` that is a guess, `unpriced` how many calls have no known price.
    """

    values: tuple[str, ...]
    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost: int
    estimated_cost: int
    unpriced: int


def check_groups(by: Iterable[str]) -> tuple[str, ...]:
    """`by`, if spend can be grouped so; blanks around a name are none of it.

    >>> check_groups(["feature", " day"])
    ('feature', 'day')

    Raises:
        ValueError: an unknown field, or one that is named twice.
    """
    fields = tuple(name.strip() for name in by)
    for name in fields:
        if name not in GROUPS:
            raise ValueError(f"spend cannot be grouped by {name!r}, only by {', '.join(GROUPS)}")
    if len(set(fields)) < len(fields):
        raise ValueError("a field is named twice")
    return fields
