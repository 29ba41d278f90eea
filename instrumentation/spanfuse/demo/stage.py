"""What the agents of the demo stand on: their environment, the provider, and the processor if there is one.

Rule 1: agents start from a clean environment: settings of the person's own spanfuse, of OpenTelemetry and of
proxies have no say in the demo. Rule 2: a port may be lost between its choice and its use; then others are
tried. Rule 3: the processor is ready when it accepts *our* token: another one might sit on the port.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any

from spanfuse.demo.processes import Child, ChildFailed, Troupe, free_ports

READY_WITHIN = 60.0
"""Seconds that a process has to get ready: a first start compiles, on a small and busy machine."""

KEY = "sk-demo"
LEASHED = ("-m", "spanfuse.demo.leash")
_TRIES = 5
_POLL = 0.03  # seconds between two looks at a process that is getting ready
_JUDGES = re.compile(r"SPANFUSE_.*|OTEL_.*|TRACEPARENT|TRACESTATE|BAGGAGE")
_NETWORK = re.compile(r"OPENAI_.*|.*_PROXY", re.IGNORECASE)

_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True, slots=True)
class Processor:
    """A processor that is ready: where its clients find it, and how an operator orders it."""

    child: Child
    endpoint: str
    admin_url: str
    admin_token: str

    async def kill(self, run: str, reason: str) -> None:
        """An operator stops a run."""
        await asyncio.to_thread(
            fetch, f"{self.admin_url}/v1/kill", self.admin_token, {"key": f"run/{run}", "reason": reason}
        )


def clean_environment(keep_network: bool = False) -> dict[str, str]:
    """This process's environment without what would change the demo; on demand with keys and proxies."""
    own = {name: value for name, value in os.environ.items() if not _JUDGES.fullmatch(name)}
    return own if keep_network else {n: value for n, value in own.items() if not _NETWORK.fullmatch(n)}


def agent_environment(provider: str, processor: Processor | None, own: bool) -> dict[str, str]:
    """What agents find: the provider, the demo's `own` or a real one with the person's key; the processor."""
    environment = clean_environment(keep_network=not own)
    environment["OPENAI_BASE_URL"] = f"{provider}/v1" if own else provider
    if own:
        environment["OPENAI_API_KEY"] = KEY
    if processor is not None:
        environment["SPANFUSE_ENDPOINT"] = processor.endpoint
    return environment


async def start_provider(troupe: Troupe, pace: float) -> str:
    """Starts the demo's provider. Returns its address, without a path."""
    arguments = (*LEASHED, "spanfuse.demo.provider_server", "--pace", str(pace))
    child = await troupe.start("provider", arguments, clean_environment())
    ready = await child.expect("ready", READY_WITHIN)
    return f"http://127.0.0.1:{ready['port']}"


async def start_processor(troupe: Troupe, folder: Path, sections: str = "") -> Processor:
    """Starts a processor on free ports, with a configuration file in `folder`; `sections` are added to it.

    Raises:
        ChildFailed: it did not get ready, on five sets of ports.
    """
    for attempt in range(_TRIES):
        processor = await _launch(troupe, folder / f"processor-{attempt}.yml", sections)
        if await _ready(processor):
            return processor
    raise ChildFailed(f"the processor did not get ready: {processor.child.last_words()}")


async def _launch(troupe: Troupe, file: Path, sections: str) -> Processor:
    grpc, http, metrics = free_ports(3)
    token = secrets.token_urlsafe(16)
    listen = {"grpc_port": grpc, "http_port": http, "metrics_port": metrics}
    file.touch(mode=0o600)
    settings = {"listen": listen, "auth": {"admin_token": token}, "store": {"url": "memory:"}}
    file.write_text(as_yaml(settings) + sections)
    arguments = (*LEASHED, "spanfuse_processor", "processor", "--config", str(file))
    child = await troupe.start("processor", arguments, clean_environment())
    return Processor(child, f"127.0.0.1:{grpc}", f"http://127.0.0.1:{http}", token)


def as_yaml(sections: Mapping[str, Any]) -> str:
    """Sections of a configuration file.

    >>> as_yaml({"log": {"level": "info"}})
    'log: {"level": "info"}\\n'
    """
    return "".join(f"{name}: {json.dumps(fields)}\n" for name, fields in sections.items())  # JSON is YAML


async def _ready(processor: Processor) -> bool:
    """True once it answers us; False when it has ended, as it does when a port was taken.

    Raises:
        ChildFailed: it does neither.
    """
    until = time.monotonic() + READY_WITHIN
    while processor.child.running and time.monotonic() < until:
        try:
            await asyncio.to_thread(fetch, f"{processor.admin_url}/readyz")
            await asyncio.to_thread(fetch, f"{processor.admin_url}/v1/directives", processor.admin_token)
        except (OSError, ValueError, HTTPException):  # refused, not ready, or not ours
            await asyncio.sleep(_POLL)
        else:
            return True
    if processor.child.running:
        raise ChildFailed(f"the processor is not ready after {READY_WITHIN} s")
    return False


def fetch(url: str, token: str = "", body: Mapping[str, str] | None = None) -> Any:
    """One HTTP exchange on loopback, never through a proxy. Returns the answer's JSON, None if it is none.

    Raises:
        OSError: no answer, or one that is not 2xx.
    """
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    with _direct.open(urllib.request.Request(url, data, headers), timeout=5.0) as answer:
        text = answer.read()
    return json.loads(text) if text.startswith((b"{", b"[")) else None
