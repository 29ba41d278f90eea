"""A service keeps its bill in Postgres and its ledger in Redis, through a kill."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stores.service import survives_a_kill


def test_postgres_and_redis_survive_a_kill_of_the_service(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], redis_url: str, postgres_url: str
) -> None:
    survives_a_kill(tmp_path, capsys, SPANFUSE_STORE_URL=postgres_url, SPANFUSE_STORE_LEDGER_URL=redis_url)
