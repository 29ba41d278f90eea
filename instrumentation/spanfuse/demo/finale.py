"""The last act while it plays: the agent is followed, and what is told of its budgets is shown as it comes.

Rule 1: it begins when the others have ended, so that it disturbs none of their measurements. Rule 2: alerts
are heard where people would hear them: at a webhook when a processor judges, else from the application. It
does not judge what it hears.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Final

from spanfuse.demo import allowance
from spanfuse.demo.hook import Alert, Hook
from spanfuse.demo.processes import Child, Event
from spanfuse.demo.progress import Progress
from spanfuse.demo.thrift import Worked

PLAY_WITHIN: Final = 45.0
"""Seconds after which an agent that has not ended is given up."""
SCALE: Final = (
    f"last act: the feature {allowance.FEATURE} may spend {allowance.LIMIT_USD:g} USD "
    f"and make {allowance.MOST_CALLS} calls an hour; here an hour passes in {allowance.PERIOD:.0f} s"
)


class Finale:
    """One agent, and what is heard of its budgets.

    `hook` is None where no processor judges: then the application's word is taken, else the webhook's alone.
    """

    def __init__(self, agent: Child, hook: Hook | None, progress: Progress) -> None:
        self.worked = Worked()
        self.ended = 0.0  # when, in seconds since the epoch
        self._agent = agent
        self._hook = hook
        self._told: list[Alert] = []  # by the application
        self._progress = progress
        self._shown = 0

    @property
    def alerts(self) -> list[Alert]:
        """What was told, in the order in which it was heard."""
        return list(self._hook.alerts if self._hook else self._told)

    async def play(self) -> None:
        """Lets the agent begin, and follows it until it has ended."""
        self._progress.note(SCALE)
        await self._agent.order("go")
        self._progress.update(self._agent.name, "running")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PLAY_WITHIN):
                async for event in self._agent.events():
                    if event["event"] == "done":
                        return
                    self._heard(event)
        self.ended = self.ended or time.time()
        self._progress.update(self._agent.name, self.worked.outcome)
        self._progress.problem(f"{self._agent.name} was lost: {self._agent.last_words()}")

    def _heard(self, event: Event) -> None:
        match event["event"]:
            case "calls":
                self._progress.update(self._agent.name, "running", event["calls"])
            case "alert":
                fields = {name: value for name, value in event.items() if name != "event"}
                self._told.append(Alert(at=time.time(), **fields))
            case "ended":
                self.worked, self.ended = Worked.of(event["worked"]), time.time()
                self._progress.update(self._agent.name, self.worked.outcome, self.worked.calls)
        self._show()

    def _show(self) -> None:
        for alert in self.alerts[self._shown :]:
            self._shown += 1
            self._progress.note(f"alert: {alert.message} Order: {alert.reaction}.")
