"""An agent of the demo, in a process of its own: an ordinary tool loop with the unmodified `openai` package.

    python -m spanfuse.demo.agents NAME [--model MODEL]

All that it needs of spanfuse is `import spanfuse.auto`; `spanfuse.run` gives the run a name. The rest is what
any agent looks like. How it ended goes to standard output, the operator's word comes from standard input: see
`backstage.py`.
"""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from openai import AsyncOpenAI, OpenAI

import spanfuse
import spanfuse.auto
from spanfuse.demo import backstage
from spanfuse.demo.scenarios import NAMED
from spanfuse.demo.task import Task

MOST_STEPS = 250
"""Model calls in one turn after which the loop gives up, whatever the model wants."""

ENOUGH_CHAPTERS, ENOUGH_CHUNKS = 2, 40
"""Where the operator loses patience with the novel: in the middle of its second chapter."""

STREAMED: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}


def work(task: Task, client: OpenAI) -> None:
    """The loop: ask the model, make the tool calls that it wants, until it answers."""
    for turn in task.scenario.turns:
        task.hear(turn)
        for _ in range(MOST_STEPS):
            calls = task.heard(client.chat.completions.create(**task.request()))
            if not calls:
                break
            for call in calls:
                task.use(call.id, call.function.name, call.function.arguments)
                backstage.tell("calls", calls=task.calls)


async def work_async(task: Task, client: AsyncOpenAI) -> None:
    """The same loop under asyncio."""
    for turn in task.scenario.turns:
        task.hear(turn)
        for _ in range(MOST_STEPS):
            calls = task.heard(await client.chat.completions.create(**task.request()))
            if not calls:
                break
            for call in calls:
                task.use(call.id, call.function.name, call.function.arguments)


def write(task: Task, client: OpenAI, run: str) -> None:
    """Writes chapter after chapter, each as a stream."""
    for turn in task.scenario.turns:
        task.hear(turn)
        task.calls += 1
        backstage.tell("calls", calls=task.calls)
        text = ""
        for place, chunk in enumerate(client.chat.completions.create(**task.request(), **STREAMED)):
            text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
            task.charge(chunk.usage)
            if (task.calls, place) == (ENOUGH_CHAPTERS, ENOUGH_CHUNKS):
                backstage.tell("mid-stream", run=run)
        task.messages.append({"role": "assistant", "content": text})


def play(task: Task) -> None:
    """One run under the plain client."""
    with OpenAI() as client, spanfuse.run(feature=task.scenario.name, agent=task.scenario.name) as run:
        if task.scenario.mid_stream:
            write(task, client, run.id)
        else:
            work(task, client)


async def play_async(task: Task) -> None:
    """One run under the asynchronous client."""
    name = task.scenario.name
    async with AsyncOpenAI() as client, spanfuse.run(feature=name, agent=name):
        await work_async(task, client)


def main() -> None:
    """Reads the arguments, waits for the curtain, plays."""
    parser = argparse.ArgumentParser(prog="python -m spanfuse.demo.agents")
    parser.add_argument("name", choices=NAMED)
    parser.add_argument("--model", default="")
    arguments = parser.parse_args()
    task = Task(NAMED[arguments.name], arguments.model)
    backstage.wait_for_curtain()
    with backstage.ending(task):
        if task.scenario.asynchronous:
            asyncio.run(play_async(task))
        else:
            play(task)
    backstage.tell("done")


if __name__ == "__main__":
    main()
