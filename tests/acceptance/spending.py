"""An application that spends as fast as it is let: many tasks, each with one call.

    python -m tests.acceptance.spending --endpoint HOST:PORT --provider PORT --tasks N

It waits for a line on its input, so that several begin together, and prints one line of JSON at its end: how
many calls were made and how many were refused, and for which reasons.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter

from openai import AsyncOpenAI, DefaultAsyncHttpxClient

import spanfuse
from spanfuse_processor.engine.policy import Policy, Price

MODEL = "gpt-4o-mini"
WORDS = 400  # of an answer; each is a token
POLICY_PRICES = {MODEL: Price(input=0, output=250)}
COST = 0.10
"""US dollars that a call costs: 400 tokens at 250 USD a million."""


async def spend(provider: int, tasks: int) -> dict[str, object]:
    """Makes the calls; returns what came of them."""
    http = DefaultAsyncHttpxClient(verify=False)
    url = f"http://127.0.0.1:{provider}/v1"
    refused: Counter[str] = Counter()
    async with AsyncOpenAI(base_url=url, api_key="sk-x", max_retries=0, http_client=http) as client:

        async def call() -> int:
            question = {"role": "user", "content": "Write a chapter."}
            try:
                await client.chat.completions.create(
                    model=MODEL,
                    messages=[question],
                    max_tokens=WORDS,
                    user="spending",  # type: ignore[list-item]
                )
            except spanfuse.BreakerOpen as refusal:
                refused[str(refusal)] += 1
                return 0
            return 1

        made = sum(await asyncio.gather(*[call() for _ in range(tasks)]))
    return {"made": made, "refused": refused.total(), "reasons": dict(refused)}


def main() -> None:
    """Reads the arguments and spends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--provider", type=int, required=True)
    parser.add_argument("--tasks", type=int, required=True)
    given = parser.parse_args()
    spanfuse.instrument(endpoint=given.endpoint, strict=True, policy=Policy(prices=POLICY_PRICES))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    result = asyncio.run(spend(given.provider, given.tasks))
    sys.stdout.write(json.dumps(result | {"faults": spanfuse.status().faults}) + "\n")
    sys.stdout.flush()
    sys.stdin.readline()  # it lives on, so that the processor may be told again what it spent; then it ends


if __name__ == "__main__":
    main()
