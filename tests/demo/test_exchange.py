"""The provider's application by itself: streams that are dropped, refusals that the SDK would retry."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from spanfuse.demo.provider_server import Behaviour, Provider

STORY = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Write."}], "user": "novel"}
KEY = [(b"authorization", b"Bearer sk-demo")]


class Client:
    """The client's end of one ASGI exchange; hangs up after so many parts of the answer."""

    def __init__(self, body: bytes = b"", hang_up_after: int | None = None) -> None:
        self.sent: list[dict[str, Any]] = []
        self._body: bytes | None = body
        self._hang_up_after = hang_up_after
        self._gone = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)
        if len(self.sent) == self._hang_up_after:
            self._gone.set()

    async def ask(self, provider: Provider, method: str = "POST", path: str = "/v1/chat/completions") -> Any:
        """One request. Returns the body of its answer, or its last part."""
        scope = {"type": "http", "method": method, "path": path, "headers": KEY}
        async with asyncio.timeout(10):
            await provider(scope, self.receive, self.send)
        return self.sent[-1]["body"]


async def tally(provider: Provider) -> dict[str, Any]:
    return dict(json.loads(await Client().ask(provider, "GET", "/stats"))["runs"]["novel"])


async def test_a_stream_that_the_client_closes_ends_the_bill() -> None:
    provider = Provider(Behaviour(pace=0))
    client = Client(json.dumps({**STORY, "stream": True}).encode(), hang_up_after=12)
    await client.ask(provider)
    assert 10 <= (await tally(provider))["output_tokens"] <= 12
    assert len(client.sent) <= 14


async def test_the_log_has_what_a_closed_stream_used() -> None:
    provider = Provider(Behaviour(pace=0))
    client = Client(json.dumps({**STORY, "stream": True}).encode(), hang_up_after=12)
    await client.ask(provider)
    (asked,) = json.loads(await Client().ask(provider, "GET", "/log"))["requests"]
    assert asked["output_tokens"] == (await tally(provider))["output_tokens"]


async def test_a_stream_that_is_read_to_its_end_is_charged_in_full() -> None:
    provider = Provider(Behaviour(pace=0))
    last = await Client(json.dumps({**STORY, "stream": True}).encode()).ask(provider)
    assert last == b"data: [DONE]\n\n"
    assert (await tally(provider))["output_tokens"] == 400


async def test_an_answer_that_nobody_waits_for_is_charged_all_the_same() -> None:
    provider = Provider(Behaviour(pace=0))
    await Client(json.dumps(STORY).encode(), hang_up_after=1).ask(provider)
    assert (await tally(provider))["output_tokens"] == 400


async def test_more_requests_than_the_capacity_are_refused_for_a_while() -> None:
    client = Client(json.dumps(STORY).encode())
    refusal = json.loads(await client.ask(Provider(Behaviour(pace=0, capacity=0))))
    assert client.sent[0]["status"] == 429
    assert (b"retry-after", b"1") in client.sent[0]["headers"]
    assert refusal["error"]["code"] == "rate_limit_exceeded"


async def test_a_body_that_is_too_large_is_refused() -> None:
    client = Client(b" " * (8 * 1024 * 1024 + 1))
    await client.ask(Provider(Behaviour(pace=0)))
    assert client.sent[0]["status"] == 413


async def test_a_body_that_is_no_json_is_refused() -> None:
    client = Client(b"{")
    assert (
        json.loads(await client.ask(Provider(Behaviour(pace=0))))["error"]["type"] == "invalid_request_error"
    )
    assert client.sent[0]["status"] == 400
