"""The service's money, in one place: what calls cost comes in, what comes of it goes out.

    engine -> cashier -> treasury -> orders to applications, events to people, rows to stores

Rule 1: it lives on the loop that owns the engine, and nothing here waits: not for a store, not for a webhook.
Rule 2: the ledger is read once, before the service is ready; what changes is handed on several times a
second, and what other processors change in it is read along. Rule 3: a store that cannot be read costs its
memory, never the service: it is said, and leases learn first. It does not know spans, sockets or HTTP.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from spanfuse_processor.accounting.lending import Lending
from spanfuse_processor.accounting.telling import OnFault, Publish, Tell, Telling, ignore
from spanfuse_processor.alerting.webhook import Webhook
from spanfuse_processor.bookkeeping.books import Books
from spanfuse_processor.bookkeeping.journal import Journal, Keeping
from spanfuse_processor.clock import Clock
from spanfuse_processor.config import Config
from spanfuse_processor.engine.budget import Budget
from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.engine.budgets.leases import LeaseAnswer, LeaseAsk
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.cashier import Cashier
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.runs.run import RunView
from spanfuse_processor.engine.treasury import AccountView, Treasury
from spanfuse_processor.engine.tree.spending import Amended
from spanfuse_processor.engine.verdicts import Directive
from spanfuse_processor.store import Written
from spanfuse_processor.telemetry import log
from spanfuse_processor.telemetry.budgets import BudgetBoard
from spanfuse_processor.telemetry.keeping import SENT
from spanfuse_processor.telemetry.labels import Labels
from spanfuse_processor.writing import Restored, WriterStats

JOURNAL: Final = 100_000
"""Changes of the ledger that may wait for the next look."""
PATIENCE: Final = 5.0
"""Seconds that a store may take to answer at the start."""
CLOSING: Final = 5.0
"""Seconds that what waits may take to be written at the end."""
LOOK_EVERY: Final = 1.0
"""Seconds between two looks at what metrics show."""
KEEP_EVERY: Final = 0.2
"""Seconds between two times that changes are handed to the stores."""
RECEIPTS: Final = 120.0
"""Seconds for which a dump remembers calls, but for the last one: what comes twice comes sooner."""


class Money:
    """All of it.

    Args:
        config: `store`, `alerts` and the policy's budgets.
        store_url: where things are kept.
        clock: wall time, and the monotonic one that waiting goes by.
        publish: reaches applications.
        view: what is known of a run.
        find: the directive under an id, as it was published.
        on_fault: hears of internal errors.
        tell: hears of what happens to budgets.

    Attributes:
        board: what metrics show of budgets.
        journal: what happened, step by step.

    Raises:
        StoreError: a URL of no store, or a driver that is missing.
    """

    def __init__(
        self,
        config: Config,
        store_url: str,
        clock: Clock,
        publish: Publish,
        view: Callable[[str], RunView | None],
        find: Callable[[str], Directive | None],
        on_fault: OnFault,
        tell: Tell = ignore,
    ) -> None:
        self._clock = clock
        self._publish = publish
        self._budgets: Sequence[Budget] = config.policy.budgets
        wall = self._wall()
        store, alerts = config.store, config.alerts
        self._books = Books(store_url, store.ledger_url, store.keep_days, clock, on_fault)
        self._lasting = not (store.ledger_url or store_url).startswith("memory:")
        self._treasury = Treasury(self._budgets, wall, self._ledger(wall))
        self._cashier = Cashier(self._treasury, lambda run: bool((seen := view(run)) and seen.stop))
        kept = config.journal
        keeping = Keeping(kept.steps, kept.capture_bytes if kept.capture else 0, kept.snapshots)
        self.journal = Journal(keeping, self._books.rows, config.policy, view, find)
        self._lending = Lending(self._treasury.ledger, wall)
        self._webhook = (
            Webhook(alerts.webhook_url, alerts.webhook_secret, timeout=alerts.timeout)
            if alerts.webhook_url
            else None
        )
        self.board = BudgetBoard(names=Labels("budget", config.metrics.budgets))
        self._telling = Telling(publish, self.journal.budgets, self._webhook, self.board, on_fault, tell)
        self._looked = self._kept = clock.monotonic() - LOOK_EVERY
        self._over = self._first = False
        self._catching_up: asyncio.Task[None] | None = None
        self.board.expect([each.name for each in self._budgets])

    async def open(self) -> None:
        """Goes on where the last life ended. Orders that are due are given before this returns."""
        restored = await self._books.restore(PATIENCE)
        wall = self._wall()
        if restored is None:
            log.say(logging.ERROR, "the store does not answer: what was spent before is not known yet")
            self._catch_up()
        elif restored.dump is None and not restored.entries and self._lasting:
            # Before anything is lent: a life that is killed at once would be taken for none.
            self._first = await self._books.begin(self, PATIENCE)
        self._resume(restored)
        if restored is not None:
            self._follow()
        self._order(*self._lending.require(self._budgets, wall))
        self._look(wall)

    def ended(self, call: Call, event: CallEnded) -> None:
        """A call ended; while the engine is at work nothing is decided."""
        self._cashier.ended(call, event)
        self.journal.ended(call, event)

    def amended(self, told: Amended) -> None:
        """A call came to something else."""
        self._cashier.amended(told)
        self.journal.amended(told)

    def settle(self) -> None:
        """Charges what came since the last time: after each time that the engine was called."""
        self.journal.settle()
        self._telling.tell(self._cashier.settle(self._wall()))

    def keep(self) -> None:
        """Hands on what changed, now and then."""
        now = self._clock.monotonic()
        if now - self._kept < KEEP_EVERY:
            return
        self._kept = now
        self.journal.keep()
        self._books.advance(self)

    def advance(self) -> None:
        """Time has passed."""
        wall = self._wall()
        self._telling.tell(self._cashier.settle(wall))
        self._telling.tell(self._treasury.advance(wall))
        self._order(self._lending.advance(wall), ())
        self._telling.advance(self._clock.monotonic())
        self.keep()
        if self._clock.monotonic() - self._looked >= LOOK_EVERY:
            self._look(wall)

    def next_deadline(self) -> float:
        """When `advance` is due, on the monotonic clock."""
        wall = self._wall()
        due = min(self._treasury.next_deadline(wall), self._lending.next_deadline())
        return self._clock.monotonic() + due - wall

    def lease(self, ask: LeaseAsk) -> LeaseAnswer:
        """Answers who asks for a lease. Raises LookupError: no strict budget has such an account."""
        wall = self._wall()
        answer = self._lending.ask(ask, wall)
        self._telling.tell(self._treasury.look((ask.account,), wall))
        return answer

    def renew(self, policy: Policy) -> None:
        """Goes on by another policy; spent money carries over."""
        wall, budgets = self._wall(), policy.budgets
        self._budgets = budgets
        self.journal.obey(policy)
        self._telling.tell(self._treasury.renew(budgets, wall))
        self._order(*self._lending.require(budgets, wall))
        self.board.expect([each.name for each in budgets])
        self._look(wall)

    def views(self, wall: float) -> list[AccountView]:
        """Every account, for operators."""
        return self._treasury.views(wall)

    @property
    def books(self) -> Books:
        """What is kept, for operators and metrics."""
        return self._books

    @property
    def leases(self) -> int:
        """Leases that are held now."""
        return self._lending.held

    def writers(self) -> Mapping[str, WriterStats]:
        """What became of what is to be kept: of the journal, and of the ledger where that is kept apart."""
        rows, ledger = self._books.stats()
        shared = self._books.ledger is self._books.rows
        return {"journal": rows} if shared else {"journal": rows, "ledger": ledger}

    def webhook(self) -> Mapping[str, int] | None:
        """What became of events for the webhook; None: there is none."""
        if self._webhook is None:
            return None
        return {name: getattr(self._webhook.sent, name) for name in (*SENT, "retries", "waiting")}

    async def close(self) -> None:
        """Writes what waits, and a last dump, as far as that goes in time."""
        self._over = True
        if self._catching_up is not None:
            self._catching_up.cancel()
        self._kept -= KEEP_EVERY
        self.keep()
        self._books.ledger.dump(self.dump(), self._books.keeper.seen, self._wall())
        if self._webhook is not None:
            await asyncio.to_thread(self._webhook.close)
            self._telling.advance(self._clock.monotonic())
        await self._books.close(CLOSING)

    def drain(self) -> list[Entry]:
        """What changed in the ledger since the last time."""
        return self._treasury.ledger.drain()

    def dump(self, since: float = 0.0) -> dict[str, Any]:
        """The ledger, and beside it what belongs to it."""
        recent = since if self._over else max(since, self._wall() - RECEIPTS)
        beside = {
            "leases": self._lending.dump(),
            "treasury": self._treasury.dump(),
            "runs": self._cashier.steps.forecaster.dump(),
            "clean": self._over,
        }
        return {**self._treasury.ledger.dump(recent), "beside": beside}

    def _catch_up(self) -> None:
        self._catching_up = asyncio.create_task(self._books.catch_up(self, self._caught_up))

    def _caught_up(self, restored: Restored) -> None:
        log.say(logging.WARNING, "the store answers: what was spent before is known")
        self._resume(restored)
        self._follow()

    def _follow(self) -> None:
        """What other processors write into the same ledger is counted here, too."""
        if self._lasting:
            tell = asyncio.get_running_loop().call_soon_threadsafe
            self._books.follow(lambda tail: tell(self._others, tail), lambda: tell(self._catch_up))

    def _others(self, tail: Sequence[Written]) -> None:
        entries = [each.entry for each in tail]
        self._books.keeper.saw(tail)
        self._lending.follow(entries)
        self._telling.tell(self._treasury.follow(entries, self._wall()))

    def _resume(self, restored: Restored | None) -> None:
        """Takes up the last life. A first life has lost nothing, if this one has left something."""
        wall = self._wall()
        if restored is None or (restored.dump is None and not restored.entries):
            self._lending.resume(self._treasury.ledger, {}, wall, self._first)
            return
        beside: Mapping[str, Any] = (restored.dump or {}).get("beside", {})
        ledger = self._ledger(wall, restored)
        clean = bool(beside.get("clean")) and not restored.entries
        self._lending.resume(ledger, beside.get("leases", {}), wall, clean, restored.entries)
        if runs := beside.get("runs"):
            self._cashier.steps.forecaster.load(runs)
        self._telling.tell(self._treasury.resume(ledger, beside.get("treasury", {}), wall))

    def _ledger(self, wall: float, restored: Restored | None = None) -> Ledger:
        if restored is None:
            return Ledger(self._budgets, wall, journal=JOURNAL)
        dump = restored.dump or Ledger((), wall).dump()
        return Ledger.load(self._budgets, dump, wall, entries=restored.entries, journal=JOURNAL)

    def _order(self, directives: Sequence[Any], removals: Sequence[Any]) -> None:
        if directives or removals:
            self._publish(directives, removals)

    def _look(self, wall: float) -> None:
        """Leaves for metrics what they show."""
        self._looked = began = self._clock.monotonic()
        measures = {each.name: each.measure for each in self._budgets}
        self.board.views = self._treasury.front(wall)
        self.board.took.observe(seconds=self._clock.monotonic() - began)
        self.board.looked = wall
        spent = self._treasury.spent
        self.board.spent = {name: (measure, spent.get(name, 0)) for name, measure in measures.items()}

    def _wall(self) -> float:
        return self._clock.wall_ns() / 1e9
