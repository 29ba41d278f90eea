"""What the agents stand on: a clean environment, and parts that are ready."""

from __future__ import annotations

import pytest

from spanfuse.demo import stage
from spanfuse.demo.processes import Troupe
from spanfuse.demo.stage import agent_environment, clean_environment, fetch, start_provider


@pytest.mark.parametrize(
    "name",
    [
        "SPANFUSE_CONFIG",
        "OTEL_SDK_DISABLED",
        "OPENAI_BASE_URL",
        "HTTPS_PROXY",
        "no_proxy",
        "TRACEPARENT",
        "BAGGAGE",
    ],
)
def test_agents_find_nothing_of_the_persons_own_settings(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "x")
    assert name not in clean_environment()


def test_agents_find_the_demos_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    environment = agent_environment("http://127.0.0.1:7", None, own=True)
    assert environment["OPENAI_BASE_URL"] == "http://127.0.0.1:7/v1"
    assert environment["OPENAI_API_KEY"] == stage.KEY
    assert "SPANFUSE_ENDPOINT" not in environment


def test_a_real_provider_gets_the_persons_key_and_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:1")
    monkeypatch.setenv("SPANFUSE_MODE", "shadow")
    environment = agent_environment("https://provider.example/v1", None, own=False)
    assert environment["OPENAI_BASE_URL"] == "https://provider.example/v1"
    assert (environment["OPENAI_API_KEY"], environment["HTTPS_PROXY"]) == ("sk-mine", "http://proxy:1")
    assert "SPANFUSE_MODE" not in environment


async def test_the_provider_starts_on_a_free_port() -> None:
    async with Troupe() as troupe:
        first = await start_provider(troupe, pace=0)
        second = await start_provider(troupe, pace=0)
        assert first != second
        assert fetch(f"{first}/stats") == fetch(f"{second}/stats") == {"runs": {}}
