"""One server of each kind for all these tests; each test begins with an empty database."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
import redis
from tests.stores.real.servers import Server, postgres_server, redis_server


@pytest.fixture(scope="session")
def redis_running() -> Iterator[Server]:
    with redis_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_running() -> Iterator[Server]:
    with postgres_server() as server:
        yield server


@pytest.fixture
def redis_url(redis_running: Server) -> str:
    with redis.Redis(port=redis_running.port) as client:
        client.flushall()
    return f"redis://127.0.0.1:{redis_running.port}/0"


@pytest.fixture
def postgres_url(postgres_running: Server) -> str:
    base = f"postgresql://spanfuse@127.0.0.1:{postgres_running.port}"
    with psycopg.connect(f"{base}/postgres", autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS spend WITH (FORCE)")
        connection.execute("CREATE DATABASE spend")
    return f"{base}/spend"


@pytest.fixture(params=["redis", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """An empty database of each kind."""
    name = "redis_url" if request.param == "redis" else "postgres_url"
    return str(request.getfixturevalue(name))
