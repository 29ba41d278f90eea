"""Sends events to one webhook: behind, in order, again and again until it is taken or hopeless.

Rule 1: whoever has something to tell only leaves it: no decision waits for a webhook. Rule 2: what is not
taken is sent again with growing delays; an answer that says "never" (4xx, but for 408, 425 and 429) ends it.
Rule 3: what waits is bounded, the oldest goes first; everything that happens is counted. It does not know
what an event means.
"""

from __future__ import annotations

import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Final, NamedTuple

from spanfuse_processor.alerting.payload import body_of, headers
from spanfuse_processor.engine.alerts import BudgetEvent

AGAIN: Final = frozenset({408, 425, 429})
"""Answers of the 4xx kind that ask to come back."""
TAKEN: Final = range(200, 300)


@dataclass(slots=True)
class Sent:
    """What came of events so far. Numbers only grow, but for `waiting`."""

    delivered: int = 0
    failed: int = 0  # given up: refused for good, or tried too often
    dropped: int = 0  # too many waited
    retries: int = 0
    waiting: int = 0
    failing: bool = False  # the latest was not taken
    problem: str = ""  # the latest, for a person; without the address


class _Letter(NamedTuple):
    event: BudgetEvent
    body: bytes
    tries: int


Post = Callable[[str, bytes, Mapping[str, str], float], int]
"""Posts a body to an address with headers, within so many seconds; returns the status of the answer."""


def post(url: str, body: bytes, fields: Mapping[str, str], timeout: float) -> int:
    """Posts. Redirects are not followed: a signed body goes where it was told to.

    Raises:
        OSError: it could not be reached, or did not answer in time.
        http.client.HTTPException: what it answered is not HTTP.
    """
    request = urllib.request.Request(url, body, dict(fields), method="POST")
    try:
        with _opener.open(request, timeout=timeout) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object, **__: object) -> None:
        """None is followed."""


_opener: Final = urllib.request.build_opener(_NoRedirects)


class Webhook:
    """One webhook and the thread that serves it. `first` and `longest` bound the delays, in seconds.

    Attributes:
        host: where it is, without what may be secret.
        sent: what came of events.
    """

    def __init__(
        self,
        url: str,
        secret: str = "",
        *,
        timeout: float = 10.0,
        most: int = 10,
        waiting: int = 1_000,
        first: float = 1.0,
        longest: float = 300.0,
        send: Post = post,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.host = _host(url)
        self._url, self._secret, self._timeout = url, secret, timeout
        self._most, self._room, self._first, self._longest = most, waiting, first, longest
        self._send, self._wall = send, wall
        self._letters: deque[_Letter] = deque()
        self._bell = threading.Condition()
        self._closing = False
        self._thread: threading.Thread | None = None
        self.sent = Sent()

    def put(self, event: BudgetEvent) -> None:
        """Leaves an event to be sent."""
        letter = _Letter(event, body_of(event), 0)
        with self._bell:
            if len(self._letters) >= self._room:
                self._letters.popleft()
                self.sent.dropped += 1
            self._letters.append(letter)
            self.sent.waiting = len(self._letters)
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="spanfuse-webhook", daemon=True)
                self._thread.start()
            self._bell.notify()

    def close(self, timeout: float = 2.0) -> None:
        """Sends what waits, once each, for at most `timeout` seconds, and ends."""
        with self._bell:
            self._closing = True
            self._bell.notify()
        if self._thread is not None:
            self._thread.join(timeout)

    def _serve(self) -> None:
        while True:
            with self._bell:
                while not self._letters and not self._closing:
                    self._bell.wait()
                if not self._letters:
                    return
                letter = self._letters[0]
            if self._deliver(letter):
                continue
            with self._bell:
                if not self._closing:
                    self._bell.wait_for(lambda: self._closing, self._delay(letter.tries))

    def _deliver(self, letter: _Letter) -> bool:
        """Whether the next one may be sent at once: this one is taken, or given up."""
        seconds = int(self._wall())
        try:
            fields = headers(letter.event.id, seconds, letter.body, self._secret)
            status = self._send(self._url, letter.body, fields, self._timeout)
            problem = "" if status in TAKEN else f"it answered {status}"
            hopeless = 400 <= status < 500 and status not in AGAIN
        except OSError as error:
            problem, hopeless = str(error) or type(error).__name__, False
        except (HTTPException, ValueError) as error:  # their texts may have the address in them
            problem, hopeless = type(error).__name__, False
        tries = letter.tries + 1
        over = not problem or hopeless or tries >= self._most or self._closing
        with self._bell:
            self.sent.problem, self.sent.failing = problem or self.sent.problem, bool(problem)
            if over:
                self._drop(letter)
                self.sent.delivered += not problem
                self.sent.failed += bool(problem)
            else:
                self.sent.retries += 1
                self._replace(letter, letter._replace(tries=tries))
            self.sent.waiting = len(self._letters)
        return over

    def _delay(self, tries: int) -> float:
        return min(self._longest, self._first * 2.0**tries)

    def _drop(self, letter: _Letter) -> None:
        """It may have been dropped meanwhile, for want of room."""
        if self._letters and self._letters[0] is letter:
            self._letters.popleft()

    def _replace(self, letter: _Letter, again: _Letter) -> None:
        if self._letters and self._letters[0] is letter:
            self._letters[0] = again


def _host(url: str) -> str:
    """The host of a URL, and its port where it is named.

    >>> _host("https://ann:pass@hooks.example.org:8443/services/T0/secret?token=s"), _host("no url [")
    ('hooks.example.org:8443', '')
    """
    try:
        parts = urllib.parse.urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    return f"{parts.hostname or ''}{port}"
