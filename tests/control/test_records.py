"""Operators read the journal: events page by page, one event, a run's steps, the snapshot of a trip."""

from __future__ import annotations

import asyncio
import json
import threading
from urllib.parse import quote

import pytest
from tests.control.asking import get
from tests.control.serving import CLIENT, TOKENS, FakeClock
from tests.stores.making import call, happened, taken

from spanfuse_processor.control.records import Ask, RecordsDesk
from spanfuse_processor.store import StoreError
from spanfuse_processor.stores.memory import MemoryStore
from spanfuse_processor.web import Route


class Desk:
    """A desk over a journal in memory."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = MemoryStore()
        self.away = False
        self.threads: set[str] = set()

    def routes(self) -> tuple[Route, ...]:
        return RecordsDesk(TOKENS, self.read, self.clock).routes()

    async def read(self, ask: Ask) -> bytes | None:
        return await asyncio.to_thread(self._read, ask)

    def _read(self, ask: Ask) -> bytes | None:
        self.threads.add(threading.current_thread().name)
        if self.away:
            raise StoreError("nobody there")
        return ask(self.store)

    @property
    def now(self) -> float:
        return self.clock.wall_ns() / 1e9


@pytest.fixture
def desk() -> Desk:
    return Desk()


PATHS = ["/v1/steps", "/v1/events", "/v1/events/event-1", "/v1/runs/r/steps", "/v1/snapshots/event-1"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("headers", "status"), [({}, 401), ({"authorization": f"Bearer {CLIENT}"}, 403)])
async def test_the_journal_is_for_operators_only(
    desk: Desk, path: str, headers: dict[str, str], status: int
) -> None:
    assert (await get(desk.routes(), path, headers))[0] == status


@pytest.mark.parametrize("path", PATHS)
async def test_it_is_read_elsewhere_and_a_store_that_is_away_is_said(desk: Desk, path: str) -> None:
    desk.away = True

    status, answer = await get(desk.routes(), path)

    assert (status, answer["message"]) == (503, "the journal cannot be read now: nobody there")
    assert threading.current_thread().name not in desk.threads


async def test_events_of_the_last_week_come_newest_first(desk: Desk) -> None:
    fox = {"message": "🦊"}
    desk.store.append_events(
        [
            happened(1, desk.now - 60, run="r", user="ann", body=json.dumps(fox)),
            happened(2, desk.now - 30, kind="warn", body="no JSON"),
            happened(3, desk.now - 8 * 86_400),
        ]
    )

    status, answer = await get(desk.routes(), "/v1/events")

    assert (status, answer["complete"]) == (200, True)
    assert [(row["id"], row["kind"], row["body"]) for row in answer["events"]] == [
        ("event-2", "warn", "no JSON"),
        ("event-1", "trip", fox),
    ]
    assert (answer["events"][1]["run"], answer["events"][1]["user"]) == ("r", "ann")
    assert answer["until"] == desk.now


async def test_events_may_be_chosen(desk: Desk) -> None:
    desk.store.append_events(
        [
            happened(1, desk.now - 5, run="r", agent="a"),
            happened(2, desk.now - 5, run="r", agent="b", kind="warn"),
            happened(3, desk.now - 5, run="s", kind="order"),
            happened(4, desk.now - 500, run="s"),
        ]
    )

    async def names(query: str) -> list[str]:
        _, answer = await get(desk.routes(), f"/v1/events?{query}")
        return sorted(row["id"] for row in answer["events"])

    assert await names("run=r") == ["event-1", "event-2"]
    assert await names("agent=b") == ["event-2"]
    assert await names("kind=warn,order") == ["event-2", "event-3"]
    assert await names("kind=warn&kind=trip&since=1m") == ["event-1", "event-2"]
    assert await names("until=1m") == ["event-4"]


async def test_events_come_page_by_page(desk: Desk) -> None:
    desk.store.append_events([happened(number, desk.now - number) for number in range(1, 6)])

    found, before = list[str](), ""
    while True:
        _, answer = await get(desk.routes(), f"/v1/events?limit=2&before={quote(before)}")
        found += [row["id"] for row in answer["events"]]
        if answer["complete"]:
            break
        before = answer["before"]

    assert found == [f"event-{number}" for number in range(1, 6)]


@pytest.mark.parametrize("query", ["kind=nonsense", "limit=0", "limit=many", "since=5", "since=1d&until=2d"])
async def test_what_cannot_be_asked_is_refused(desk: Desk, query: str) -> None:
    assert (await get(desk.routes(), f"/v1/events?{query}"))[0] == 400


async def test_one_event_goes_by_its_name_whatever_is_in_it(desk: Desk) -> None:
    name = "daily[ann]/mark@0.8/17/100"
    desk.store.append_events([happened(1, desk.now)._replace(id=name)])

    assert (await get(desk.routes(), f"/v1/events/{name}"))[1]["id"] == name
    assert (await get(desk.routes(), "/v1/events/other"))[0] == 404


async def test_the_steps_of_a_run_are_shown_in_dollars_oldest_first(desk: Desk) -> None:
    content = json.dumps({"input": "hello"})
    desk.store.append_steps(
        [
            call(2, desk.now, run="a/b", cost=1_500_000, content=content),
            call(1, desk.now - 1, run="a/b"),
            call(3, desk.now - 2, run="a/b"),
        ]
    )

    status, answer = await get(desk.routes(), "/v1/runs/a/b/steps?limit=2")

    assert (status, answer["run"], answer["complete"]) == (200, "a/b", False)
    first, last = answer["steps"]
    assert (first["span_id"], "content" in first, "cost" in first) == (f"{1:016x}", False, False)
    assert (last["cost_usd"], last["content"]) == (1.5, {"input": "hello"})


@pytest.mark.parametrize("path", ["/v1/runs/r", "/v1/runs/r/steps", "/v1/runs//steps", "/v1/runs/r/steps/x"])
async def test_a_run_of_which_nothing_is_kept_is_not_found(desk: Desk, path: str) -> None:
    assert (await get(desk.routes(), path))[0] == 404


async def test_a_snapshot_is_shown_as_it_is_kept(desk: Desk) -> None:
    desk.store.append_snapshots([taken(1, desk.now, body='{"version": 1, "steps": []}')])

    assert await get(desk.routes(), "/v1/snapshots/event-1") == (200, {"version": 1, "steps": []})
    assert (await get(desk.routes(), "/v1/snapshots/event-2"))[0] == 404


async def test_steps_of_a_stretch_of_time_are_listed_oldest_first(desk: Desk) -> None:
    ended = desk.now - 60
    desk.store.append_steps([call(number, ended + number, run=f"run-{number % 2}") for number in range(4)])

    _, listed = await get(desk.routes(), f"/v1/steps?since={desk.now - 59.5:.3f}")
    _, latest = await get(desk.routes(), "/v1/steps?since=1h&run=run-1&limit=1")

    assert [row["span_id"] for row in listed["steps"]] == [f"{number:016x}" for number in (1, 2, 3)]
    assert [row["span_id"] for row in latest["steps"]] == [f"{3:016x}"]
    assert (listed["complete"], latest["complete"]) == (True, False)


async def test_a_stretch_of_time_that_is_none_is_a_bad_request(desk: Desk) -> None:
    status, answer = await get(desk.routes(), "/v1/steps?since=yesterday")

    assert status == 400
    assert "yesterday" in answer["message"]
