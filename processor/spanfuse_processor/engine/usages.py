"""Comparing and clamping what calls used.

Rule 1: what is compared is what a node of the tree keeps; reasoning tokens, a part of the output, are not.
"""

from __future__ import annotations

from spanfuse_processor.engine.nodes import MOST
from spanfuse_processor.engine.nouns import Usage


def fitting(usage: Usage) -> Usage:
    """Counts that a node can keep: not negative, and below 2**32."""
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.cache_write_tokens)
    if 0 <= min(counts) and max(counts) <= MOST:
        return usage
    return Usage(*(min(max(count, 0), MOST) for count in counts))


def larger_of(one: Usage, other: Usage) -> Usage:
    """Each count of the two that is the larger."""
    return Usage(
        max(one.input_tokens, other.input_tokens),
        max(one.output_tokens, other.output_tokens),
        max(one.cached_tokens, other.cached_tokens),
        max(one.cache_write_tokens, other.cache_write_tokens),
        max(one.reasoning_tokens, other.reasoning_tokens),
    )


def same(one: Usage, other: Usage) -> bool:
    """Whether they are equal in what a node keeps."""
    return (
        one.input_tokens == other.input_tokens
        and one.output_tokens == other.output_tokens
        and one.cached_tokens == other.cached_tokens
        and one.cache_write_tokens == other.cache_write_tokens
    )
