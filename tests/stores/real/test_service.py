"""A service keeps its journal in Postgres and its ledger in Redis, through a kill of either side."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from tests.stores.real.servers import postgres_server
from tests.stores.recording import records_what_it_stops, running
from tests.stores.service import survives_a_kill


def test_postgres_and_redis_survive_a_kill_of_the_service(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], redis_url: str, postgres_url: str
) -> None:
    survives_a_kill(tmp_path, capsys, SPANFUSE_STORE_URL=postgres_url, SPANFUSE_STORE_LEDGER_URL=redis_url)


def test_a_stop_is_recorded_in_postgres(tmp_path: Path, postgres_url: str) -> None:
    records_what_it_stops(running(tmp_path, SPANFUSE_STORE_URL=postgres_url), lambda: None, lambda: None)


def test_a_database_that_dies_keeps_no_stop_from_happening_and_has_it_afterwards(tmp_path: Path) -> None:
    with postgres_server() as server:
        url = f"postgresql://spanfuse@127.0.0.1:{server.port}/postgres"
        service = running(tmp_path, SPANFUSE_STORE_URL=url)

        records_what_it_stops(service, lambda: server.stop(signal.SIGQUIT), server.start)
