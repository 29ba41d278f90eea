"""Fixtures of the adapters' tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from openai import AsyncOpenAI, DefaultAsyncHttpxClient, DefaultHttpxClient, OpenAI
from tests.library.providers.fake_openai import FakeOpenAI
from tests.library.providers.stage import Stage, staged

from spanfuse.providers.openai import OpenAIAdapter


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged(OpenAIAdapter()) as stage:
        yield stage


@pytest.fixture
def client(server: FakeOpenAI) -> Iterator[OpenAI]:
    http = DefaultHttpxClient(verify=False)  # reading the system's certificates takes longer than a test
    with OpenAI(base_url=server.url, api_key="k", http_client=http) as client:
        yield client


@pytest.fixture
async def async_client(server: FakeOpenAI) -> AsyncIterator[AsyncOpenAI]:
    http = DefaultAsyncHttpxClient(verify=False)
    async with AsyncOpenAI(base_url=server.url, api_key="k", http_client=http) as client:
        yield client
