"""One dollar, calls of ten cents, no processor: whatever calls at once, nothing is overrun.

Real sockets; what was spent is counted by the provider, nobody else is asked.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from openai import AsyncOpenAI, DefaultAsyncHttpxClient, DefaultHttpxClient, OpenAI

import spanfuse
from spanfuse_processor.engine.budget import Budget
from spanfuse_processor.engine.policy import Policy, Price

MODEL = "gpt-4o-mini"
WORDS = 400  # of an answer, each a token
LIMIT = 1_000_000  # micro-dollars
PRICE = Price(input=0, output=250)
POLICY = Policy(prices={MODEL: PRICE}, budgets=(Budget("daily", LIMIT, strict=True),))
ASKED = {
    "model": MODEL,
    "messages": [{"role": "user", "content": "Write."}],
    "max_tokens": WORDS,
    "user": "one",
}


@dataclass
class Provider:
    """The demo's provider, in a process of its own."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def spent(self) -> int:
        """Micro-dollars."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/stats", timeout=5) as answer:
            return int(json.load(answer)["runs"]["one"]["output_tokens"] * 250)


@pytest.fixture
def provider() -> Iterator[Provider]:
    command = [sys.executable, "-m", "spanfuse.demo.provider_server", "--pace", "0.2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Provider(int(json.loads(process.stdout.readline())["port"]))
        finally:
            process.kill()


@pytest.fixture(autouse=True)
def strict() -> None:
    spanfuse.instrument(policy=POLICY)


async def test_fifty_tasks(provider: Provider) -> None:
    http = DefaultAsyncHttpxClient(verify=False)
    async with AsyncOpenAI(base_url=provider.url, api_key="sk-x", max_retries=0, http_client=http) as client:

        async def call() -> None:
            await client.chat.completions.create(**ASKED)  # type: ignore[call-overload]

        results = await asyncio.gather(*[call() for _ in range(50)], return_exceptions=True)

    refused = [each for each in results if isinstance(each, spanfuse.BreakerOpen)]
    assert LIMIT * 0.9 <= provider.spent <= LIMIT
    assert len(refused) == 50 - provider.spent // 100_000
    assert {each.reason for each in refused} == {"BUDGET"}


def test_two_hundred_threads(provider: Provider) -> None:
    refused: list[spanfuse.BreakerOpen] = []
    http = DefaultHttpxClient(verify=False)
    with OpenAI(base_url=provider.url, api_key="sk-x", max_retries=0, http_client=http) as client:

        def call() -> None:
            try:
                client.chat.completions.create(**ASKED)  # type: ignore[call-overload]
            except spanfuse.BreakerOpen as refusal:
                refused.append(refusal)

        threads = [threading.Thread(target=call) for _ in range(200)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert LIMIT * 0.9 <= provider.spent <= LIMIT
    assert len(refused) == 200 - provider.spent // 100_000
    assert {each.reason for each in refused} == {"BUDGET"}
