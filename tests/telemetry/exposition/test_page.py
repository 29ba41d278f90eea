"""The page and its process: it is replaced when it dies, and away when the service is, however that ends."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.processes import processor
from tests.waiting import until, until_loop

from spanfuse_processor.telemetry.exposition.page import Page
from spanfuse_processor.telemetry.exposition.slices import MOST
from spanfuse_processor.telemetry.tally import Row, single

BOUND = 15.0


class Kept(Page):
    """A page on a free port, what it shows, and what went wrong."""

    def __init__(self, files: tuple[str, str] = ("", "")) -> None:
        self.faults: list[str] = []
        self.broken = False
        opened = socket.create_server(("127.0.0.1", 0))
        self.port = opened.getsockname()[1]
        super().__init__(opened, self.shown, self.hear, files)

    def shown(self) -> Iterator[Row]:
        yield single("spanfuse_watchers", 2)
        if self.broken:
            raise LookupError("a figure")
        for number in range(2_000):
            yield "spanfuse_llm_unpriced_calls_total", (f"m{number}",), number, None

    def hear(self, where: str, error: BaseException) -> None:
        self.faults.append(f"{where}: {error}")

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    async def get(self, tls: ssl.SSLContext | None = None) -> tuple[int, str]:
        return await asyncio.to_thread(self._get, tls)

    def _get(self, tls: ssl.SSLContext | None) -> tuple[int, str]:
        url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}/metrics"
        try:
            with urllib.request.urlopen(url, timeout=BOUND, context=tls) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()


@pytest.fixture
async def page() -> AsyncIterator[Kept]:
    made = Kept()
    made.start()
    yield made
    await made.stop()


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not fetched does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


async def test_it_shows_what_the_service_hands_over(page: Kept) -> None:
    status, text = await page.get()

    assert status == 200
    assert "spanfuse_watchers 2.0" in text
    assert 'spanfuse_llm_unpriced_calls_total{model="m1999"} 1999.0' in text


async def test_between_two_slices_the_loop_does_other_things(page: Kept) -> None:
    turns, at = 0, list[int]()

    async def turn() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    def noted() -> Iterator[Row]:
        for row in Kept.shown(page):
            at.append(turns)
            yield row

    page._rows = noted
    others = asyncio.create_task(turn())
    await page.get()
    others.cancel()

    assert len(at) > 4 * MOST
    assert all(one < other for one, other in zip(at, at[MOST:], strict=False))


async def test_nothing_of_it_is_made_in_this_process(page: Kept) -> None:
    await page.get()

    assert page.pid != os.getpid()
    assert os.getsid(page.pid) == page.pid  # a terminal's interrupt is not for it


async def test_it_goes_on_until_the_service_ends_whoever_is_told_to_stop(page: Kept) -> None:
    await page.get()
    asked = page.pid
    os.kill(asked, signal.SIGTERM)

    status, _ = await page.get()

    assert (status, page.pid) == (200, asked)


async def test_a_process_that_dies_is_replaced_and_a_scraper_waits_meanwhile(
    page: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    await page.get()
    dead = page.pid
    os.kill(dead, signal.SIGKILL)

    status, _ = await page.get()

    assert (status, page.pid != dead) == (200, True)
    said = [record for record in caplog.records if record.message.startswith("the page of metrics")]
    assert said[0].__dict__["fields"] == {"problem": "its process ended with -9"}


async def test_a_figure_that_cannot_be_read_costs_one_page(page: Kept) -> None:
    page.broken = True
    failed = await page.get()
    page.broken = False
    good = await page.get()

    assert failed == (503, "the service could not answer\n")
    assert (good[0], page.faults) == (200, ["metrics: a figure"])


async def test_without_a_process_it_is_said_and_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(sys, "executable", "/nowhere/python")
        page = Kept()
        page.start()
        await until_loop(lambda: len(caplog.records) > 1)
    try:
        status, _ = await page.get()
    finally:
        await page.stop()

    assert status == 200
    assert caplog.records[0].__dict__["fields"] == {"problem": "it has no process: No such file or directory"}


async def test_it_ends_with_the_page_and_so_does_its_door() -> None:
    page = Kept()
    page.start()
    await page.get()
    pid = page.pid

    await page.stop()

    assert not alive(pid)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", page.port), 1.0)


async def test_one_that_does_not_end_is_made_to(page: Kept) -> None:
    await page.get()
    os.kill(page.pid, signal.SIGSTOP)

    await page.stop()

    assert not alive(page.pid)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A certificate of 127.0.0.1 and its key."""
    folder = tmp_path_factory.mktemp("tls")
    cert, key = str(folder / "cert.pem"), str(folder / "key.pem")
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-subj",
        "/CN=127.0.0.1",
        "-days",
        "1",
    ]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-out", cert, "-keyout", key]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    return cert, key


async def test_with_a_certificate_it_is_served_over_tls_and_a_mute_client_holds_nobody_up(
    certificate: tuple[str, str],
) -> None:
    page = Kept(certificate)
    page.start()
    try:
        with socket.create_connection(("127.0.0.1", page.port)):
            status, text = await page.get(ssl.create_default_context(cafile=certificate[0]))
    finally:
        await page.stop()

    assert (status, "spanfuse_watchers 2.0" in text) == (200, True)


def children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_it_is_away_when_the_service_is_killed() -> None:
    with processor() as running:
        (child,) = children(running.pid)
        with urllib.request.urlopen(
            f"http://127.0.0.1:{running.metrics_port}/metrics", timeout=BOUND
        ) as answer:
            text = answer.read().decode()

        running.stop(signal.SIGKILL)

        until(lambda: not alive(child))
    assert 'spanfuse_queue_capacity{queue="grpc"}' in text


def test_a_service_whose_page_is_taken_says_so_and_ends_without_leaving_one(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with processor() as running:
        taken = str(running.metrics_port)
        with (
            pytest.raises(AssertionError, match="ended with 1"),
            processor(SPANFUSE_LISTEN_METRICS_PORT=taken),
        ):
            pass
    assert "change listen.metrics_port" in capfd.readouterr().err
