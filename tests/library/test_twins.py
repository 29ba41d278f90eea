"""Calls that are told twice: ours counts."""

from __future__ import annotations

from spanfuse.twins import GUESSES, REMEMBERED, Twins
from spanfuse_processor.engine.events import RawSpan
from spanfuse_processor.engine.nouns import Kind

RAW = RawSpan(b"t" * 16, b"ours", b"", "chat", 0, 1, {})


def test_a_span_directly_above_ours_of_its_kind_tells_the_same_call() -> None:
    twins = Twins()
    twins.note(b"ours", b"above", Kind.MODEL)

    assert twins.tells_ours(b"above", b"root", Kind.MODEL)
    assert not twins.tells_ours(b"above", b"root", Kind.AGENT)


def test_a_span_directly_below_ours_of_its_kind_tells_the_same_call() -> None:
    twins = Twins()
    twins.note(b"ours", b"", Kind.MODEL)

    assert twins.tells_ours(b"below", b"ours", Kind.MODEL)
    assert not twins.tells_ours(b"below", b"ours", Kind.TOOL)


def test_two_instrumentations_around_ours_are_both_passed_over() -> None:
    """A framework's span, an SDK instrumentation's span inside it, and ours inside that."""
    twins = Twins()
    twins.note(b"ours", b"sdk", Kind.MODEL)

    assert twins.tells_ours(b"sdk", b"framework", Kind.MODEL)
    assert twins.tells_ours(b"framework", b"root", Kind.MODEL)


def test_calls_beside_ours_are_their_own() -> None:
    twins = Twins()
    twins.note(b"ours", b"agent", Kind.MODEL)

    assert not twins.tells_ours(b"sibling", b"agent", Kind.MODEL)


def test_it_is_bounded() -> None:
    twins = Twins()
    for number in range(REMEMBERED + 10):
        twins.note(b"o%d" % number, b"a%d" % number, Kind.MODEL)

    assert not twins.tells_ours(b"a0", b"", Kind.MODEL)
    assert twins.tells_ours(b"a%d" % (REMEMBERED + 9), b"", Kind.MODEL)


class TestGuesses:
    def test_who_says_it_after_a_guess_corrects_it_once(self) -> None:
        twins = Twins()

        assert twins.guessed(b"ours") is None
        assert twins.heard(b"ours", RAW)
        assert not twins.heard(b"ours", RAW)

    def test_who_has_said_it_before_corrects_it_at_once(self) -> None:
        twins = Twins()
        twins.heard(b"ours", RAW)

        assert twins.guessed(b"ours") is RAW
        assert twins.guessed(b"ours") is None

    def test_a_span_two_above_tells_of_the_same_call(self) -> None:
        twins = Twins()
        twins.note(b"ours", b"sdk", Kind.MODEL)

        assert twins.tells_ours(b"sdk", b"framework", Kind.MODEL) == b"ours"
        assert twins.tells_ours(b"framework", b"root", Kind.MODEL) == b"ours"
        assert twins.tells_ours(b"below", b"ours", Kind.MODEL) == b"ours"

    def test_only_so_many_are_remembered(self) -> None:
        twins = Twins()
        for number in range(GUESSES + 1):
            twins.guessed(b"g%d" % number)
            twins.heard(b"h%d" % number, RAW)

        assert not twins.heard(b"g0", RAW)
        assert twins.heard(b"g%d" % GUESSES, RAW)
        assert twins.guessed(b"h%d" % GUESSES) is RAW
        assert twins.guessed(b"h0") is None
