"""What the treasury said, on its way: orders to applications at once, events to people behind.

Rule 1: orders go out first; what is said of them waits until the watchers have been written to. Rule 2:
nobody here waits for a store or a webhook. Rule 3: whoever of the told fails does not keep the others from
hearing. It does not know why anything is said.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence

from spanfuse_processor.accounting.hook_news import HookNews
from spanfuse_processor.alerting.webhook import Webhook
from spanfuse_processor.engine.alerts import BudgetEvent, Notice
from spanfuse_processor.engine.budget import Reaction
from spanfuse_processor.engine.verdicts import Directive, Removal
from spanfuse_processor.telemetry import log
from spanfuse_processor.telemetry.budgets import BudgetBoard

Publish = Callable[[Sequence[Directive], Sequence[Removal]], object]
"""Puts directives up and takes others down."""
OnFault = Callable[[str, BaseException], None]
Tell = Callable[[BudgetEvent], None]
"""Passes an event on to somebody else. It does not wait."""


def ignore(event: BudgetEvent) -> None:
    """Nobody else is told."""


class Telling:
    """Passes notices on.

    Args:
        publish: reaches applications.
        keep: takes events for the record.
        webhook: None: nobody is told.
        board: counts what was told.
        on_fault: hears of internal errors.
        pass_on: hears of every event.
    """

    def __init__(
        self,
        publish: Publish,
        keep: Callable[[Sequence[BudgetEvent]], None],
        webhook: Webhook | None,
        board: BudgetBoard,
        on_fault: OnFault,
        pass_on: Tell = ignore,
    ) -> None:
        self._publish = publish
        self._keep = keep
        self._webhook = webhook
        self._board = board
        self._on_fault = on_fault
        self._pass_on = pass_on
        self._news = HookNews(webhook) if webhook is not None else None

    def tell(self, notices: Iterable[Notice]) -> None:
        """Passes on what was said; on the loop's own thread."""
        notices = tuple(notices)
        if not notices:
            return
        directives = [note.directive for note in notices if note.directive is not None]
        removals = [note.removal for note in notices if note.removal is not None]
        if directives or removals:
            self._publish(directives, removals)
        asyncio.get_running_loop().call_soon(self._report, notices)

    def advance(self, now: float) -> None:
        """Time has passed (`now`: monotonic seconds): says what is new of the webhook."""
        if self._news is not None:
            self._news.look(now)

    def _report(self, notices: Sequence[Notice]) -> None:
        events = [note.event for note in notices if note.event is not None]
        with self._guarded("events"):
            if events:
                self._keep(events)
        for event in events:
            with self._guarded("alerts"):
                self._board.told(event.account.budget, event.condition)
                log.say(_level(event), event.words(), **_fields(event))
                if self._webhook is not None:
                    self._webhook.put(event)
            with self._guarded("forwarding"):
                self._pass_on(event)
        for note in notices:
            if note.directive is not None:
                log.say(logging.INFO, "ordered", **_order(note.directive))
            if note.removal is not None:
                log.say(logging.INFO, "lifted", directive=note.removal.id, reason=note.removal.reason)

    @contextlib.contextmanager
    def _guarded(self, where: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self._on_fault(where, error)


def _level(event: BudgetEvent) -> int:
    return logging.INFO if event.reaction is Reaction.WARN else logging.WARNING


def _fields(event: BudgetEvent) -> dict[str, object]:
    return {
        "budget": event.account.budget,
        "account": str(event.account),
        "condition": event.condition.value,
        "reaction": event.reaction.value,
        "mode": event.mode.value,
        "event": event.id,
    }


def _order(directive: Directive) -> dict[str, object]:
    return {
        "directive": directive.id,
        "action": directive.action.value,
        "mode": directive.mode.value,
        "ttl": round(directive.ttl, 1),
    }
