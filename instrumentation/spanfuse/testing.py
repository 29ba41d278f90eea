"""For tests of programs that use spanfuse: a host that judges nothing, and stops at the test's word.

    with spanfuse.testing.spanfuse_session() as session:
        answer = my_agent()                  # watched as ever
        assert session.calls("execute_tool") == ["search"]
        session.trip(run_id)                 # from here on, calls of the run raise BreakerOpen

As a pytest fixture:

    @pytest.fixture
    def spanfuse_session():
        with spanfuse.testing.spanfuse_session() as session:
            yield session

Rule 1: a session replaces what is live and puts it back. Rule 2: FakeHost is a Host like any other; the
conformance tests hold it to the contract.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from spanfuse import assembly, hooks, runtime
from spanfuse.board import Board
from spanfuse.host import Host, HostState, HostStats, OnPolicy, Underway, Witness
from spanfuse.purse import FreePurse, Purse
from spanfuse.runtime import Runtime
from spanfuse.settings import Settings
from spanfuse_processor.engine import names
from spanfuse_processor.engine.events import CallStarted, Heartbeat, RawSpan
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.verdicts import Directive, Evidence

_revisions: Final = itertools.count(1)


def directive(key: BreakerKey, reason: str = "TEST", spans: tuple[bytes, ...] = ()) -> Directive:
    """An order to stop `key`, newer than every one before it."""
    return Directive(
        id=f"{key}/stop",
        revision=next(_revisions),
        key=key,
        reason=reason,
        message="stopped by a test",
        model_message="Stop here and say what you have.",
        evidence=Evidence(span_ids=spans),
        issuer="test",
    )


@dataclass(slots=True)
class FakeHost:
    """A host that keeps what it is given, and judges nothing. `kill` and `release` work."""

    board: Board
    started: list[CallStarted] = field(default_factory=list)
    ended: list[RawSpan] = field(default_factory=list)
    state: HostState = HostState.IDLE
    heartbeats: list[Heartbeat] = field(default_factory=list)
    purse: Purse = field(default_factory=FreePurse)
    followers: list[OnPolicy] = field(default_factory=list)
    witnesses: list[Witness] = field(default_factory=list)

    def start(self) -> None:
        """Begins."""
        self.state = HostState.JUDGING

    def stop(self, timeout: float = 2.0) -> None:
        """Ends."""
        self.state = HostState.IDLE

    def call_started(self, call: Underway) -> None:
        """Keeps the start."""
        self.started.append(call.told(call.began))

    def heartbeat(self, beat: Heartbeat) -> None:
        """Keeps the sign of life."""
        self.heartbeats.append(beat)

    def span_ended(self, span: RawSpan) -> None:
        """Keeps the end."""
        self.ended.append(span)

    def kill(self, key: BreakerKey, reason: str) -> bool:
        """Stops `key`."""
        return self.board.post(directive(key, reason))

    def release(self, key: BreakerKey) -> bool:
        """Takes every stop of `key` back; False when there is none."""
        stops = [one for one in self.board.directives() if one.key == key]
        return any([self.board.withdraw(one.id, next(_revisions)) for one in stops])

    def stats(self) -> HostStats:
        """What it was given."""
        return HostStats(state=self.state, spans=len(self.ended))


@dataclass(frozen=True, slots=True)
class Session:
    """The library at work in a test. `fake` is there unless the session judges by itself."""

    live: Runtime
    fake: FakeHost | None

    @property
    def board(self) -> Board:
        """What must be obeyed."""
        return self.live.board

    @property
    def spans(self) -> list[RawSpan]:
        """The calls that have ended, in order; FakeHost only."""
        return self.fake.ended if self.fake else []

    def calls(self, operation: str) -> list[object]:
        """The names of the models, tools or agents called, by operation, in the order of their ends."""
        wanted = [span.attributes for span in self.spans if span.attributes.get(names.OPERATION) == operation]
        kinds = (names.TOOL, names.REQUEST_MODEL, names.WORKFLOW, names.AGENT)
        return [next((one[kind] for kind in kinds if kind in one), "") for one in wanted]

    def trip(self, run_id: str, reason: str = "TEST") -> Directive:
        """Stops a run, as a processor would."""
        return trip(run_id, reason)


def trip(run_id: str, reason: str = "TEST") -> Directive:
    """Stops a run of this process, whoever judges it. Returns the directive.

    Raises:
        RuntimeError: nothing is instrumented.
    """
    live = runtime.live()
    if live is None:
        raise RuntimeError("spanfuse is not instrumented: use spanfuse_session()")
    order = directive(BreakerKey(Level.RUN, run_id), reason)
    live.board.post(order)
    return order


@contextmanager
def spanfuse_session(
    *, judging: bool = False, policy: Policy | None = None, patch: bool = True
) -> Iterator[Session]:
    """The library at work for the length of a `with`, apart from whatever was live before.

    Args:
        judging: a real engine judges, by `policy`; else FakeHost, and only `trip` stops anything.
        policy: what a judging session obeys.
        patch: whether installed SDKs are patched.
    """
    board = Board()
    fake = None if judging else FakeHost(board)
    settings = Settings(service="test", policy=policy or Policy())
    host: Host | None = fake
    live = assembly.assemble(settings, board, host)
    before = runtime.install(live)
    live.start()
    if patch:
        hooks.patch_sdks()
    try:
        yield Session(live, fake)
    finally:
        runtime.install(before)
        live.host.stop()
        if patch and before is None:
            hooks.unpatch_sdks()
