"""A real `spanfuse processor` in a process of its own, on free ports, ended at the end of the block."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.waiting import until

ADMIN_TOKEN = "operator-for-tests"


def free_port() -> int:
    """A port of loopback that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Processor:
    """A processor and where it listens. `environment` is added to that of each start."""

    grpc_port: int = field(default_factory=free_port)
    http_port: int = field(default_factory=free_port)
    metrics_port: int = field(default_factory=free_port)
    environment: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The id of the running process."""
        assert self.process is not None
        return self.process.pid

    @property
    def endpoint(self) -> str:
        """What SPANFUSE_ENDPOINT is set to."""
        return f"127.0.0.1:{self.grpc_port}"

    @property
    def http(self) -> str:
        """The base of its HTTP addresses."""
        return f"http://127.0.0.1:{self.http_port}"

    def start(self, wait: float = 20.0) -> None:
        """Starts it and returns when it is ready."""
        environment = os.environ | {
            "SPANFUSE_LISTEN_GRPC_PORT": str(self.grpc_port),
            "SPANFUSE_LISTEN_HTTP_PORT": str(self.http_port),
            "SPANFUSE_LISTEN_METRICS_PORT": str(self.metrics_port),
            "SPANFUSE_ADMIN_TOKEN": ADMIN_TOKEN,
            **self.environment,
        }
        if not any(name.startswith("SPANFUSE_STORE_") for name in environment):
            environment["SPANFUSE_STORE_URL"] = "memory:"
        command = [sys.executable, "-m", "spanfuse_processor", "processor"]
        self.process = subprocess.Popen(command, env=environment)
        until(self.ready, wait, every=0.02)

    def ready(self) -> bool:
        """Whether it answers on /readyz; fails when it has ended."""
        assert self.process is not None
        assert self.process.poll() is None, f"the processor ended with {self.process.returncode}"
        try:
            with urllib.request.urlopen(f"{self.http}/readyz", timeout=1) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def send(self, number: signal.Signals) -> None:
        """Sends a signal to it."""
        os.kill(self.pid, number)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ends it and returns its exit code."""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(number)
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait(10)


@contextlib.contextmanager
def processor(**environment: str) -> Iterator[Processor]:
    """A running processor."""
    running = Processor(environment=environment)
    running.start()
    try:
        yield running
    finally:
        running.stop()
