"""The service's money on a clock of the test's own, with what it published."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from tests.engine.making import model

from spanfuse_processor.accounting.money import Money
from spanfuse_processor.config import Config, Storage
from spanfuse_processor.engine.budget import Budget
from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.nouns import Identity
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.verdicts import Directive, Removal

MIDNIGHT = 1_700_006_400.0


class Clock:
    """Both clocks go together."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def wall_ns(self) -> int:
        return int((MIDNIGHT + self.now) * 1e9)


class Desk:
    """Money, and what it published: `+id` and `-id`."""

    def __init__(self, *budgets: Budget, store: Path | str = "memory:", clock: Clock | None = None) -> None:
        self.clock = clock or Clock()
        self.published: list[str] = []
        self.directives: list[Directive] = []
        self.faults: list[str] = []
        url = store if isinstance(store, str) else f"sqlite:{store}"
        config = Config(store=Storage(url=url), policy=Policy(budgets=budgets))
        self.money = Money(config, url, self.clock, self.publish, lambda run: None, self.find, self.fault)
        self._calls = 0

    def publish(self, directives: Sequence[Directive], removals: Sequence[Removal]) -> None:
        self.directives += directives
        self.published += [f"+{each.id}" for each in directives] + [f"-{each.id}" for each in removals]

    def find(self, name: str) -> Directive | None:
        """The directive that was published last under an id."""
        return next((each for each in reversed(self.directives) if each.id == name), None)

    def fault(self, where: str, error: BaseException) -> None:
        self.faults.append(where)

    def call(self, micro_usd: int, *, of: int = 1, user: str = "ann", **more: Any) -> None:
        """A model call ended, and was charged."""
        self._calls += 1
        event = model(self._calls, of=of, identity=Identity(feature="mail", user=user), **more)
        event.ended_ns = self.clock.wall_ns()
        self.money.ended(Call(event, f"r{of}", 1, 0, 0, (), True, micro_usd), event)
        self.money.settle()

    def spent(self, account: str) -> int:
        """Of an account that something was charged to."""
        views = self.money.views(self.clock.wall_ns() / 1e9)
        return next(view.balance.spent for view in views if str(view.account) == account)


def life(desk: Desk, act: Callable[[Desk], Coroutine[Any, Any, None]]) -> Desk:
    """Opens, acts, closes."""

    async def live() -> None:
        await desk.money.open()
        await act(desk)
        await asyncio.sleep(0)
        await desk.money.close()

    asyncio.run(live())
    return desk
