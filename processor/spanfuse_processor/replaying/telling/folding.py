"""What repeats, folded: a sequence as blocks that come some times in a row.

Rule 1: from left to right, the block that covers most is taken, of two that cover as much the shorter. Rule
2: nothing is left out: the blocks, unfolded, are the sequence. It does not know what repeats.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Final, NamedTuple

LONGEST: Final = 12


class Block(NamedTuple):
    """`period` elements from `start` on, `times` times in a row."""

    start: int
    period: int
    times: int


def fold(keys: Sequence[Hashable], longest: int = LONGEST) -> Iterator[Block]:
    """The blocks of a sequence.

    >>> [block.times * "abababcdd"[block.start : block.start + block.period] for block in fold("abababcdd")]
    ['ababab', 'c', 'dd']
    """
    at = 0
    while at < len(keys):
        best = Block(at, 1, 1)
        for period in range(1, min(longest, (len(keys) - at) // 2) + 1):
            times = _times(keys, at, period)
            if times > 1 and times * period > best.times * best.period:
                best = Block(at, period, times)
        yield best
        at += best.period * best.times


def _times(keys: Sequence[Hashable], at: int, period: int) -> int:
    """How many times in a row the `period` elements at `at` come."""
    end = at + period
    while end < len(keys) and keys[end] == keys[end - period]:
        end += 1
    return (end - at) // period
