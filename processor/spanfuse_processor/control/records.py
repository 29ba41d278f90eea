"""The operators' routes of the journal: events, one event, steps of a time or a run, the snapshot of a trip.

Rule 1: operators only. Rule 2: the journal is read, and what was read is written out, elsewhere than on the
loop, row by row; a store that is away is 503, and says so. It does not know where the journal is kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final
from urllib.parse import parse_qs

from spanfuse_processor.auth import Tokens
from spanfuse_processor.clock import Clock
from spanfuse_processor.control.guarding import failure, for_operators, written
from spanfuse_processor.control.payloads import BadRequest, read_limit
from spanfuse_processor.control.rows import list_events, list_steps, show_event
from spanfuse_processor.moments import stretch
from spanfuse_processor.store import EVENT_KINDS, Store, StoreError
from spanfuse_processor.web import Request, Response, Route

MAX_ROWS: Final = 10_000
USUAL_ROWS: Final = 1_000
EVENTS: Final = "/v1/events"
RUNS: Final = "/v1/runs/"
STEPS: Final = "/steps"
SNAPSHOTS: Final = "/v1/snapshots/"

Ask = Callable[[Store], bytes | None]
Read = Callable[[Ask], Awaitable[bytes | None]]
"""Has something of the journal read and written out, on a thread of its own. Raises StoreError."""


class RecordsDesk:
    """The routes. `read` reads the journal, `clock` says what time it is."""

    def __init__(self, tokens: Tokens, read: Read, clock: Clock) -> None:
        self._tokens = tokens
        self._read = read
        self._clock = clock

    def routes(self) -> tuple[Route, ...]:
        """What to serve."""
        return (
            Route("GET", EVENTS, for_operators(self._tokens, self._list_events)),
            Route("GET", f"{EVENTS}/*", for_operators(self._tokens, self._show_event)),
            Route("GET", f"/v1{STEPS}", for_operators(self._tokens, self._list_all_steps)),
            Route("GET", f"{RUNS}*", for_operators(self._tokens, self._list_steps)),
            Route("GET", f"{SNAPSHOTS}*", for_operators(self._tokens, self._show_snapshot)),
        )

    async def _list_events(self, request: Request) -> Response:
        query = parse_qs(request.query)
        one = {name: query.get(name, [""])[-1] for name in ("run", "agent", "before")}
        kinds = [each.strip() for each in ",".join(query.get("kind", ())).split(",") if each.strip()]
        if unknown := [each for each in kinds if each not in EVENT_KINDS]:
            raise BadRequest(f"no such kind: {unknown[0][:40]!r}; there are {', '.join(EVENT_KINDS)}")
        since, until = self._span(query)
        most = _limit(request)

        def ask(store: Store) -> bytes:
            rows = store.events(
                since,
                until,
                kinds,
                most + 1,
                run=one["run"],
                agent=one["agent"],
                before_id=one["before"],
            )
            return list_events(since, until, rows, most)

        return await self._answer(ask, "")

    async def _show_event(self, request: Request) -> Response:
        name = request.path.removeprefix(f"{EVENTS}/")

        def ask(store: Store) -> bytes | None:
            row = store.event(name)
            return show_event(row) if row else None

        return await self._answer(ask, f"no event goes by {name[:200]}")

    async def _list_steps(self, request: Request) -> Response:
        run, steps, rest = request.path.removeprefix(RUNS).rpartition(STEPS)
        if not steps or rest or not run:
            return failure(404, "only the steps of a run are served: /v1/runs/ID/steps")
        most = _limit(request)

        def ask(store: Store) -> bytes | None:
            rows = store.steps(most=most + 1, run=run)
            return list_steps(run, rows, most) if rows else None

        return await self._answer(ask, f"no step of run {run[:200]} is kept")

    async def _list_all_steps(self, request: Request) -> Response:
        query = parse_qs(request.query)
        run, (since, until), most = query.get("run", [""])[-1], self._span(query), _limit(request)

        def ask(store: Store) -> bytes:
            return list_steps(run, store.steps(since, until, most + 1, run=run), most)

        return await self._answer(ask, "")

    async def _show_snapshot(self, request: Request) -> Response:
        name = request.path.removeprefix(SNAPSHOTS)

        def ask(store: Store) -> bytes | None:
            row = store.snapshot(name)
            return row.body.encode("utf-8", "replace") if row else None

        return await self._answer(ask, f"no snapshot belongs to the event {name[:200]}")

    async def _answer(self, ask: Ask, missing: str) -> Response:
        try:
            body = await self._read(ask)
        except StoreError as error:
            return failure(503, f"the journal cannot be read now: {error}")
        return failure(404, missing) if body is None else written(body)

    def _span(self, query: Mapping[str, list[str]]) -> tuple[float, float]:
        """From when to when: `since` and `until` of a query."""
        try:
            return stretch(query.get("since", [""])[-1], query.get("until", ["now"])[-1], self._now())
        except ValueError as error:
            raise BadRequest(str(error)) from None

    def _now(self) -> float:
        return self._clock.wall_ns() / 1e9


def _limit(request: Request) -> int:
    query = parse_qs(request.query)
    return read_limit(query, MAX_ROWS) if "limit" in query else USUAL_ROWS
