"""The stages that a call is in, as they travel on its span: one text, outermost first.

    1/<id>:<budget in micro-dollars>:<seconds>:<name>/...

Rule 1: what was not said is an empty field. Rule 2: the 1 changes when a field changes its meaning. Rule 3:
a text that cannot be read says nothing, and never raises. All calls of a stage carry the same text, so it is
read once. It does not know what becomes of a stage that spends too much.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from spanfuse_processor.engine.nouns import MicroUsd

MAX_STAGES: Final = 8
"""Stages inside one another that travel; the innermost are left out."""
MAX_NAME: Final = 64
"""Characters of a name that travel."""

_VERSION: Final = "1"
_FIELDS: Final = 4


class Stage(NamedTuple):
    """One stretch of a run's work. `id` is its own; `budget` and `timeout` (seconds) None: unlimited."""

    id: str
    name: str
    budget: MicroUsd | None = None
    timeout: float | None = None


def pack(stages: Sequence[Stage]) -> str:
    """The text of stages; empty when there are none.

    >>> pack([Stage("7f", "index", 1_000_000, 600.0), Stage("a0", "read/parse")])
    '1/7f:1000000:600.0:index/a0:::read_parse'
    """
    return "/".join([_VERSION, *map(_packed, stages[:MAX_STAGES])]) if stages else ""


@lru_cache(maxsize=4_096)
def unpack(text: str) -> tuple[Stage, ...]:
    """The stages that a text says, outermost first.

    >>> [stage.name for stage in unpack("1/7f:1000000:600.0:index/a0:::read_parse")]
    ['index', 'read_parse']
    >>> unpack("2/something else"), unpack("1/7f:much:600:index")
    ((), ())
    """
    version, _, rest = text.partition("/")
    if version != _VERSION or not rest:
        return ()
    try:
        return tuple(_unpacked(part) for part in rest.split("/")[:MAX_STAGES])
    except ValueError:
        return ()


def _packed(stage: Stage) -> str:
    budget, timeout = ("" if limit is None else str(limit) for limit in (stage.budget, stage.timeout))
    return f"{stage.id}:{budget}:{timeout}:{stage.name[:MAX_NAME].replace('/', '_')}"


def _unpacked(part: str) -> Stage:
    fields = part.split(":", _FIELDS - 1)
    if len(fields) != _FIELDS or not fields[0]:
        raise ValueError(part)
    own, budget, timeout, name = fields
    stage = Stage(own, name, int(budget) if budget else None, float(timeout) if timeout else None)
    # Not the negation of this: a number that is none compares with nothing.
    if (stage.budget is None or stage.budget >= 0) and (stage.timeout is None or stage.timeout >= 0):
        return stage
    raise ValueError(part)
