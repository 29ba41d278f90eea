"""Rows on their way from the service to the process that makes the page: in slices, each made in a moment.

Rule 1: no step takes longer than STEP and a little; between two steps whoever makes them does other things.
Rule 2: what travels is a length and that many bytes of `marshal`: both ends are one version of one program.
"""

from __future__ import annotations

import marshal
import struct
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Final, cast

from spanfuse_processor.telemetry.tally import Row

STEP: Final = 0.000_1
"""Seconds for which rows are gathered; to pack them takes half as long again."""
MOST: Final = 400
"""Rows of a slice."""
LOOK_EVERY: Final = 16
"""Rows between two looks at the clock."""
HEAD: Final = struct.Struct("!I")
END, FAILED = HEAD.pack(0), HEAD.pack(2**32 - 1)
"""In place of a length: that was all; and: there will be no page."""
ASK: Final = b"?"
"""The other way: rows, please."""


def slices(rows: Iterator[Row], clock: Callable[[], float] = perf_counter) -> Iterator[bytes]:
    """Rows as they travel; each `next` is one step. What `rows` raises comes out."""
    while part := _gathered(rows, clock):
        packed = marshal.dumps(part)
        yield HEAD.pack(len(packed)) + packed


def unpacked(packed: bytes) -> list[Row]:
    """The rows of one slice, without its length."""
    return cast("list[Row]", marshal.loads(packed))


def _gathered(rows: Iterator[Row], clock: Callable[[], float]) -> list[Row]:
    part: list[Row] = []
    until = clock() + STEP
    for row in rows:
        part.append(row)
        if len(part) >= MOST or (not len(part) % LOOK_EVERY and clock() >= until):
            break
    return part
