"""One key, two sides: what is stamped at a call is what a processor makes of the same content."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import spanfuse
from spanfuse import assembly, runtime
from spanfuse.board import Board
from spanfuse.settings import Settings
from spanfuse.testing import FakeHost
from spanfuse_processor.engine import Policy, RawSpan, dialects_for, names
from spanfuse_processor.engine.nouns import Fingerprints
from spanfuse_processor.engine.reading.prints import unpack

CONTENT = {
    names.OPERATION: "execute_tool",
    names.TOOL: "lookup",
    names.TOOL_ARGUMENTS: '{"page": 2, "query": "flights to rome"}',
    names.TOOL_RESULT: "page 2: nothing about flights to rome",
}


@spanfuse.tool
def lookup(query: str, page: int) -> str:
    """Looks something up."""
    return f"page {page}: nothing about {query}"


@pytest.fixture
def host() -> Iterator[FakeHost]:
    """The library at work with a key of its own."""
    board = Board()
    fake = FakeHost(board)
    before = runtime.install(assembly.assemble(Settings(fingerprint_key="secret"), board, fake))
    yield fake
    runtime.install(before)


def of_content(key: bytes) -> Fingerprints | None:
    """What a processor with this key makes of the call's content."""
    raw = RawSpan(b"t" * 16, b"s" * 8, b"", "execute_tool lookup", 0, 1, CONTENT)
    read = (dialect.read(raw) for dialect in dialects_for(Policy(), key))
    return next(event.prints for event in read if event is not None)


def test_what_was_stamped_is_what_the_content_gives(host: FakeHost) -> None:
    lookup("flights to rome", 2)

    stamped = host.ended[0].attributes
    prints = unpack(stamped[names.ARGUMENTS], stamped[names.RESULT])
    assert prints == of_content(b"secret")


def test_without_the_key_no_part_of_it_can_be_had(host: FakeHost) -> None:
    lookup("flights to rome", 2)

    stamped = host.ended[0].attributes
    prints, guessed = unpack(stamped[names.ARGUMENTS], stamped[names.RESULT]), of_content(b"")
    assert prints is not None and guessed is not None
    for part in (
        "arguments",
        "arguments_masked",
        "result",
        "result_masked",
        "scope",
        "sketch",
        "result_sketch",
    ):
        assert getattr(prints, part) != getattr(guessed, part)
