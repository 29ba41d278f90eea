"""What calls used: made of what was reported, compared, clamped.

Rule 1: what is compared is what a node of the tree keeps; reasoning tokens, a part of the output, are not.
"""

from __future__ import annotations

from typing import Final

from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Details, Usage
from spanfuse_processor.engine.tree.cells import MOST

NOTHING: Final = Usage()


def reported(
    asked: int | None,
    answered: int | None,
    cached: int,
    written: int,
    reasoning: int,
    exclusive: bool = False,
    details: Details | None = None,
) -> Usage | None:
    """The tokens of a call, None when none were reported; parts over the whole are outside of it.

    `exclusive`: the emitter never counts the cached and the written among what was asked.
    """
    if asked is None and answered is None:
        return None
    asked, answered = asked or 0, answered or 0
    if exclusive or cached + written > asked:
        asked += cached + written
    return Usage(asked, max(answered, reasoning), cached, written, reasoning, details)


def charged(event: CallEnded) -> Usage | None:
    """What a call is charged by: its usage; nothing, where it is charged without; None: it is not charged."""
    return NOTHING if event.usage is None and event.presumed is not None else event.usage


def fitting(usage: Usage) -> Usage:
    """Counts that a node can keep: not negative, and below 2**32."""
    asked, answered = usage.input_tokens, usage.output_tokens
    cached, written = usage.cached_tokens, usage.cache_write_tokens
    if 0 <= asked | answered | cached | written < MOST:  # then none of them is larger, and none negative
        return usage
    if 0 <= min(asked, answered, cached, written) and max(asked, answered, cached, written) <= MOST:
        return usage
    asked, answered, cached, written = (
        min(max(count, 0), MOST) for count in (asked, answered, cached, written)
    )
    return Usage(asked, answered, cached, written)


def larger_of(one: Usage, other: Usage) -> Usage:
    """Each count of the two that is the larger; the details are those of `one`, where it has any."""
    return Usage(
        max(one.input_tokens, other.input_tokens),
        max(one.output_tokens, other.output_tokens),
        max(one.cached_tokens, other.cached_tokens),
        max(one.cache_write_tokens, other.cache_write_tokens),
        max(one.reasoning_tokens, other.reasoning_tokens),
        one.details or other.details,
    )


def same(one: Usage, other: Usage) -> bool:
    """Whether they are equal in what a node keeps."""
    return (
        one.input_tokens == other.input_tokens
        and one.output_tokens == other.output_tokens
        and one.cached_tokens == other.cached_tokens
        and one.cache_write_tokens == other.cache_write_tokens
    )
