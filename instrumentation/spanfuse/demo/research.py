"""The agent of the last act, in a process of its own: it writes reports, each of them a run of its own.

    python -m spanfuse.demo.research

First one helper writes, then ever more of them do: work, not a loop, and every report is another one. Like
any application with OpenTelemetry it has a tracer provider; what its own spans say of calls that were made
cheaper or held back goes to the runner, and so does what `on_event` is told (where no processor judges).
"""

from __future__ import annotations

import asyncio
import contextlib
import traceback
from collections.abc import Callable
from dataclasses import asdict

from openai import AsyncOpenAI
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider

import spanfuse
from spanfuse.demo import allowance, backstage
from spanfuse.demo.scenarios import MODEL
from spanfuse.demo.thrift import Degraded, Held, Worked
from spanfuse_processor.engine import names


class Noticed(SpanProcessor):
    """What the application's own spans say: which calls gave something up, and which were held back."""

    def __init__(self) -> None:
        self.degraded = self.throttled = 0
        self.first_degraded: Degraded | None = None
        self.first_held: Held | None = None
        self.enough: Callable[[], object] = lambda: None
        self._tokens = 0  # of the last answer to a call that gave nothing up

    def on_end(self, span: ReadableSpan) -> None:
        """One span."""
        said = dict(span.attributes or {})
        if names.REQUEST_MODEL not in said:
            return
        at, tokens = (span.end_time or 0) / 1e9, int(said.get(names.OUTPUT_TOKENS, 0))  # type: ignore[arg-type]
        if said.get(names.DEGRADED) and names.ORIGINAL_MODEL in said:
            asked, model = str(said[names.ORIGINAL_MODEL]), str(said[names.REQUEST_MODEL])
            self.degraded += 1
            self.first_degraded = self.first_degraded or Degraded(at, asked, model, self._tokens, tokens)
        else:
            self._tokens = tokens
        if waited := said.get(names.THROTTLED_MS):
            self._held(Held(at, int(waited)))  # type: ignore[arg-type]

    def _held(self, held: Held) -> None:
        self.throttled += 1
        self.first_held = self.first_held or held
        if self.throttled >= allowance.SLOW_CALLS:
            self.enough()


class Research:
    """All helpers together."""

    def __init__(self, client: AsyncOpenAI) -> None:
        self.calls = self.refused = 0
        self._client = client
        self._requests = allowance.requests()

    async def grow(self) -> None:
        """Helpers, more and more of them, until they are told to end."""
        async with asyncio.TaskGroup() as helpers:
            helpers.create_task(self._help())
            await asyncio.sleep(allowance.STEADY)
            for _ in range(1, allowance.HELPERS):
                helpers.create_task(self._help())
                await asyncio.sleep(allowance.NEXT_HELPER)

    async def _help(self) -> None:
        """One report after the other, until there is no money for another."""
        for request in self._requests:
            try:
                await self._write(request)
            except spanfuse.BreakerOpen:
                self.refused += 1
                return
            self.calls += 1
            backstage.tell("calls", calls=self.calls)
            await asyncio.sleep(allowance.PAUSE)

    async def _write(self, request: str) -> None:
        async with spanfuse.run(feature=allowance.FEATURE, agent=allowance.FEATURE):
            await self._client.chat.completions.create(
                model=MODEL, messages=[{"role": "user", "content": request}], user=allowance.FEATURE
            )


async def play(noticed: Noticed) -> Research:
    """Works until enough calls have been held back, or for so long."""
    enough = asyncio.Event()
    noticed.enough = enough.set
    async with AsyncOpenAI() as client:
        research = Research(client)
        work = asyncio.create_task(research.grow())
        seen = asyncio.create_task(enough.wait())
        await asyncio.wait({work, seen}, timeout=allowance.LONGEST, return_when=asyncio.FIRST_COMPLETED)
        for task in (work, seen):
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work
        return research


def heard(event: spanfuse.BudgetEvent) -> None:
    """Something happens to a budget, and this process has found out by itself."""
    left = None if event.exhausted_at is None else event.exhausted_at - event.wall
    backstage.tell(
        "alert",
        kind=event.condition.value,
        budget=event.account.budget,
        reaction=event.reaction.value,
        message=event.words(),
        raised=event.wall,
        seconds_left=left,
    )


def main() -> None:
    """Instruments itself, waits for the curtain, plays."""
    noticed, provider = Noticed(), TracerProvider()
    provider.add_span_processor(noticed)
    trace.set_tracer_provider(provider)
    backstage.wait_for_curtain()
    spanfuse.instrument(on_event=heard)  # not before: nobody else's verdicts are to be sent here too
    backstage.wait_for_judge()
    outcome, calls, refused = "finished", 0, 0
    try:
        research = asyncio.run(play(noticed))
        calls, refused = research.calls, research.refused
    except Exception as error:
        traceback.print_exc()
        outcome = f"failed ({type(error).__name__})"
    worked = Worked(
        outcome,
        calls,
        refused,
        noticed.degraded,
        noticed.throttled,
        noticed.first_degraded,
        noticed.first_held,
    )
    backstage.tell("ended", worked=asdict(worked))
    backstage.tell("done")


if __name__ == "__main__":
    main()
