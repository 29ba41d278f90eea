"""The journal in Postgres: old tables are brought up to date, and people query views."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from tests.stores.making import NOON, call, happened
from tests.stores.old import is_brought_up_to_date, made_by_postgres

from spanfuse_processor.bookkeeping.bodies import body_of
from spanfuse_processor.store import Store
from spanfuse_processor.storing import open_store

TRIP: dict[str, Any] = {
    "detector": "repeat",
    "rule": "equal",
    "action": "stop",
    "reason": "LOOP",
    "message": "the same again",
    "observed": 5.0,
    "limit": 5.0,
    "spent_usd": 0.25,
    "directive": "run/r/stop",
    "revision": 7,
}


@pytest.fixture
def store(postgres_url: str) -> Iterator[Store]:
    with closing(open_store(postgres_url)) as made:
        yield made


def asked(url: str, sql: str) -> list[dict[str, Any]]:
    """The rows of a query as Grafana makes it: of names that stand in no schema of its own."""
    with psycopg.connect(url, row_factory=dict_row) as reader:
        return reader.execute(sql.encode()).fetchall()


def test_tables_of_the_first_version_have_their_rows_and_new_fields(postgres_url: str) -> None:
    made_by_postgres(postgres_url)

    with ThreadPoolExecutor(3) as pool:  # replicas that are updated together
        stores = list(pool.map(open_store, [postgres_url] * 3))

    is_brought_up_to_date(stores[0])
    for each in stores:
        each.close()
    (row,) = asked(postgres_url, "SELECT started, seconds FROM spanfuse.run_step WHERE NOT counts")
    assert row == {"started": None, "seconds": None}
    (mark,) = asked(postgres_url, "SELECT kind, detector, spent_usd FROM spanfuse.breaker_event")
    assert mark == {"kind": "budget", "detector": "", "spent_usd": None}


def test_a_trip_is_shown_with_what_the_application_answered(store: Store, postgres_url: str) -> None:
    answer = {"directive": "run/r/stop", "revision": 7, "kill_latency_ms": 12.5}
    store.append_events(
        [
            happened(1, NOON, run="r", key="run/r", agent="writer", body=body_of(TRIP)),
            happened(2, NOON + 1, kind="effect", key="run/r", body=body_of(answer)),
            happened(3, NOON + 2, kind="effect", key="run/r", body=body_of({**answer, "kill_latency_ms": 9})),
            happened(4, NOON + 3, kind="effect", key="run/r", body=body_of({**answer, "revision": 8})),
            happened(5, NOON + 4, run="r", key="run/r", body=body_of({**TRIP, "revision": 9})),
        ]
    )

    rows = asked(postgres_url, "SELECT * FROM spanfuse.breaker_event ORDER BY time")

    first, last = rows[0], rows[-1]
    assert first["time"].timestamp() == NOON
    assert [first[name] for name in ("detector", "rule", "action", "reason", "agent", "run")] == [
        "repeat",
        "equal",
        "stop",
        "LOOP",
        "writer",
        "r",
    ]
    assert (first["spent_usd"], first["observed"], first["limit_value"]) == (0.25, 5.0, 5.0)
    assert (first["limit_usd"], first["budget"]) == (None, "")
    assert (first["kill_latency_ms"], last["kill_latency_ms"]) == (12.5, None)
    assert first["body"]["message"] == "the same again"


def test_a_body_that_the_database_does_not_take_costs_no_other_event(store: Store, postgres_url: str) -> None:
    texts = ("a\x00b", "\ud800 half", "other \udc00", "🦊 whole", "\\u0000 words")
    odd = [json.dumps({"message": text}) for text in texts]
    store.append_events([happened(number, body=text) for number, text in enumerate(odd)])

    rows = asked(postgres_url, "SELECT message FROM spanfuse.breaker_event ORDER BY id")

    assert [row["message"] for row in rows] == ["", "", "", *texts[3:]]


def test_a_step_is_shown_in_dollars_seconds_and_moments(store: Store, postgres_url: str) -> None:
    store.append_steps(
        [call(1, NOON, started=NOON - 1.5, run="r", cost=1_500_000), call(2, NOON + 1, counts=False)]
    )

    first, second = asked(postgres_url, "SELECT * FROM spanfuse.run_step ORDER BY time")

    assert (first["time"].timestamp(), first["started"].timestamp()) == (NOON, NOON - 1.5)
    assert (first["seconds"], first["cost_usd"], first["input_tokens"]) == (1.5, 1.5, 100)
    assert (second["seconds"], second["cost_usd"]) == (None, 0.0)


@pytest.mark.parametrize(
    ("view", "shown", "index"),
    [("breaker_event", "id", "event_by_moment"), ("run_step", "run", "step_by_moment")],
)
def test_a_range_of_time_is_found_by_an_index(
    store: Store, postgres_url: str, view: str, shown: str, index: str
) -> None:
    lately = f"SELECT {shown} FROM spanfuse.{view} WHERE time BETWEEN now() - interval '1h' AND now()"

    with psycopg.connect(postgres_url) as reader:
        reader.execute("SET enable_seqscan = off")
        plan = reader.execute(f"EXPLAIN {lately}".encode()).fetchall()

    assert index in str(plan)
