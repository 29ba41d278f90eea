"""Reports over a real socket: each effect arrives, once it can, and the answer may bring orders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from tests.library.examples import begun, key, stop
from tests.library.stub_processor import StubProcessor, stub_processor
from tests.waiting import until

from spanfuse.board import Board
from spanfuse.link.channel import Link, parse_target
from spanfuse.link.reporting import AGAIN, SPACING, Reporter
from spanfuse.link.watch import Watcher
from spanfuse.signs import Signs
from spanfuse_processor.engine.events import Heartbeat
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.verdicts import Action
from spanfuse_processor.wire.answers import Blind
from spanfuse_processor.wire.directives import Refused
from spanfuse_processor.wire.effects import EffectState
from spanfuse_processor.wire.messages import Instance


@dataclass
class Parts:
    """A reporter and what it reports from; time stands still unless a test moves it."""

    processor: StubProcessor
    now: float = 0.0
    board: Board = field(default_factory=Board)
    signs: Signs = field(default_factory=Signs)

    def __post_init__(self) -> None:
        self.link = Link(parse_target(self.processor.endpoint))
        self.watcher = Watcher(self.link, self.board, self._who, lambda: None)
        self.reporter = Reporter(
            self.link, self.board, self.signs, self.watcher, self._who, clock=lambda: self.now
        )

    def _who(self) -> Instance:
        return Instance("app", "i-1", "1.0")


@pytest.fixture
def parts() -> Iterator[Parts]:
    with stub_processor() as processor:
        made = Parts(processor)
        yield made
        made.link.close()


def test_nothing_to_report_is_not_reported(parts: Parts) -> None:
    assert parts.reporter.tick() is None

    assert parts.processor.instances == []


def test_an_order_that_holds_is_reported_as_received(parts: Parts) -> None:
    parts.board.post(stop("r", revision=7))

    parts.reporter.tick()

    (effect,) = parts.processor.effects
    assert (effect.directive_id, effect.revision, effect.state) == ("run/r/stop", 7, EffectState.RECEIVED)
    assert parts.processor.instances == [Instance("app", "i-1", "1.0")]


def test_what_was_spared_by_an_order_is_reported(parts: Parts) -> None:
    directive = stop("r")
    parts.board.post(directive)
    parts.board.ledger.spare(directive, throttled=4, waited=1.5, degraded=2, not_degraded=3)

    parts.reporter.tick()

    (effect,) = parts.processor.effects
    assert (effect.calls_throttled, effect.throttled_for) == (4, 1.5)
    assert (effect.calls_degraded, effect.calls_not_degraded) == (2, 3)
    assert effect.state is EffectState.APPLIED


def test_what_an_order_did_is_reported_with_its_timing(parts: Parts) -> None:
    directive = stop("r")
    parts.board.ended(b"offender", parts.board.clock())
    parts.board.post(directive)
    parts.board.ledger.add(directive, refused=2, cancelled=1, closed=1, not_interruptible=3)

    parts.reporter.tick()

    (effect,) = parts.processor.effects
    counts = (effect.calls_refused, effect.tasks_cancelled, effect.streams_closed, effect.not_interruptible)
    assert effect.state is EffectState.APPLIED
    assert counts == (2, 1, 1, 3)
    assert effect.applied_after is not None


def test_an_order_that_cannot_be_carried_out_is_reported_with_the_reason(parts: Parts) -> None:
    parts.board.post(stop("r", action=Action.PAUSE))
    parts.watcher.refused.put(Refused("unreadable", 9, "no time to live"))

    parts.reporter.tick()

    told = {effect.directive_id: effect for effect in parts.processor.effects}
    assert {effect.state for effect in told.values()} == {EffectState.REJECTED}
    assert told["unreadable"].error == "no time to live"
    assert "pause" in told["run/r/stop"].error


def test_what_was_stopped_here_is_not_the_processors_business(parts: Parts) -> None:
    parts.board.post(stop("r", id="local-1/run/r/stop", issuer="local"))

    assert parts.reporter.tick() is None


def test_open_calls_are_told(parts: Parts) -> None:
    agent = begun(Kind.AGENT, began=parts.board.clock() - 5.0)
    parts.signs.began(agent)

    parts.reporter.tick()

    (call,) = parts.processor.open_calls
    assert call.span_id == agent.span_id
    assert 5.0 <= call.open_for < 15.0


def test_runs_that_live_are_told_of(parts: Parts) -> None:
    parts.signs.beat(Heartbeat("r", b"t" * 16, b"s" * 8, within=60.0), parts.board.clock() - 3.0)

    parts.reporter.tick()

    (beat,) = parts.processor.heartbeats
    assert (beat.run_id, beat.within) == ("r", 60.0)
    assert 3.0 <= beat.ago < 13.0


def test_reports_are_spaced(parts: Parts) -> None:
    parts.board.post(stop("a"))
    assert parts.reporter.tick() == pytest.approx(SPACING)
    parts.board.post(stop("b"))

    assert parts.reporter.tick() == pytest.approx(SPACING)
    assert len(parts.processor.effects) == 1

    parts.now += SPACING
    parts.reporter.tick()
    assert len(parts.processor.effects) == 2


def test_what_did_not_arrive_is_kept_and_goes_with_the_next(parts: Parts) -> None:
    directive = stop("r")
    parts.board.post(directive)
    parts.processor.stop()
    assert parts.reporter.tick() == pytest.approx(AGAIN)
    parts.board.ledger.add(directive, refused=1)
    parts.processor.start()
    parts.link.close()  # a new channel does not wait out the old one's pause
    parts.now += AGAIN

    parts.reporter.tick()

    (effect,) = parts.processor.effects
    assert effect.calls_refused == 1


def test_the_last_report_does_not_wait_its_turn(parts: Parts) -> None:
    parts.board.post(stop("a"))
    parts.reporter.tick()
    parts.board.post(stop("b"))

    parts.reporter.finish(1.0)

    assert len(parts.processor.effects) == 2


def test_the_answer_brings_orders(parts: Parts) -> None:
    parts.watcher.start()
    parts.watcher.tick()  # opens the stream that gives the cursor
    until(lambda: parts.watcher.cursor is not None)
    parts.watcher.stop(1.0)
    parts.processor.publish(stop("news"))
    parts.signs.began(begun(Kind.AGENT))

    parts.reporter.tick()

    assert parts.board.standing([key("news")]) is not None


def test_how_the_gate_answered_is_told_once(parts: Parts) -> None:
    parts.board.ledger.answering.took("defer", 0.02)
    parts.board.ledger.answering.blindly("critic", allowed=True)

    parts.reporter.tick()
    parts.now += AGAIN
    assert parts.reporter.tick() is None

    (answers,) = parts.processor.answers
    assert (answers.number, answers.waits["defer"].seconds) == (1, 0.02)
    assert sum(answers.waits["defer"].counts) == 1
    assert answers.blind == {"critic": Blind(allowed=1)}


def test_a_report_of_answers_that_was_not_delivered_is_sent_again_under_its_number(parts: Parts) -> None:
    parts.processor.stop()
    parts.board.ledger.answering.took("allow", 0.5)
    parts.reporter.tick()
    parts.board.ledger.answering.took("deny", 0.5)
    parts.processor.start()
    parts.link.close()  # a new channel does not wait out the old one's pause

    for _ in range(2):
        parts.now += AGAIN
        parts.reporter.tick()
    assert [(each.number, *each.waits) for each in parts.processor.answers] == [(1, "allow"), (2, "deny")]
