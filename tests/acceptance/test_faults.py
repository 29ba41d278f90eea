"""What happens to a working application when its processor breaks: nothing; and control is soon back.

Real processes on real ports. Each test breaks something else while a healthy run works on; that this run
neither fails nor waits is asserted by `at_work`, at the end of each.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from tests.acceptance.application import at_work, is_refused, judged, loop, problem, unjudged, within
from tests.processes import Processor

SOON = 2.5  # seconds: "a second or so", on a machine that is busy with other things


@pytest.fixture(autouse=True)
def _nothing_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("SPANFUSE_", "OTEL_"))]:
        monkeypatch.delenv(name)


@pytest.fixture
def processor() -> Iterator[Processor]:
    """A processor that is not started yet."""
    made = Processor(environment={"SPANFUSE_LOG_LEVEL": "error"})
    try:
        yield made
    finally:
        made.stop()


def test_killed_and_started_again(processor: Processor) -> None:
    processor.start()
    with at_work(processor.endpoint):
        within(10.0, judged)
        assert loop("before").issuer != "local"

        processor.stop(signal.SIGKILL)
        within(SOON, unjudged)
        assert is_refused("before")
        assert loop("meanwhile").issuer == "local"

        processor.start()
        within(SOON, judged)
        assert is_refused("before")
        assert is_refused("meanwhile")
        assert loop("after").issuer != "local"


def test_frozen_and_thawed(processor: Processor) -> None:
    processor.environment["SPANFUSE_CONTROL_BOOKMARK_SECONDS"] = "0.5"
    processor.start()
    with at_work(processor.endpoint):
        within(10.0, judged)
        loop("before")

        processor.send(signal.SIGSTOP)
        within(SOON + 2.0, unjudged)
        assert is_refused("before")
        assert loop("meanwhile").issuer == "local"

        processor.send(signal.SIGCONT)
        within(SOON, judged)
        assert is_refused("before")
        assert loop("after").issuer != "local"


def test_stopped_in_an_orderly_way_and_started_again(processor: Processor) -> None:
    processor.start()
    with at_work(processor.endpoint):
        within(10.0, judged)
        loop("before")

        assert processor.stop() == 0
        within(SOON, unjudged)
        processor.start()

        within(SOON, judged)
        assert is_refused("before")


def test_absent_at_the_start(processor: Processor) -> None:
    with at_work(processor.endpoint) as healthy:
        assert loop("early").issuer == "local"
        within(SOON, lambda: "UNAVAILABLE" in problem())
        before = healthy.calls

        processor.start()

        within(SOON, judged)
        assert healthy.calls > before
        assert is_refused("early")
        assert loop("late").issuer != "local"


def test_the_port_is_taken_by_something_that_speaks_nonsense(processor: Processor) -> None:
    with babbling(processor.grpc_port), at_work(processor.endpoint):
        within(SOON, problem)

        assert unjudged()
        assert loop("early").issuer == "local"


def test_nonsense_gives_way_to_a_processor(processor: Processor) -> None:
    with contextlib.ExitStack() as stack:
        stack.enter_context(at_work(processor.endpoint))
        with babbling(processor.grpc_port):
            within(SOON, problem)

        processor.start()

        within(SOON, judged)


def test_the_token_is_wrong_and_then_right(processor: Processor) -> None:
    processor.environment["SPANFUSE_CLIENT_TOKENS"] = "theirs"
    processor.start()
    with at_work(processor.endpoint, token="ours"):
        within(SOON, lambda: "UNAUTHENTICATED" in problem())
        assert unjudged()
        assert loop("early").issuer == "local"

        processor.stop()
        processor.environment["SPANFUSE_CLIENT_TOKENS"] = "ours,theirs"
        processor.start()

        within(2 * SOON, judged)
        assert loop("late").issuer != "local"


@pytest.mark.parametrize("jump", [86_400, -86_400], ids=["a day forward", "a day back"])
def test_the_clock_jumps(processor: Processor, jump: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Orders hold by the monotonic clock; the wall clock only dates spans."""
    processor.start()
    with at_work(processor.endpoint):
        within(10.0, judged)
        loop("before")

        monkeypatch.setattr("spanfuse.calls.wall.time_ns", lambda: time.time_ns() + jump * 10**9)

        assert is_refused("before")
        assert loop("after").issuer != "local"
        assert judged()


def test_a_program_ends_although_its_processor_is_frozen(processor: Processor) -> None:
    processor.start()
    program = f"""
import spanfuse
spanfuse.instrument(endpoint={processor.endpoint!r})
with spanfuse.run(name="short"):
    print(spanfuse.tool(name="work")(lambda: "done")())
"""
    processor.send(signal.SIGSTOP)
    began = time.monotonic()

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False
    )

    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert time.monotonic() - began < 10.0


@contextlib.contextmanager
def babbling(port: int) -> Iterator[None]:
    """A server on `port` that answers everyone with a greeting of another protocol, and hangs up."""
    over = threading.Event()

    def babble() -> None:
        while not over.is_set():
            with contextlib.suppress(TimeoutError):
                guest, _ = server.accept()
                with guest, contextlib.suppress(OSError):
                    guest.sendall(b"220 mail.example ESMTP\r\n")

    with socket.create_server(("127.0.0.1", port)) as server:
        server.settimeout(0.05)
        talking = threading.Thread(target=babble)
        talking.start()
        try:
            yield
        finally:
            over.set()
            talking.join(5.0)
