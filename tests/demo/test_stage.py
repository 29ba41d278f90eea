"""What the agents stand on: a clean environment, and parts that are ready."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from spanfuse.demo import stage
from spanfuse.demo.allowance import POLICY
from spanfuse.demo.processes import Troupe, free_ports
from spanfuse.demo.stage import (
    agent_environment,
    as_yaml,
    clean_environment,
    fetch,
    start_processor,
    start_provider,
)
from spanfuse_processor.config_loading import load_config


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


async def test_the_processor_is_ready_when_it_accepts_our_token(tmp_path: Path) -> None:
    async with Troupe() as troupe:
        processor = await start_processor(troupe, tmp_path)
        url = f"{processor.admin_url}/v1/directives"
        assert fetch(url, processor.admin_token) is not None
        with pytest.raises(OSError, match="403"):
            fetch(url, "not ours")


async def test_a_processor_takes_sections_of_its_configuration(tmp_path: Path) -> None:
    async with Troupe() as troupe:
        processor = await start_processor(troupe, tmp_path, as_yaml({"log": {"level": "error"}}) + POLICY)
        assert processor.child.running
    config = load_config(tmp_path / "processor-0.yml", {})
    assert config.log.level == "error"
    assert [budget.name for budget in config.policy.budgets] == ["research", "research-calls"]


async def test_a_processor_whose_port_was_taken_is_started_on_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        offers = [[taken.getsockname()[1], *free_ports(2)], free_ports(3)]
        monkeypatch.setattr(stage, "free_ports", lambda count: offers.pop(0))
        async with Troupe() as troupe:
            processor = await start_processor(troupe, tmp_path)
    assert offers == []
    assert processor.endpoint.startswith("127.0.0.1:")
