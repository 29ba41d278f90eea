"""The other process, in this one: it asks, waits, makes a page of the answer, and says when it cannot."""

from __future__ import annotations

import gzip
import marshal
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tests.waiting import until

from spanfuse_processor.telemetry.exposition import server
from spanfuse_processor.telemetry.exposition.server import Asking, NoAnswer, application
from spanfuse_processor.telemetry.exposition.slices import ASK, END, FAILED, HEAD
from spanfuse_processor.telemetry.tally import Row, single

WATCHERS = [single("spanfuse_watchers", 2)]


class Service:
    """The other end. `answers` are given in order, one whenever it is asked."""

    def __init__(self) -> None:
        self.ours, theirs = socket.socketpair()
        self.gone = threading.Event()
        self.asking = Asking(theirs, self.gone.set)
        self._theirs = theirs

    def asked(self) -> None:
        assert self.ours.recv(1) == ASK

    def answer(self, rows: list[Row], *, end: bytes = END) -> None:
        packed = marshal.dumps(rows)
        self.ours.sendall(HEAD.pack(len(packed)) + packed + end)

    def close(self) -> None:
        self.ours.close()
        assert self.gone.wait(5.0)
        self._theirs.close()


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.close()


def get(made: Any, **headers: str) -> tuple[str, dict[str, str], bytes]:
    told: list[Any] = []
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/metrics", "QUERY_STRING": ""} | headers
    body = b"".join(made(environ, lambda status, fields: told.extend((status, dict(fields)))))
    return told[0], told[1], body


def test_an_answer_in_several_slices_is_put_together(service: Service) -> None:
    service.answer(WATCHERS, end=b"")
    service.answer([single("spanfuse_leases", 1)])

    assert service.asking.rows() == [*WATCHERS, single("spanfuse_leases", 1)]


def test_an_answer_that_comes_too_late_is_not_the_next_ones(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "PATIENCE", 0.01)
    with pytest.raises(NoAnswer, match="does not answer"):
        service.asking.rows()
    monkeypatch.setattr(server, "PATIENCE", 10.0)

    service.answer([])
    service.answer(WATCHERS)

    assert service.asking.rows() == WATCHERS


def test_a_service_that_could_not_answer_is_told_of_and_asked_again(service: Service) -> None:
    service.answer(WATCHERS, end=FAILED)
    with pytest.raises(NoAnswer, match="could not"):
        service.asking.rows()
    service.answer(WATCHERS)

    assert service.asking.rows() == WATCHERS


def test_whoever_asks_hears_when_the_service_is_gone() -> None:
    made = Service()
    made.ours.sendall(HEAD.pack(100) + b"cut off in the mid")

    made.close()

    assert made.gone.is_set()


def test_a_page_counts_its_own_series_and_says_what_the_one_before_took() -> None:
    made = application(lambda: WATCHERS)

    pages = [get(made)[2].decode() for _ in range(2)]

    lines = [line for line in pages[1].splitlines() if not line.startswith("#")]
    assert f"spanfuse_series {float(len(lines))}" in lines
    took = [line for line in lines if line.startswith("spanfuse_exposition_seconds ")]
    assert "spanfuse_exposition_seconds 0.0" in pages[0]
    assert float(took[0].split()[1]) > 0


@pytest.mark.parametrize(
    ("accept", "given"),
    [
        ("", "text/plain; version=0.0.4"),
        ("text/plain;version=0.0.4;q=0.5,*/*;q=0.1", "text/plain; version=0.0.4"),
        (
            "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5",
            "application/openmetrics-text; version=1.0.0",
        ),
    ],
)
def test_a_scraper_gets_the_format_that_it_asks_for(accept: str, given: str) -> None:
    status, fields, body = get(application(lambda: WATCHERS), HTTP_ACCEPT=accept)

    assert status == "200 OK"
    assert fields["Content-Type"].startswith(given)
    assert body.endswith(b"# EOF\n") == ("openmetrics" in given)


def test_a_page_is_packed_for_whoever_unpacks() -> None:
    _, fields, body = get(application(lambda: WATCHERS), HTTP_ACCEPT_ENCODING="gzip")

    assert fields["Content-Encoding"] == "gzip"
    assert b"spanfuse_watchers 2.0" in gzip.decompress(body)


def test_a_page_that_cannot_be_had_is_said_to_be_away() -> None:
    def fail() -> list[Row]:
        raise NoAnswer("the service does not answer")

    status, _, body = get(application(fail))

    assert (status, body) == ("503 Service Unavailable", b"the service does not answer\n")


def test_one_page_at_a_time_is_made(service: Service) -> None:
    made = application(service.asking.rows)
    pages: list[str] = []
    threads = [threading.Thread(target=lambda: pages.append(get(made)[0])) for _ in range(3)]
    for thread in threads:
        thread.start()

    for _ in threads:
        service.asked()
        service.ours.setblocking(False)
        with pytest.raises(BlockingIOError):
            service.ours.recv(1)  # the others wait for their turn
        service.ours.setblocking(True)
        service.answer(WATCHERS)
    for thread in threads:
        thread.join(5.0)

    until(lambda: pages == ["200 OK"] * 3)
