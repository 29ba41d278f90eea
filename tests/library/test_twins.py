"""Calls that are told twice: ours counts."""

from __future__ import annotations

from spanfuse.twins import REMEMBERED, Twins
from spanfuse_processor.engine.nouns import Kind


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
