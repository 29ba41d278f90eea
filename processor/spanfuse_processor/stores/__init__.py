"""The stores, by the scheme of their URL; as strings, so that a driver that is missing breaks no import."""

from __future__ import annotations

from typing import Final

STORES: Final[dict[str, str]] = {
    "memory": "spanfuse_processor.stores.memory:MemoryStore",
    "sqlite": "spanfuse_processor.stores.sqlite:SqliteStore",
    "redis": "spanfuse_processor.stores.redis:RedisStore",
    "rediss": "spanfuse_processor.stores.redis:RedisStore",
    "postgresql": "spanfuse_processor.stores.postgres:PostgresStore",
}
"""A store is made of its URL alone."""
