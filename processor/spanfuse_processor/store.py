"""What outlives the process: the journal (steps, events, snapshots) and the ledger's changes; the contract of
every store.

Rule 1: everything may be written twice and counts once: steps by span, ledger entries by writer and number,
events and snapshots by id. Rule 2: a store is asked by `writing.py`'s thread and by reports, never by a decision;
it may be slow, and it may fail. Rule 3: rows are flat and plain, as a table holds them; money is
micro-dollars, time is wall time in seconds since the epoch, ids are lower-case hex. It does not know what a
budget is.

The ledger is shared by replicas as a log: each writer numbers its own entries from 1, without gaps. Whoever
holds counts says with `seen` which number of each writer they include, and reads what lies beyond. (The
number in an entry itself is that of the ledger that made it.)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.engine.reach import PAYER_FIELDS

Seen = Mapping[str, int]
"""Up to which of its entries each writer's are included in something."""

LEAST_BETWEEN_DUMPS: Final = 60.0
"""Seconds for which entries are kept after a dump includes them: replicas read a little behind."""

FORGOTTEN_AFTER: Final = 86_400.0
"""Seconds after which a writer that wrote nothing more, and whose entries a dump includes, is forgotten.

When it writes again after all, whoever holds counts is taken to include what it wrote before."""

MOST_ROWS: Final = 10_000
"""The most rows of one answer."""

FOR_EVER: Final = 1e12
"""Seconds since the epoch that nothing lies beyond."""


class StoreError(Exception):
    """Something could not be kept or read. The same again may succeed later."""


class RowsRefused(StoreError):
    """The store cannot hold these rows, now or later: too large a number, text that is no text."""


class LedgerGap(StoreError):
    """Entries that were asked for are no longer there: the newest dump includes them."""


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


class Written(NamedTuple):
    """An entry as it stands in the log."""

    writer: str
    number: int
    entry: Entry


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
    """What a run looked like when it was stopped. `id` is that of the trip's event; `body` is a JSON object by
    the schema in `bookkeeping/snapshot.schema.json`."""

    id: str
    at: float
    run: str = ""
    trace_id: str = ""
    body: str = "{}"


class RunRow(NamedTuple):
    """What is known of one run by its steps. `agent` is its outermost agent where that is known.

    `started` and `ended` are those of its first and its last step. `calls`, tokens and costs are sums over the
    steps that count, `failed` is how many of all steps did.
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


class Saved(NamedTuple):
    """The newest dump of the ledger (None: there is none) and which entries it includes."""

    dump: Mapping[str, Any] | None
    seen: Seen


EVENT_KINDS: Final = ("trip", "withheld", "warn", "release", "order", "effect", "budget", "forecast")
"""What events there are: a stop that is enforced; one that is only said; a warning; a stop taken back; an
order of an operator or an alert; what an application reports of a directive; a mark of a budget; a forecast of
one."""

TIMES: Final[Mapping[str, str]] = {"month": "%Y-%m", "day": "%Y-%m-%d", "hour": "%Y-%m-%dT%H:00"}
"""Spans of time (UTC) that spend can be grouped by, and how they are written."""

GROUPS: Final = (*PAYER_FIELDS, "kind", *TIMES)
"""What spend can be grouped by."""


class Store(Protocol):
    """Keeps it. Methods may be called from any thread; each raises StoreError when it did not succeed."""

    def append_steps(self, rows: Sequence[StepRow]) -> None:
        """Keeps rows that are new, and those of a higher revision in place of their older ones."""

    def append_events(self, rows: Sequence[EventRow]) -> None:
        """Keeps events that are new."""

    def append_snapshots(self, rows: Sequence[SnapshotRow]) -> None:
        """Keeps snapshots that are new."""

    def append_ledger(self, writer: str, first: int, entries: Sequence[Entry]) -> None:
        """Keeps entries number `first`, `first` + 1 ... of a writer; numbers it had already are skipped."""

    def read_ledger(self, seen: Seen, but: str = "") -> Sequence[Written]:
        """Entries beyond `seen`, each writer's in order; not those of the writer `but`.

        Raises:
            LedgerGap: some of them are there no longer: load the ledger anew.
        """

    def save_ledger(self, dump: Mapping[str, Any], seen: Seen, wall: float) -> bool:
        """Puts a dump in place of the one before, and lets go of entries that were included long enough.

        False, and nothing changes, when it includes less than the one that stands.
        """

    def load_ledger(self) -> Saved:
        """The newest dump. What came after it is `read_ledger(saved.seen)`."""

    def spend(self, by: Sequence[str], since: float, until: float) -> Sequence[SpendRow]:
        """What calls that count and ended in [since, until) cost, by some of GROUPS; dearest first, at most
        MOST_ROWS.

        Raises:
            ValueError: a field that spend cannot be grouped by, or one that is named twice.
        """

    def events(
        self,
        since: float,
        until: float,
        kinds: Collection[str] = (),
        most: int = MOST_ROWS,
        *,
        run: str = "",
        agent: str = "",
        before_id: str = "",
    ) -> Sequence[EventRow]:
        """Events in [since, until), of some kinds or of all, of a run, of an agent; newest first.

        `before_id` goes on after the last of an earlier answer; none where there is no such event any more.
        """

    def event(self, name: str) -> EventRow | None:
        """The event with this id."""

    def steps(
        self,
        since: float = 0.0,
        until: float = FOR_EVER,
        most: int = MOST_ROWS,
        *,
        run: str = "",
        trace_id: str = "",
    ) -> Sequence[StepRow]:
        """Steps that ended in [since, until), of a run or of a trace; oldest first. Where there are more
        than `most`, the latest."""

    def runs(self, since: float, until: float, most: int = MOST_ROWS) -> Sequence[RunRow]:
        """The runs that steps which ended in [since, until) belong to, by these steps; the one that ended
        last comes first."""

    def snapshot(self, name: str) -> SnapshotRow | None:
        """The snapshot that belongs to the event with this id."""

    def prune(self, before: float) -> int:
        """Lets go of steps, events and snapshots that are older. How many there were."""

    def close(self) -> None:
        """Lets go of files and connections."""


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


def includes(one: Seen, other: Seen) -> bool:
    """Whether whoever has seen `one` has seen all of `other`.

    >>> includes({"a": 3, "b": 1}, {"a": 2}), includes({"a": 1}, {"a": 1, "b": 1})
    (True, False)
    """
    return all(one.get(writer, 0) >= number for writer, number in other.items())
