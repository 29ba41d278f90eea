"""The public API as a type checker sees it: checked with `mypy --strict`, never run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from typing import assert_type

import spanfuse
from spanfuse import BreakerOpen, Directive, Policy, Run, RunScope, Stage
from spanfuse.testing import FakeHost, Session, spanfuse_session, trip


@spanfuse.tool
def search(query: str, limit: int = 10) -> list[str]:
    """A tool without a word about itself."""
    return [query] * limit


@spanfuse.tool(name="fetch_page", effect="read", repeatable=True, volatile=["nonce"], identity=("url",))
async def fetch(url: str, *, nonce: str = "") -> bytes:
    """A coroutine function stays one."""
    return url.encode()


@spanfuse.tool
def lines(path: str) -> Generator[str, None, int]:
    """So does a generator function."""
    yield path
    return 1


@spanfuse.tool(effect="wait", transient=[ConnectionError, "busy"])
async def events() -> AsyncGenerator[str, None]:
    """And an async one."""
    yield "event"


class Tools:
    """Methods keep their signatures."""

    @spanfuse.tool
    def add(self, left: int, right: int) -> int:
        """Adds."""
        return left + right


async def use() -> None:
    """What an application writes."""
    spanfuse.instrument(endpoint="127.0.0.1:4317", feature="chat", policy=Policy())
    assert_type(search("a"), list[str])
    assert_type(await fetch("a", nonce="1"), bytes)
    assert_type(lines("x"), Generator[str, None, int])
    assert_type(events(), AsyncGenerator[str, None])
    assert_type(Tools().add(1, 2), int)
    search()  # type: ignore[call-arg]
    search(3)  # type: ignore[arg-type]
    spanfuse.instrument(endpont="x")  # type: ignore[call-arg]
    spanfuse.tool(effect="reed")  # type: ignore[call-overload]

    with spanfuse.run(
        feature="chat", user="u", tenant="t", session="s", budget_usd=1.5, profile="batch"
    ) as run:
        assert_type(run, Run)
        assert_type(run.id, str)
        assert_type(run.depth, int)
        assert_type(run.stopped, bool)
    async with spanfuse.run(agent="planner", name="n", namespace="ns", run_id="r") as run:
        assert_type(run, Run)


async def work_long() -> None:
    """Long work, bounded and alive."""
    with spanfuse.stage("index", budget_usd=1.0, timeout=600) as stage:
        assert_type(stage, Stage)
        assert_type(stage.name, str)
    async with spanfuse.stage("embed") as stage:
        assert_type(stage, Stage)
    spanfuse.heartbeat()
    spanfuse.heartbeat(within=600)


def operate() -> None:
    """What an application asks and orders."""
    assert_type(spanfuse.current_run(), RunScope | None)
    assert_type(spanfuse.kill("r", "why"), bool)
    assert_type(spanfuse.release("r"), bool)
    assert_type(spanfuse.environment(), dict[str, str])
    assert_type(spanfuse.status().directives, list[Directive])
    try:
        spanfuse.shutdown(timeout=1.0)
    except BreakerOpen as stop:
        assert_type(stop.directive, Directive)
        assert_type(stop.reason, str)
        assert_type(stop.model_message, str)
    except spanfuse.RunStopped as stop:
        assert_type(stop.directive, Directive)


@spanfuse.run(feature="chat")
def handle(number: int) -> str:
    """A decorated function keeps its type."""
    return str(number)


@spanfuse.run()
async def handle_async(number: int) -> str:
    """A decorated coroutine function too."""
    return str(number)


handled: Callable[[int], str] = handle
handled_async: Callable[[int], Awaitable[str]] = handle_async


def try_out() -> None:
    """What a test of an application writes."""
    with spanfuse_session(judging=False) as session:
        assert_type(session, Session)
        assert_type(session.fake, FakeHost | None)
        assert_type(trip("r"), Directive)
