"""The composition root of the library: makes the parts and introduces them to each other.

Rule 1: parts are made here and nowhere else; none of them makes another. Rule 2: the child of a fork gets
parts of its own, with what was on the board, and starts them with its first call. It does not know when.
"""

from __future__ import annotations

import importlib
import threading
import uuid
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from spanfuse import prices, runtime
from spanfuse.board import Board
from spanfuse.breaker_spans import show
from spanfuse.degrading import Degrader
from spanfuse.errors import SettingsError
from spanfuse.expecting import Expecting
from spanfuse.gate import Gate
from spanfuse.guard import fault
from spanfuse.host import Host
from spanfuse.hosts import HOSTS
from spanfuse.inflight import Inflight
from spanfuse.payers import Payers
from spanfuse.payments import Payments, Sources
from spanfuse.runtime import Runtime
from spanfuse.settings import Settings, policy_of
from spanfuse.telemetry import Tracing
from spanfuse.terms import Terms
from spanfuse.throttle import Throttle
from spanfuse_processor.engine.fingerprint import Fingerprinter
from spanfuse_processor.engine.policy import Policy


def named(target: str) -> Any:
    """What a registry's `module:name` stands for."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


def assemble(settings: Settings, board: Board | None = None, host: Host | None = None) -> Runtime:
    """The parts that `settings` ask for, not started yet.

    Raises:
        SettingsError: the host cannot work with these settings.
    """
    settings = _settled(settings)
    board = board or Board()
    host = host or _host(settings, board)
    terms = Terms(settings.policy or Policy(), prices.shared())
    tracing = Tracing(settings.service, settings.instance, _watch_provider, _stand_in)
    gate = Gate(board, Payers(lambda: tracing.resource))
    expecting, tools = Expecting(), terms.tools
    sources = Sources(expecting, terms, tools)
    live = Runtime(
        settings=settings,
        board=board,
        gate=gate,
        inflight=Inflight(board),
        throttle=Throttle(board, gate),
        degrader=Degrader(board, gate, terms),
        payments=Payments(board, gate, host.purse, sources, strict=settings.strict),
        expecting=expecting,
        host=host,
        prices=terms,
        prints=Fingerprinter(settings.fingerprint_key.encode()),
        tracing=tracing,
        tools=tools,
    )

    def obey(policy: Policy) -> None:
        """Another policy holds: for all parts, and for the child of a fork."""
        terms.obey(policy)
        live.settings = replace(live.settings, policy=policy)

    host.followers.append(obey)
    host.witnesses.append(partial(show, tracing))
    return live


def _host(settings: Settings, board: Board) -> Host:
    name = "remote" if settings.endpoint else "embedded"
    try:
        made: Host = named(HOSTS[name])(settings, board)
    except ImportError as missing:
        raise SettingsError(
            f"endpoint needs the package {missing.name!r}: pip install 'spanfuse[remote]'"
        ) from None
    return made


def _settled(settings: Settings) -> Settings:
    """The policy is read once for all parts; with a processor, the processor's holds."""
    if settings.endpoint and not settings.config:
        return settings
    return replace(settings, policy=policy_of(settings))


def _watch_provider(provider: Any) -> None:
    """The application's tracer provider has been seen."""
    if hasattr(provider, "add_span_processor"):
        from spanfuse.foreign import watch  # it needs the SDK, which this application has

        watch(provider)


def _stand_in(resource: Mapping[str, object]) -> None:
    """The application has no tracer provider: one is made behind, for the SDK takes a while to import."""

    def make() -> None:
        try:
            from spanfuse.standin import stand_in

            stand_in(resource)
        except Exception as error:
            ends = runtime.live() is None or not threading.main_thread().is_alive()
            if not ends:  # else imports fail, and threads do not start, as they may
                fault("stand-in", error)

    threading.Thread(target=make, name="spanfuse-provider", daemon=True).start()


def after_fork() -> None:
    """In the child of a fork: locks, threads and connections of the parent are of no use here."""
    before = runtime.live()
    if before is None:
        return
    prices.forget_shared()
    settings = replace(before.settings, instance=str(uuid.uuid4()))
    anew = assemble(settings, before.board.copy())
    anew.origin = before.origin
    runtime.install(anew)
