"""One call in a process that judges itself: what it came to, by the ledger. For tests of how calls end."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.library.providers.fake_openai import Reply
from tests.library.providers.openai_paths import CHAT, COUNTED
from tests.waiting import until

import spanfuse
from spanfuse import runtime
from spanfuse.hosts.embedded import EmbeddedHost
from spanfuse_processor.engine.budget import Account, Budget, Measure
from spanfuse_processor.engine.budgets.book import Balance
from spanfuse_processor.engine.policy import Policy, Price

MOST = 50 * 100  # micro-dollars: so many tokens at most, at 100 USD a million
USED = 5 * 100
ASKED_OF_EMBEDDINGS = 12 * 100
BUDGETS = (
    Budget("money", 1_000_000, strict=True),
    Budget("tokens", 1_000_000, Measure.TOKENS, strict=True),
    Budget("calls", 1_000, Measure.CALLS),
)
ASKED = {**CHAT, "max_tokens": 50}
STREAMED = {**ASKED, **COUNTED}
TALE = Reply(text="one two three four")


def judging() -> None:
    """The process judges itself; what is said costs 100 USD a million tokens."""
    prices = {"*": Price(input=0, output=100), "text-embedding-*": Price(input=100)}
    spanfuse.instrument(policy=Policy(prices=prices, budgets=BUDGETS))


@contextmanager
def held() -> Iterator[threading.Event]:
    """What a server waits for, once it is told to."""
    hold = threading.Event()
    yield hold
    hold.set()


def host() -> EmbeddedHost:
    live = runtime.live()
    assert live is not None
    assert isinstance(live.host, EmbeddedHost)
    return live.host


def balance(name: str) -> Balance:
    return host().judge.money(lambda treasury, wall: treasury.ledger.balance(Account(name), wall))


def assert_charged_once(usd: int, tokens: range | None = None) -> None:
    """One call, which cost this much; and nothing more happens to it."""
    gc.collect()
    until(lambda: not balance("money").reserved and balance("calls").spent)
    for _ in range(3):
        gc.collect()
        host().tick()
        assert (balance("money").spent, balance("money").reserved, balance("calls").spent) == (usd, 0, 1)
        assert balance("tokens").reserved == 0
        if tokens is not None:
            assert balance("tokens").spent in tokens


class Crash(Exception):
    """The application's own."""
