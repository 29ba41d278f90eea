"""What calls are compared by: keys for three ways to be equal.

Rule 1: noise (ids, times, counters) is forgiven on one side of a call, never on both. Rule 2: where a result
says little, or nobody knows it, none is forgiven. Rule 3: a call without noise has one key for all three
ways, a plain number: most calls are so. It does not know what was called before.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Fingerprints

TELLING: Final = 4
"""Characters from which a result says something."""

_HASH: Final = (1 << 64) - 1


class Keys(NamedTuple):
    """A noisy call's keys for the three ways to be equal; `rough` is equal whenever any of them is."""

    rough: int
    plain: int
    quiet_arguments: int
    quiet_result: int


def keys_of(event: CallEnded, prints: Fingerprints) -> int | Keys:
    """The keys of a call. An error has lost its noise, and there its arguments may too; where nobody knows
    what came of it they may not."""
    name, arguments, masked, error = event.name, prints.arguments, prints.arguments_masked, prints.error
    result = prints.result
    if not (error or result) or prints.result_empty or 0 < prints.result_size < TELLING:
        masked = arguments  # "ok" and nothing are true of many things: no noise is forgiven
    rough = hash((name, masked, error or prints.result_masked)) & _HASH
    if error or (arguments == masked and result == prints.result_masked):
        return rough
    return Keys(
        rough,
        hash((name, arguments, result)) & _HASH,
        hash((name, masked, result)) & _HASH,
        hash((name, arguments, prints.result_masked)) & _HASH,
    )
