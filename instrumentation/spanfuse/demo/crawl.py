"""An agent that does honest work and spends its budget steadily, in a process of its own.

    python -m spanfuse.demo.crawl [--helpers N] [--seconds S] [--feature NAME]

Every report is a run of its own and another one: nothing here loops. It ends when its time is over or there
is no money for another report. What it may spend is written in the processor's policy, not here.
"""

from __future__ import annotations

import argparse
import asyncio
import time

from openai import AsyncOpenAI

import spanfuse
import spanfuse.auto
from spanfuse.demo import allowance, backstage
from spanfuse.demo.scenarios import MODEL

FEATURE = "crawl"
PAUSE = 0.4
"""Seconds between two reports of one helper."""


async def crawl(helpers: int, seconds: float, feature: str) -> int:
    """Works for so long, or as long as there is money. Returns how many reports were written."""
    requests, until = allowance.requests(), time.monotonic() + seconds
    written = 0

    async def help_out(client: AsyncOpenAI) -> None:
        nonlocal written
        while time.monotonic() < until:
            await _write(client, next(requests), feature)
            written += 1
            backstage.tell("calls", calls=written)
            await asyncio.sleep(PAUSE)

    async with AsyncOpenAI() as client:
        ended = await asyncio.gather(*(help_out(client) for _ in range(helpers)), return_exceptions=True)
    for each in ended:
        if isinstance(each, BaseException) and not isinstance(each, spanfuse.BreakerOpen):
            raise each
    return written


async def _write(client: AsyncOpenAI, request: str, feature: str) -> None:
    async with spanfuse.run(feature=feature, agent=FEATURE):
        await client.chat.completions.create(
            model=MODEL, messages=[{"role": "user", "content": request}], user=feature
        )


def main() -> None:
    """Reads the arguments, waits for the curtain, works."""
    parser = argparse.ArgumentParser(prog="python -m spanfuse.demo.crawl")
    parser.add_argument("--helpers", type=int, default=1, help="how many work at a time")
    parser.add_argument("--seconds", type=float, default=20.0, help="for how long")
    parser.add_argument("--feature", default=FEATURE, help="whose budget is spent")
    arguments = parser.parse_args()
    backstage.wait_for_curtain()
    written = asyncio.run(crawl(arguments.helpers, arguments.seconds, arguments.feature))
    backstage.tell("done", calls=written)


if __name__ == "__main__":
    main()
