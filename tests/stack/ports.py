"""The ports of the stack: those of docker-compose.yml, or others where these are taken or were chosen.

Rule 1: a variable of the environment goes first, its name is that of docker-compose.yml. Rule 2: all are held
until all are chosen, so that none is chosen twice. It does not know who listens.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Mapping

USUAL: Mapping[str, int] = {
    "PROCESSOR_GRPC_PORT": 4317,
    "PROCESSOR_HTTP_PORT": 4318,
    "PROCESSOR_METRICS_PORT": 9464,
    "COLLECTOR_GRPC_PORT": 14317,
    "COLLECTOR_HTTP_PORT": 14318,
    "COLLECTOR_METRICS_PORT": 18888,
    "COLLECTOR_HEALTH_PORT": 13133,
    "JAEGER_OTLP_PORT": 24317,
    "JAEGER_QUERY_PORT": 16686,
    "JAEGER_HEALTH_PORT": 23133,
    "PROMETHEUS_PORT": 9090,
    "ALERTMANAGER_PORT": 9093,
    "REDIS_PORT": 6379,
    "POSTGRES_PORT": 5432,
}
"""What docker-compose.yml binds, as far as it is started without Docker (Grafana is not)."""

INNER = ("JAEGER_QUERY_GRPC_PORT",)
"""What only a container hides: free ports, always."""


def choose(environment: Mapping[str, str], usual: bool = True) -> dict[str, int]:
    """A port for each name; with `usual` that of docker-compose.yml wherever it is free."""
    chosen: dict[str, int] = {}
    with contextlib.ExitStack() as held:
        for name, port in USUAL.items():
            if name in environment:
                chosen[name] = int(environment[name])
            else:
                chosen[name] = (_hold(held, port) if usual else 0) or _hold(held, 0)
        for name in INNER:
            chosen[name] = _hold(held, 0)
    return chosen


def _hold(held: contextlib.ExitStack, port: int) -> int:
    """Takes a port of loopback, any for 0. Returns its number, 0 when it is taken."""
    try:
        return int(held.enter_context(socket.create_server(("127.0.0.1", port))).getsockname()[1])
    except OSError:
        return 0
