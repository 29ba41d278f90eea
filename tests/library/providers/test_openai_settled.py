"""What calls of OpenAI's SDK come to in a process that judges itself: each is charged once, however it ends.

A real ledger, a real engine, real sockets. A call takes at most MOST; it used USED, where anybody says so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from openai import APIConnectionError, APITimeoutError, OpenAI, RateLimitError
from tests.library.providers.fake_openai import FakeOpenAI, Reply
from tests.library.providers.settled import (
    ASKED,
    ASKED_OF_EMBEDDINGS,
    MOST,
    STREAMED,
    TALE,
    USED,
    Crash,
    assert_charged_once,
    held,
    judging,
)

import spanfuse

End = Callable[[OpenAI, FakeOpenAI], object]


@pytest.fixture(autouse=True)
def _judging() -> None:
    judging()


@pytest.fixture
def hold() -> Iterator[threading.Event]:
    with held() as hold:
        yield hold


@pytest.fixture
def impatient(client: OpenAI) -> OpenAI:
    return client.with_options(max_retries=0, timeout=0.2)


def answered(client: OpenAI, server: FakeOpenAI) -> None:
    client.chat.completions.create(**ASKED)


def answered_in_pieces(client: OpenAI, server: FakeOpenAI) -> None:
    list(client.chat.completions.create(**STREAMED))


def refused(client: OpenAI, server: FakeOpenAI) -> None:
    server.say(Reply(status=429))
    with pytest.raises(RateLimitError):
        client.chat.completions.create(**ASKED)


def refused_in_pieces(client: OpenAI, server: FakeOpenAI) -> None:
    server.say(Reply(status=429))
    with pytest.raises(RateLimitError):
        client.chat.completions.create(**STREAMED)


def embedded(client: OpenAI, server: FakeOpenAI) -> None:
    client.embeddings.create(model="text-embedding-3-small", input="one", encoding_format="float")


def retried(client: OpenAI, server: FakeOpenAI) -> None:
    server.say(Reply(status=500), Reply(status=429), Reply())
    client.with_options(max_retries=2).chat.completions.create(**ASKED)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("end", "usd"),
    [
        (answered, USED),
        (answered_in_pieces, USED),
        (refused, 0),
        (refused_in_pieces, 0),
        (retried, USED),
        (embedded, ASKED_OF_EMBEDDINGS),
    ],
)
def test_what_is_known_is_charged(end: End, usd: int, impatient: OpenAI, server: FakeOpenAI) -> None:
    end(impatient, server)

    assert_charged_once(usd)


def out_of_time(client: OpenAI, server: FakeOpenAI) -> None:
    with pytest.raises(APITimeoutError):
        client.chat.completions.create(**ASKED)


def closed(client: OpenAI, server: FakeOpenAI) -> None:
    stream = client.chat.completions.create(**STREAMED)
    next(stream)
    stream.close()
    stream.close()


def dropped(client: OpenAI, server: FakeOpenAI) -> None:
    next(client.chat.completions.create(**STREAMED))


def crashed(client: OpenAI, server: FakeOpenAI) -> None:
    with suppress(Crash), client.chat.completions.create(**STREAMED) as stream:
        for _ in stream:
            raise Crash


def late(client: OpenAI, server: FakeOpenAI) -> None:
    with pytest.raises(APITimeoutError):
        list(client.chat.completions.create(**STREAMED))


def broken(client: OpenAI, server: FakeOpenAI) -> None:
    server.say(Reply(text=TALE.text, broken=True, pause_after=2))
    with pytest.raises(APIConnectionError):
        list(client.chat.completions.create(**STREAMED))


def stopped(client: OpenAI, server: FakeOpenAI) -> None:
    with spanfuse.run(run_id="r1"):
        stream = client.chat.completions.create(**STREAMED)
        next(stream)
        spanfuse.kill("r1")
        with pytest.raises(spanfuse.BreakerOpen):
            list(stream)


@pytest.mark.parametrize("end", [out_of_time, closed, dropped, crashed, late, broken, stopped])
def test_of_what_nobody_knows_all_is_charged(
    end: End, impatient: OpenAI, server: FakeOpenAI, hold: threading.Event
) -> None:
    waits = end is out_of_time
    server.say(Reply(TALE.text, hold=hold) if waits else Reply(TALE.text, pause=hold, pause_after=2))

    end(impatient, server)

    assert_charged_once(MOST, range(50, 200))
