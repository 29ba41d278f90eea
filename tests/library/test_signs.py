"""Signs of life: which open calls and which heartbeats are told of, and when. Time is an argument."""

from __future__ import annotations

from tests.library.examples import begun

from spanfuse.signs import AGAIN, LIMIT, SETTLED, SPACING, Signs
from spanfuse_processor.engine.events import Heartbeat
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.runs.open_calls import LEASE

MANY = 100


def due(signs: Signs, now: float, limit: int = MANY) -> list[bytes]:
    """The spans of the calls that are to be told."""
    return [call.span_id for call in signs.due_calls(now, limit)]


class TestCalls:
    def test_an_agent_is_told_at_once(self) -> None:
        signs, agent = Signs(), begun(Kind.AGENT, began=5.0)

        assert signs.began(agent)

        assert due(signs, 5.0) == [agent.span_id]

    def test_another_call_is_told_when_it_has_been_open_for_a_while(self) -> None:
        signs, model = Signs(), begun(Kind.MODEL)

        assert not signs.began(model)

        assert due(signs, SETTLED / 2) == []
        assert due(signs, SETTLED) == [model.span_id]

    def test_it_is_told_for_how_long_it_has_been_open(self) -> None:
        signs = Signs()
        signs.began(begun(Kind.TOOL, began=10.0))

        (call,) = signs.due_calls(70.0, MANY)

        assert (call.open_for, call.quiet_for) == (60.0, 60.0)

    def test_what_was_told_is_told_again_as_a_sign_of_life(self) -> None:
        signs, agent = Signs(), begun(Kind.AGENT)
        signs.began(agent)
        due(signs, 0.0)

        assert due(signs, AGAIN - 0.1) == []
        assert due(signs, AGAIN) == [agent.span_id]

    def test_it_is_told_again_before_anybody_takes_it_for_lost(self) -> None:
        assert 3 * AGAIN < LEASE

    def test_a_call_that_nobody_waits_for_is_not_told(self) -> None:
        """A stream may be left unread for as long as its owner likes."""
        signs, stream = Signs(), begun(Kind.MODEL)
        signs.began(stream)
        stream.resting = True
        assert due(signs, 100.0) == []
        assert signs.calls(100.0) == []

        stream.resting = False

        assert due(signs, 101.0) == [stream.span_id]

    def test_a_call_that_ended_is_told_no_more(self) -> None:
        signs, agent = Signs(), begun(Kind.AGENT)
        signs.began(agent)

        signs.ended(agent.span_id)

        assert due(signs, 0.0) == []
        assert signs.calls(0.0) == []

    def test_an_end_without_a_start_is_nothing(self) -> None:
        Signs().ended(b"unknown!")

    def test_no_more_are_told_than_asked_for_and_the_rest_comes_next(self) -> None:
        signs, agents = Signs(), [begun(Kind.AGENT) for _ in range(3)]
        for agent in agents:
            signs.began(agent)

        assert due(signs, 0.0, 2) == [agent.span_id for agent in agents[:2]]
        assert due(signs, 0.0, 2) == [agent.span_id for agent in agents[2:]]

    def test_what_is_remembered_is_bounded(self) -> None:
        signs = Signs()

        for _ in range(LIMIT + 5):
            signs.began(begun())

        assert len(signs) == LIMIT


class TestHeartbeats:
    def test_a_heartbeat_is_told_once_with_its_age(self) -> None:
        signs = Signs()
        signs.beat(Heartbeat("r"), 10.0)

        (beat,) = signs.due_beats(11.5)

        assert (beat.run_id, beat.ago) == ("r", 1.5)
        assert signs.due_beats(99.0) == []

    def test_of_many_the_latest_is_told(self) -> None:
        signs = Signs()
        for now in range(1_000):
            signs.beat(Heartbeat("r", within=float(now)), now / 1_000)

        (beat,) = signs.due_beats(1.0)

        assert beat.within == 999.0

    def test_they_are_told_no_oftener_than_that(self) -> None:
        signs = Signs()
        signs.beat(Heartbeat("r"), 10.0)
        signs.due_beats(10.0)
        signs.beat(Heartbeat("r"), 10.1)

        assert signs.due_beats(10.0 + SPACING - 0.1) == []
        assert [beat.run_id for beat in signs.due_beats(10.0 + SPACING)] == ["r"]

    def test_runs_that_are_remembered_are_bounded(self) -> None:
        signs = Signs()
        for number in range(LIMIT + 5):
            signs.beat(Heartbeat(str(number)), 0.0)

        assert len(signs.due_beats(1.0)) == LIMIT


def test_calls_come_before_heartbeats_that_come_from_inside_of_them() -> None:
    signs = Signs()
    signs.beat(Heartbeat("r"), 1.0)
    signs.began(begun(Kind.AGENT))

    assert [type(sign).__name__ for sign in signs.due(2.0, MANY)] == ["CallOpen", "Heartbeat"]
