"""The composition root of the service: configuration to rooms, spans to verdicts, verdicts to applications.

Rule 1: one event loop owns the one engine; whatever touches it runs here. Rule 2: rooms do not know each
other, this file introduces them. Rule 3: an internal fault costs one span its judgement, is counted, and goes
no further. Sockets, TLS and signals are `serving.py`'s.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from spanfuse_processor import admin_token
from spanfuse_processor.accounting import Money
from spanfuse_processor.asgi import Application
from spanfuse_processor.auth import Tokens
from spanfuse_processor.clock import Clock
from spanfuse_processor.config import Config
from spanfuse_processor.config_loading import admin_token_path, store_url
from spanfuse_processor.control.admin import Admin, Audit
from spanfuse_processor.control.alert_desk import AlertDesk
from spanfuse_processor.control.alertmanager import AlertRoute
from spanfuse_processor.control.hub import fresh_hub
from spanfuse_processor.control.money import MoneyDesk
from spanfuse_processor.control.payloads import show_runs
from spanfuse_processor.control.records import RecordsDesk
from spanfuse_processor.control.stream import ControlService
from spanfuse_processor.engine import Engine, GenaiPrices, Order, dialects_for
from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.dialect import Dialect
from spanfuse_processor.engine.events import CallEnded, CallStarted, Heartbeat
from spanfuse_processor.engine.nouns import BreakerKey
from spanfuse_processor.engine.verdicts import Verdict
from spanfuse_processor.figures import Figures
from spanfuse_processor.health import Health
from spanfuse_processor.passing import Passing
from spanfuse_processor.receiver.decoded import Decoded
from spanfuse_processor.receiver.intake import Intake
from spanfuse_processor.receiver.otlp_grpc import GrpcReceiver
from spanfuse_processor.receiver.otlp_http import HttpReceiver
from spanfuse_processor.reloading import Reloader
from spanfuse_processor.serving import Doors, Serving, StartError, leave_token
from spanfuse_processor.store import StoreError
from spanfuse_processor.telemetry import log
from spanfuse_processor.telemetry.counters import Metrics
from spanfuse_processor.telemetry.reports import Reports
from spanfuse_processor.tuning import freeze_startup
from spanfuse_processor.wire.effects import Effect
from spanfuse_processor.wire.messages import Instance

__all__ = ["Service", "StartError"]

LONGEST_WAIT = 1.0  # seconds between two looks at the deadlines
RETRY_AFTER = 1.0  # seconds after which a sender that came in vain may come again
SOME_PRICE = ("openai", "gpt-4o", 20_000)
"""Asked before the service is ready: the data takes a sixth of a second to load, and verdicts wait for it."""


class Service:
    """One processor. `run` serves until the process is told to stop.

    `reload` reads the configuration anew, from the file `path`; None: it is never read again.

    Raises:
        StartError: the store is none, or its driver is missing.
    """

    def __init__(
        self,
        config: Config,
        clock: Clock,
        path: str | None = None,
        reload: Callable[[], Config] | None = None,
    ) -> None:
        self._config = config
        self._clock = clock
        self._faults = log.Faults(clock.monotonic)
        self._metrics = Metrics(config.metrics, clock)
        self._prices = GenaiPrices()
        self._hub = fresh_hub(clock, config.control.retained, config.control.bookmark_seconds)
        self._passing = Passing(config, clock, self._faults.add, lambda run: self._engine.run(run))
        self._money = self._make_money()
        self._engine = Engine(
            config.policy,
            self._prices,
            self._dialects(config),
            observer=self._ended,
            amend=self._money.amended,
            farewell=self._metrics.over,
        )
        note, count = self._note, self._metrics.alert_order
        self._alerts = AlertDesk(config.alerts.obey, self._hub, self.order, note, count, clock)
        self._alerts.budgets = config.policy.budgets
        self._reloader = Reloader(Path(path), config, reload, self._obey, clock) if path and reload else None
        self._reports = Reports(self._metrics, self._hub.get)
        self._token_path = None if config.auth.admin_token else admin_token_path(config)
        self._admin_token = config.auth.admin_token or admin_token.fresh()
        self._health = Health()
        self._serving: Serving | None = None
        self._intakes: dict[str, Intake] = {}

    async def run(self) -> None:
        """Serves until SIGTERM, SIGINT (in the main thread) or `stop`.

        Raises:
            StartError: a port is taken, a certificate cannot be read, the token file cannot be written.
        """
        await self._money.open()
        serving = self._serving = Serving(self._config, self._doors(), self._hang_up)
        await serving.start()
        tasks = [asyncio.create_task(self._watch_deadlines())]
        if self._reloader is not None:
            tasks.append(asyncio.create_task(self._reloader.run()))
        try:
            self._passing.start()
            if self._token_path is not None:
                leave_token(self._token_path, self._admin_token)
            self._prices.rates(*SOME_PRICE)
            freeze_startup()
            self._health.ready = True
            log.say(logging.INFO, "ready", **serving.addresses())
            await serving.until_told_to_stop()
        finally:
            self._health.ready = False
            log.say(logging.INFO, "stopping")
            for task in tasks:
                task.cancel()
            self._hub.close("the processor stops", RETRY_AFTER)
            await serving.stop()
            await self._money.close()
            await self._passing.close()
            if self._token_path:
                admin_token.withdraw(self._token_path, self._admin_token)

    def stop(self) -> None:
        """Has `run` return. On the loop's own thread."""
        if self._serving is not None:
            self._serving.ask_to_stop()

    async def ingest(self, part: Decoded) -> None:
        """Judges one slice of a batch; between slices the loop is free for others."""
        spans = part.spans
        self._metrics.meter.tick()
        now, ingest, settle = self._clock.monotonic(), self._engine.ingest, self._money.settle
        look = self._money.journal.look
        for span in spans:
            try:
                look(span)
                verdicts = ingest(span, now)
                if verdicts:
                    self._publish(verdicts)
                settle()
            except Exception as error:
                self._faults.add("engine", error)
                continue
            if verdicts:
                await asyncio.sleep(0)  # a stop is on its way before the next span is looked at
                now = self._clock.monotonic()
        self._money.keep()
        if spans:
            late = max(0, self._clock.wall_ns() - spans[-1].end_ns) / 1e9
            self._metrics.span_lag.observe(seconds=late, trace_id=spans[-1].trace_id)

    def order(self, order: Order) -> tuple[Verdict, ...]:
        """Carries an operator's order out."""
        verdicts = self._engine.command(order, self._clock.monotonic())
        self._publish(verdicts)
        return verdicts

    def _open_calls(self, events: Sequence[CallStarted | Heartbeat]) -> None:
        now = self._clock.monotonic()
        for event in events:
            self._publish(self._engine.observe(event, now))
        self._money.settle()

    def _ended(self, call: Call, event: CallEnded) -> None:
        self._metrics.meter.add(call, event)
        self._money.ended(call, event)

    def _publish(self, verdicts: tuple[Verdict, ...]) -> None:
        if not verdicts:
            return
        directives = [verdict.directive for verdict in verdicts if verdict.directive]
        removals = [verdict.removal for verdict in verdicts if verdict.removal]
        if directives or removals:
            self._hub.publish(directives, removals)
        # What is said of it waits until the watchers, woken by now, have been written to.
        asyncio.get_running_loop().call_soon(self._report, verdicts, self._clock.wall_ns())

    def _report(self, verdicts: tuple[Verdict, ...], wall_ns: int) -> None:
        ids: list[str] = []
        with self._guarded("journal"):
            ids += [self._money.journal.verdict(each, wall_ns / 1e9) for each in verdicts]
        with self._guarded("reports"):
            for verdict in verdicts:
                self._reports.verdict(verdict, wall_ns)
        with self._guarded("forwarding"):
            self._passing.verdicts(verdicts, wall_ns, ids)

    def _effects(self, instance: Instance, effects: list[Effect]) -> None:
        self._reports.effects(instance, effects)
        self._money.journal.effects(instance, effects, self._clock.wall_ns() / 1e9)

    async def _watch_deadlines(self) -> None:
        while True:
            now = self._clock.monotonic()
            with self._guarded("deadlines"):
                self._publish(self._engine.advance(now))
                self._hub.advance()
                self._alerts.advance()
            with self._guarded("money"):
                self._money.advance()
            rooms = (self._engine, self._hub, self._money, self._alerts)
            due = [at for at in (room.next_deadline() for room in rooms) if at is not None]
            wait = min([LONGEST_WAIT, *(at - self._clock.monotonic() for at in due)])
            await asyncio.sleep(max(0.01, wait))

    @contextlib.contextmanager
    def _guarded(self, where: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self._faults.add(where, error)

    def _make_money(self) -> Money:
        try:
            return Money(
                self._config,
                store_url(self._config),
                self._clock,
                self._hub.publish,
                lambda run: self._engine.run(run),
                self._hub.get,
                self._faults.add,
                self._passing.budget,
            )
        except StoreError as error:
            raise StartError(f"store: {error}") from None

    def _dialects(self, config: Config) -> Sequence[Dialect]:
        """Digests are keyed as they were when the service started: others would not compare."""
        return dialects_for(config.policy, self._config.fingerprint_key.encode())

    def _obey(self, config: Config) -> None:
        """Another policy holds from now on."""
        self._engine.renew(config.policy, self._dialects(config))
        self._money.renew(config.policy)
        self._alerts.budgets = config.policy.budgets

    def _hang_up(self) -> None:
        if self._reloader is not None:
            self._reloader.ask()

    def _doors(self) -> Doors:
        tokens = Tokens(self._config.auth.client_tokens, [self._admin_token])
        fault = self._faults.add
        # Each transport may hold half of the bytes that may wait.
        intake = self._config.intake
        most = intake.max_waiting_bytes // 2
        onward = self._passing.onward
        self._intakes = {name: Intake(self.ingest, tokens, fault, most, onward) for name in ("grpc", "http")}
        told = self._effects, self._open_calls, fault, self._money.lease, self._reports.gates.heard
        control = ControlService(self._hub, tokens, *told)
        admin = Admin(self._hub, tokens, self.order, self._runs, self._knows, self._audit, self._clock)
        money = MoneyDesk(tokens, self._money.views, self._money.books.spend, self._clock)
        records = RecordsDesk(tokens, self._money.books.read, self._clock)
        alerts = AlertRoute(tokens.also(self._config.alerts.alertmanager_token), self._alerts.tell, log.say)
        receiver = HttpReceiver(self._intakes["http"], intake.max_request_bytes)
        served = (self._health, receiver, admin, money, records, alerts)
        rooms = (self._engine, self._hub, self._faults, self._intakes, self._money, self._reloader)
        self._metrics.expose(Figures(*rooms, self._passing, most, self._clock).rows, self._money.board)
        return Doors(
            grpc=(GrpcReceiver(self._intakes["grpc"]).handler(), control.handler()),
            http=Application([route for room in served for route in room.routes()], fault),
            metrics=partial(self._metrics.rows, shown=True),
            on_fault=fault,
        )

    def _audit(self, audit: Audit) -> None:
        self._alerts.heard(audit.order)
        self._note(audit)

    def _note(self, audit: Audit) -> None:
        log.say(logging.WARNING, "order", **audit.fields())
        event_id = ""
        with self._guarded("journal"):
            event_id = self._money.journal.order(audit.order, audit.who, audit.done, audit.at_ns / 1e9)
        with self._guarded("forwarding"):
            self._passing.order(audit.order, audit.who, audit.done, audit.at_ns, event_id)

    def _runs(self, most: int) -> Sequence[Mapping[str, object]]:
        return show_runs(self._engine.runs(), most)

    def _knows(self, run: BreakerKey) -> bool:
        return self._engine.run(run.id) is not None
