"""A policy file that changes under calls of OpenAI's SDK, in a process that judges itself."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from openai import OpenAI
from tests.library.making import Clock
from tests.library.providers.openai_paths import CHAT

from spanfuse import runtime
from spanfuse.assembly import assemble
from spanfuse.board import Board
from spanfuse.errors import BreakerOpen
from spanfuse.hosts.embedded import EmbeddedHost
from spanfuse.providers.openai import OpenAIAdapter
from spanfuse.rereading import EVERY
from spanfuse.settings import Settings
from spanfuse_processor.engine.budget import Account

POLICY = """
policy:
  prices: { "*": { input: 0, output: 100 } }
  budgets:
    daily: { usd: 0.01, strict: true }
"""
USED = 500  # micro-dollars: five tokens


class Site:
    """The file, and the host that goes by it."""

    def __init__(self, file: Path) -> None:
        self.file, self.clock = file, Clock()
        file.write_text(POLICY)
        live = assemble(Settings(config=str(file)), Board(self.clock))
        assert isinstance(live.host, EmbeddedHost)
        self.live, self.host = live, live.host

    def write(self, old: str, new: str) -> None:
        """Changes the file, and lets enough time pass for it to be read."""
        text = self.file.read_text()
        assert old in text
        self.file.write_text(text.replace(old, new))
        for _ in range(2):
            self.clock.now += EVERY
            self.host.tick()

    @property
    def spent(self) -> int:
        return self.host.judge.money(
            lambda treasury, wall: treasury.ledger.balance(Account("daily"), wall).spent
        )


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site, adapter = Site(tmp_path / "spanfuse.yaml"), OpenAIAdapter()
    before = runtime.install(site.live)
    adapter.patch()
    yield site
    adapter.unpatch()
    runtime.install(before)
    site.host.stop()


def call(client: OpenAI) -> None:
    client.chat.completions.create(**CHAT, max_tokens=20)


def test_a_lower_limit_holds_at_once_for_what_is_spent_already(site: Site, client: OpenAI) -> None:
    call(client)

    site.write("usd: 0.01", "usd: 0.002")

    with pytest.raises(BreakerOpen, match="budget|BUDGET"):
        call(client)
    assert site.spent == USED


def test_a_higher_limit_lets_calls_through_that_were_refused(site: Site, client: OpenAI) -> None:
    site.write("usd: 0.01", "usd: 0.0001")
    with pytest.raises(BreakerOpen):
        call(client)

    site.write("usd: 0.0001", "usd: 0.01")

    call(client)
    assert site.spent == USED


def test_another_price_is_charged_from_then_on(site: Site, client: OpenAI) -> None:
    call(client)

    site.write("output: 100", "output: 200")

    call(client)
    assert site.spent == USED + 2 * USED


def test_a_bad_file_is_refused_with_its_line_and_field_and_the_policy_before_holds(
    site: Site, client: OpenAI, caplog: pytest.LogCaptureFixture
) -> None:
    call(client)

    with caplog.at_level(logging.ERROR, "spanfuse"):
        site.write("usd: 0.01", "usd: much")

    (record,) = caplog.records
    assert f"{site.file}:5: policy.budgets.daily.usd" in record.getMessage()
    call(client)
    assert site.spent == 2 * USED
