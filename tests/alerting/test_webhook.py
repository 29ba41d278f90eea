"""Events to a webhook: taken, refused, tried again, given up; and over a real socket."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from http.client import BadStatusLine
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from tests.alerting.test_payload import EVENT
from tests.waiting import until

from spanfuse_processor.alerting.webhook import Webhook, post
from spanfuse_processor.engine.alerts import BudgetEvent


class Far:
    """The other side: answers with these, then for ever with the last."""

    def __init__(self, *answers: int | Exception) -> None:
        self._answers = list(answers)
        self.bodies: list[str] = []
        self.times: list[str] = []

    def __call__(self, url: str, body: bytes, fields: Mapping[str, str], timeout: float) -> int:
        self.bodies.append(json.loads(body)["id"])
        self.times.append(fields["webhook-timestamp"])
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


_open: list[Webhook] = []


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    yield
    while _open:
        _open.pop().close()


def opened(webhook: Webhook) -> Webhook:
    """A webhook that is closed when the test is over."""
    _open.append(webhook)
    return webhook


def hook(far: Far, **settings: int) -> Webhook:
    return opened(Webhook("http://here", "secret", first=0.001, longest=0.002, send=far, **settings))


def numbered(number: int) -> BudgetEvent:
    return EVENT._replace(start=float(number))


class TestDelivery:
    def test_events_arrive_in_order_and_once(self) -> None:
        far = Far(200)
        webhook = hook(far)
        for number in range(5):
            webhook.put(numbered(number))
        webhook.close()

        assert far.bodies == [numbered(number).id for number in range(5)]
        assert (webhook.sent.delivered, webhook.sent.waiting) == (5, 0)

    @pytest.mark.parametrize(
        "trouble", [500, 503, 429, 408, OSError("refused"), TimeoutError(), BadStatusLine("?")]
    )
    def test_trouble_that_passes_is_tried_again(self, trouble: int | Exception) -> None:
        far = Far(trouble, trouble, 204)
        webhook = hook(far)
        webhook.put(EVENT)
        until(lambda: webhook.sent.delivered == 1)

        assert len(far.bodies) == 3
        assert webhook.sent.retries == 2
        assert not webhook.sent.failing

    @pytest.mark.parametrize("refusal", [400, 401, 404, 410])
    def test_a_refusal_for_good_is_not(self, refusal: int) -> None:
        far = Far(refusal)
        webhook = hook(far)
        webhook.put(EVENT)
        until(lambda: webhook.sent.failed == 1)

        assert len(far.bodies) == 1
        assert str(refusal) in webhook.sent.problem

    def test_after_so_many_tries_it_is_given_up_and_the_next_gets_its_turn(self) -> None:
        far = Far(500, 500, 500, 200)
        webhook = hook(far, most=3)
        webhook.put(numbered(1))
        webhook.put(numbered(2))
        until(lambda: webhook.sent.delivered == 1)

        assert webhook.sent.failed == 1
        assert far.bodies[-1] == numbered(2).id

    def test_what_waits_is_bounded_and_the_oldest_goes_first(self) -> None:
        gate = threading.Event()
        far = Far(200)

        def slow(url: str, body: bytes, fields: Mapping[str, str], timeout: float) -> int:
            gate.wait(5.0)
            return far(url, body, fields, timeout)

        webhook = Webhook("http://here", waiting=3, send=slow)
        for number in range(10):
            webhook.put(numbered(number))
        gate.set()
        webhook.close()

        assert webhook.sent.dropped >= 6
        assert far.bodies[-1] == numbered(9).id

    def test_closing_does_not_wait_for_a_dead_one(self) -> None:
        webhook = Webhook("http://here", first=60.0, send=Far(500))
        webhook.put(EVENT)
        until(lambda: webhook.sent.retries == 1)
        webhook.close(timeout=5.0)

        assert webhook.sent.waiting == 0
        assert webhook.sent.failed == 1


class TestTrouble:
    @pytest.mark.parametrize(
        "trouble", [503, OSError("refused"), TimeoutError(), ValueError("s3cret"), BadStatusLine("s3cret")]
    )
    def test_it_is_told_without_the_address(self, trouble: int | Exception) -> None:
        webhook = Webhook("http://ann:pass@here/s3cret", "secret", first=60.0, send=Far(trouble))
        webhook.put(EVENT)
        until(lambda: webhook.sent.failing)
        webhook.close()

        assert webhook.sent.problem
        assert "s3cret" not in webhook.sent.problem
        assert "pass" not in webhook.sent.problem


class _Handler(BaseHTTPRequestHandler):
    got: list[tuple[str, Mapping[str, str], bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.got.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        self.send_response(302 if self.path == "/moved" else 200)
        self.send_header("location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing is printed."""


@pytest.fixture
def server() -> Iterator[tuple[str, list[tuple[str, Mapping[str, str], bytes]]]]:
    got: list[tuple[str, Mapping[str, str], bytes]] = []
    handler = type("Handler", (_Handler,), {"got": got})
    with HTTPServer(("127.0.0.1", 0), handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}", got
        http.shutdown()


class TestOverASocket:
    def test_a_signed_event_arrives(
        self, server: tuple[str, list[tuple[str, Mapping[str, str], bytes]]]
    ) -> None:
        url, got = server
        webhook = opened(Webhook(f"{url}/hook", "secret"))
        webhook.put(EVENT)
        until(lambda: webhook.sent.delivered == 1)

        ((path, fields, body),) = got
        assert (path, fields["content-type"]) == ("/hook", "application/json")
        assert fields["webhook-signature"].startswith("v1,")
        assert json.loads(body)["id"] == EVENT.id

    def test_a_redirect_is_not_followed(
        self, server: tuple[str, list[tuple[str, Mapping[str, str], bytes]]]
    ) -> None:
        url, got = server

        assert post(f"{url}/moved", b"{}", {}, 5.0) == 302
        assert [path for path, _, _ in got] == ["/moved"]

    def test_nobody_there_is_an_error_that_can_be_tried_again(self) -> None:
        with pytest.raises(OSError, match="refused"):
            post("http://127.0.0.1:9", b"{}", {}, 1.0)
