"""Alive is not ready."""

from __future__ import annotations

import asyncio

from spanfuse_processor.health import Health
from spanfuse_processor.web import Request


async def nothing(limit: int) -> bytes:
    return b""


def statuses(health: Health) -> dict[str, int]:
    async def ask() -> dict[str, int]:
        request = Request("GET", "/", "", {}, nothing)
        return {route.path: (await route.handler(request)).status for route in health.routes()}

    return asyncio.run(ask())


def test_a_service_that_is_not_ready_lives() -> None:
    assert statuses(Health()) == {"/healthz": 200, "/readyz": 503}


def test_a_ready_one_says_so() -> None:
    health = Health()
    health.ready = True

    assert statuses(health) == {"/healthz": 200, "/readyz": 200}
