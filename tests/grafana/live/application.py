"""An application with agents of every kind, for as long as it is told: what dashboards are to show.

    python -m tests.grafana.live.application --endpoint HOST:PORT --provider PORT --seconds N

Honest ones (`researcher`, `support`), one that books what cannot be booked (`booker`), one that runs in a
circle (`clerk`), one that loops where it is only observed (`tester`), and one that spends faster and faster
(`writer`). Each run is a run of its own; an agent that was stopped begins again.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import time
from typing import Final

from openai import AsyncOpenAI, DefaultAsyncHttpxClient

import spanfuse
from spanfuse.demo.scenarios import MATERIALS
from spanfuse.demo.tools import book_flight, described, read_ledger, read_ticket, search

TOOLS: Final = {
    "researcher": (search,),
    "booker": (book_flight,),
    "tester": (book_flight,),
    "clerk": (read_ticket, read_ledger),
}
PAUSES: Final = {
    "researcher": 1.0,
    "support": 1.0,
    "booker": 21.0,
    "clerk": 33.0,
    "tester": 27.0,
    "writer": 0.4,
}
"""Seconds between two runs of an agent."""
MODELS: Final = {"researcher": "gpt-4o", "writer": "gpt-4o"}
WRITERS: Final = 6
"""How many write at once in the end; one more joins every twenty seconds."""


class Agents:
    """All of them, until the time is over."""

    def __init__(self, client: AsyncOpenAI, seconds: float) -> None:
        self._client = client
        self._until = time.monotonic() + seconds
        self._numbers = itertools.count(1)

    async def work(self) -> None:
        """Until the time is over."""
        async with asyncio.TaskGroup() as group:
            for name in ("researcher", "researcher", "support", "booker", "clerk", "tester"):
                group.create_task(self._again(name))
            for late in range(WRITERS):
                group.create_task(self._again("writer", late * 20.0))

    async def _again(self, name: str, late: float = 0.0) -> None:
        await asyncio.sleep(late)
        while time.monotonic() < self._until:
            try:
                async with spanfuse.run(agent=name, feature=name, user=f"user-{next(self._numbers) % 5}"):
                    await self._one(name)
            except spanfuse.BreakerOpen:
                await asyncio.sleep(2.0)
            await asyncio.sleep(PAUSES[name])

    async def _one(self, name: str) -> None:
        """One run: an ordinary tool loop."""
        tools = {tool.__name__: tool for tool in TOOLS.get(name, ())}
        messages: list[object] = [{"role": "user", "content": self._task(name)}]
        offered = {"tools": described(tools.values())} if tools else {}
        for _ in range(30):
            answer = await self._client.chat.completions.create(
                model=MODELS.get(name, "gpt-4o-mini"),
                messages=messages,  # type: ignore[arg-type]
                user=name,
                **offered,  # type: ignore[arg-type]
            )
            said = answer.choices[0].message
            messages.append(said)
            if not said.tool_calls:
                return
            for call in said.tool_calls:
                messages.append(_used(tools, call))
            await asyncio.sleep(0.15)

    def _task(self, name: str) -> str:
        number = next(self._numbers)
        if name == "researcher":
            items = _some(number)
            return f"Find the prices of: {', '.join(items)}."
        words = 120 if name == "writer" else 60
        return f"Case {number}: write {words} words on {next(iter(_some(number)))}."


def _some(number: int) -> list[str]:
    known = MATERIALS.split(", ")
    return [f"{known[(number + at) % len(known)]} {number}" for at in range(5)]


def _used(tools: dict[str, object], call: object) -> dict[str, object]:
    """A tool's result as the model is told of it; its failure is one."""
    import json

    try:
        result = tools[call.function.name](**json.loads(call.function.arguments))  # type: ignore
        content = result if isinstance(result, str) else json.dumps(result)
    except spanfuse.BreakerOpen:
        raise
    except Exception as error:
        content = f"Error: {error}"
    return {"role": "tool", "tool_call_id": call.id, "content": content}  # type: ignore


def arguments() -> argparse.Namespace:
    """What it was started with."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--provider", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    return parser.parse_args()


async def play(given: argparse.Namespace) -> None:
    """Works against the provider."""
    http = DefaultAsyncHttpxClient(verify=False)
    url = f"http://127.0.0.1:{given.provider}/v1"
    async with AsyncOpenAI(base_url=url, api_key="sk-x", max_retries=0, http_client=http) as client:
        await Agents(client, given.seconds).work()


def main() -> None:
    """Instruments itself and works."""
    given = arguments()
    spanfuse.instrument(endpoint=given.endpoint, service="shop")
    asyncio.run(play(given))
    spanfuse.shutdown()


if __name__ == "__main__":
    main()
