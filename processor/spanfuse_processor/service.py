"""The composition root of the service: configuration to rooms, spans to verdicts, verdicts to applications.

Rule 1: one event loop owns the one engine; whatever touches it runs here. Rule 2: rooms do not know each
other, this file introduces them. Rule 3: an internal fault costs one span its judgement, is counted, and goes
no further. Sockets, TLS and signals are `serving.py`'s.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spanfuse_processor import admin_token
from spanfuse_processor.asgi import Application
from spanfuse_processor.auth import Tokens
from spanfuse_processor.clock import Clock
from spanfuse_processor.config import Config
from spanfuse_processor.config_loading import admin_token_path
from spanfuse_processor.control.admin import Admin, Audit
from spanfuse_processor.control.hub import Hub
from spanfuse_processor.control.payloads import show_run
from spanfuse_processor.control.stream import ControlService
from spanfuse_processor.engine import Engine, GenaiPrices, Order, dialects_for
from spanfuse_processor.engine.events import CallStarted, Heartbeat
from spanfuse_processor.engine.nouns import BreakerKey
from spanfuse_processor.engine.verdicts import Verdict
from spanfuse_processor.receiver.decoded import Decoded
from spanfuse_processor.receiver.intake import Intake
from spanfuse_processor.receiver.otlp_grpc import GrpcReceiver
from spanfuse_processor.receiver.otlp_http import HttpReceiver
from spanfuse_processor.serving import Doors, Serving, StartError
from spanfuse_processor.telemetry import log
from spanfuse_processor.telemetry.metrics import Metrics
from spanfuse_processor.telemetry.reports import Reports
from spanfuse_processor.tuning import freeze_startup
from spanfuse_processor.web import Request, Response, Route
from spanfuse_processor.wire.log import DirectiveLog

__all__ = ["Service", "StartError"]

LONGEST_WAIT = 1.0  # seconds between two looks at the deadlines
RETRY_AFTER = 1.0  # seconds after which a sender that came in vain may come again
SOME_PRICE = ("openai", "gpt-4o", 20_000)
"""Asked before the service is ready: the data takes a sixth of a second to load, and verdicts wait for it."""


class Service:
    """One processor. `run` serves until the process is told to stop."""

    def __init__(self, config: Config, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._faults = log.Faults(clock.monotonic)
        self._metrics = Metrics()
        self._prices = GenaiPrices()
        dialects = dialects_for(config.policy, config.fingerprint_key.encode())
        self._engine = Engine(config.policy, self._prices, dialects, observer=self._metrics.meter.add)
        self._hub = self._make_hub()
        self._reports = Reports(self._metrics, self._hub.get)
        self._token_path = None if config.auth.admin_token else admin_token_path(config)
        self._admin_token = config.auth.admin_token or admin_token.fresh()
        self._ready = False
        self._serving: Serving | None = None
        self._intakes: dict[str, Intake] = {}

    async def run(self) -> None:
        """Serves until SIGTERM, SIGINT (in the main thread) or `stop`.

        Raises:
            StartError: a port is taken, a certificate cannot be read, the token file cannot be written.
        """
        serving = self._serving = Serving(self._config, self._doors())
        await serving.start()
        ticking = asyncio.create_task(self._watch_deadlines())
        try:
            self._publish_token()
            self._prices.rates(*SOME_PRICE)
            freeze_startup()
            self._ready = True
            log.say(logging.INFO, "ready", **serving.addresses())
            await serving.until_told_to_stop()
        finally:
            self._ready = False
            log.say(logging.INFO, "stopping")
            ticking.cancel()
            self._hub.close("the processor stops", RETRY_AFTER)
            await serving.stop()
            if self._token_path:
                admin_token.withdraw(self._token_path, self._admin_token)

    def stop(self) -> None:
        """Has `run` return. On the loop's own thread."""
        if self._serving is not None:
            self._serving.ask_to_stop()

    async def ingest(self, part: Decoded) -> None:
        """Judges one slice of a batch; between slices the loop is free for others."""
        spans = part.spans
        now, ingest = self._clock.monotonic(), self._engine.ingest
        for span in spans:
            try:
                verdicts = ingest(span, now)
                if verdicts:
                    self._publish(verdicts)
            except Exception as error:
                self._faults.add("engine", error)
                continue
            if verdicts:
                await asyncio.sleep(0)  # a stop is on its way before the next span is looked at
                now = self._clock.monotonic()
        if spans:
            self._metrics.span_lag.observe(max(0, self._clock.wall_ns() - spans[-1].end_ns) / 1e9)

    def order(self, order: Order) -> tuple[Verdict, ...]:
        """Carries an operator's order out."""
        verdicts = self._engine.command(order, self._clock.monotonic())
        self._publish(verdicts)
        return verdicts

    def _open_calls(self, events: Sequence[CallStarted | Heartbeat]) -> None:
        now = self._clock.monotonic()
        for event in events:
            self._publish(self._engine.observe(event, now))

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
        with self._guarded("reports"):
            for verdict in verdicts:
                self._reports.verdict(verdict, wall_ns)

    async def _watch_deadlines(self) -> None:
        while True:
            now = self._clock.monotonic()
            with self._guarded("deadlines"):
                self._publish(self._engine.advance(now))
                self._hub.advance()
            due = [at for at in (self._engine.next_deadline(), self._hub.next_deadline()) if at is not None]
            wait = min([LONGEST_WAIT, *(at - self._clock.monotonic() for at in due)])
            await asyncio.sleep(max(0.01, wait))

    @contextlib.contextmanager
    def _guarded(self, where: str) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self._faults.add(where, error)

    def _make_hub(self) -> Hub:
        # Each life of a processor is a history of its own; revisions grow with the wall clock, so that a
        # later history never looks older than what an application holds of an earlier one.
        history = DirectiveLog(
            epoch=secrets.token_hex(8),
            start=self._clock.wall_ns() // 1_000_000,
            retained=self._config.control.retained,
        )
        return Hub(history, self._clock, self._config.control.bookmark_seconds)

    def _publish_token(self) -> None:
        if self._token_path is None:
            return
        try:
            admin_token.publish(self._token_path, self._admin_token)
        except OSError as error:
            raise StartError(
                f"the operator's token cannot be left at {self._token_path}: {error.strerror or error}; set "
                "SPANFUSE_ADMIN_TOKEN, or SPANFUSE_ADMIN_TOKEN_FILE to a path that can be written"
            ) from None

    def _doors(self) -> Doors:
        tokens = Tokens(self._config.auth.client_tokens, [self._admin_token])
        fault = self._faults.add
        # Each transport may hold half of the bytes that may wait.
        most = self._config.intake.max_waiting_bytes // 2
        self._intakes = {name: Intake(self.ingest, tokens, fault, most) for name in ("grpc", "http")}
        control = ControlService(self._hub, tokens, self._reports.effects, self._open_calls, fault)
        admin = Admin(self._hub, tokens, self.order, self._runs, self._knows, self._audit, self._clock)
        receiver = HttpReceiver(self._intakes["http"], self._config.intake.max_request_bytes)
        routes = [
            Route("GET", "/healthz", self._healthz),
            Route("GET", "/readyz", self._readyz),
            *receiver.routes(),
            *admin.routes(),
        ]
        self._metrics.expose(self._gauges, self._received, self._dropped, self._odd)
        return Doors(
            grpc=(GrpcReceiver(self._intakes["grpc"]).handler(), control.handler()),
            http=Application(routes, fault),
            metrics=self._metrics.registry,
        )

    async def _healthz(self, _: Request) -> Response:
        return Response(200, b'{"status":"alive"}')

    async def _readyz(self, _: Request) -> Response:
        if self._ready:
            return Response(200, b'{"status":"ready"}')
        return Response(503, b'{"status":"not ready"}')

    def _audit(self, audit: Audit) -> None:
        log.say(
            logging.WARNING,
            "order",
            who=audit.who,
            order=audit.order.kind.value,
            key=str(audit.order.key),
            reason=audit.order.reason,
            done=audit.done,
        )

    def _runs(self, most: int) -> list[Mapping[str, Any]]:
        """The runs in memory, stopped ones first, then by cost."""
        views = sorted(
            self._engine.runs(), key=lambda view: (view.verdict != "stop", -view.cost, view.number)
        )
        return [show_run(view) for view in itertools.islice(views, most)]

    def _knows(self, run: BreakerKey) -> bool:
        return self._engine.run(run.id) is not None

    def _gauges(self) -> Mapping[str, float]:
        return {
            "spanfuse_active_traces": self._engine.stats().runs,
            "spanfuse_queue_depth": sum(intake.waiting for intake in self._intakes.values()),
            "spanfuse_queue_capacity": self._config.intake.max_waiting_bytes,
            "spanfuse_watchers": self._hub.watchers,
            "spanfuse_directives_standing": len(self._hub),
            "spanfuse_internal_faults": sum(self._faults.counts.values()),
        }

    def _received(self) -> Mapping[str, int]:
        return {name: intake.counters.spans for name, intake in self._intakes.items()}

    def _dropped(self) -> Mapping[str, int]:
        counters = [intake.counters for intake in self._intakes.values()]
        stats = self._engine.stats()
        return {
            "decode_error": sum(each.rejected for each in counters),
            "queue_full": sum(each.overloaded for each in counters),
            "late": stats.late,
            "unread": stats.unread,
            "fault": self._faults.counts.get("engine", 0),
        }

    def _odd(self) -> Mapping[str, int]:
        stats = self._engine.stats()
        return {
            "duplicate": stats.duplicates,
            "conflict": stats.conflicts,
            "orphan": stats.orphans,
            "cycle": stats.cycles,
            "twin": stats.twins,
            "usage_missing": stats.usage_missing,
        }
