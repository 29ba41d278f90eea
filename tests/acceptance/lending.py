"""A processor that lends and does nothing else: the real desk, office and ledger, in a process of its own.

    python -m tests.acceptance.lending --port N [--limit MICRO_USD] [--lost] [--ttl SECONDS]

It prints one line when it serves. `--lost`: it begins as one does that has lost its store.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import sys
import time
from typing import Any

import grpc

from spanfuse_processor.auth import Tokens
from spanfuse_processor.clock import SystemClock
from spanfuse_processor.control.hub import Hub
from spanfuse_processor.control.stream import ControlService
from spanfuse_processor.engine.budget import Budget
from spanfuse_processor.engine.budgets.leasing import LeaseOffice
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.budgets.requirements import requirement
from spanfuse_processor.receiver.otlp_grpc import server_options
from spanfuse_processor.wire.log import DirectiveLog

EXPORT = "opentelemetry.proto.collector.trace.v1.TraceService"


async def lend(port: int, budget: Budget, *, lost: bool, ttl: float) -> None:
    """Serves until it is killed."""
    wall = time.time()
    office = LeaseOffice(Ledger([budget], wall), wall, clean=not lost, ttl=ttl)
    hub = Hub(DirectiveLog(secrets.token_hex(8), start=int(wall * 1000)), SystemClock())
    hub.publish([requirement(budget, 1)])
    control = ControlService(
        hub,
        Tokens(),
        lambda instance, effects: None,
        lambda calls: None,
        lambda where, error: sys.stderr.write(f"{where}: {error!r}\n"),
        lambda ask: office.ask(ask, time.time()),
    )
    server = grpc.aio.server(options=server_options())
    sink = grpc.unary_unary_rpc_method_handler(_take)
    server.add_generic_rpc_handlers(
        (control.handler(), grpc.method_handlers_generic_handler(EXPORT, {"Export": sink}))
    )
    server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        await asyncio.sleep(0.5)
        office.expire(time.time())


async def _take(payload: bytes, context: Any) -> bytes:
    return b""


def main() -> None:
    """Reads the arguments and serves."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--limit", type=int, default=1_000_000)
    parser.add_argument("--safe", type=int, default=0)
    parser.add_argument("--lost", action="store_true")
    parser.add_argument("--ttl", type=float, default=30.0)
    given = parser.parse_args()
    budget = Budget("daily", given.limit, strict=True, safe=given.safe, patience=5.0)
    asyncio.run(lend(given.port, budget, lost=given.lost, ttl=given.ttl))


if __name__ == "__main__":
    main()
