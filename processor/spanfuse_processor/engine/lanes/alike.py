"""How a call resembles the one before it, and how many in a row do: what was asked, what was said, the end.

Rule 1: only the latest call is known, in hashes; another tool begins anew. Rule 2: what the latest call was
and the counts are packed together, at the front of whatever else is known of an agent's calls. It knows no
older call, nor what the counts are good for.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.fingerprints.sketch import resemblance
from spanfuse_processor.engine.nouns import Fingerprints, Kind

LIKENESS: Final = 0.8
"""Of the words of two questions, how many come back when they are nearly the same."""

MUCH: Final = 0.4
"""Of their words, how many come back when two questions may be the same in other words."""

MANY: Final = 5
"""Questions, much the same in other words, from which on somebody looks."""

MODEL: Final = Kind.MODEL  # a member looked up in its enum costs four times as much

_LATEST: Final = Struct("<3qQ4I")  # its tool, what it asked, its end, in hashes; its sketch; and the counts
_pack, _unpack = _LATEST.pack, _LATEST.unpack_from
_COUNTS: Final = Struct("<4I")
_read_counts, _AT = _COUNTS.unpack_from, _LATEST.size - _COUNTS.size

SIZE: Final = _LATEST.size
NOTHING: Final = bytes(SIZE)
"""Before the first call."""


def follow(latest: bytes | bytearray, event: CallEnded, prints: Fingerprints, end: str) -> bytes:
    """What there is to know when one more call has come, and how it ended."""
    arguments, said = prints.arguments, event.kind is MODEL
    tool, asked, ended = hash(event.name), hash(arguments), hash(end)
    sketch = prints.result_sketch if said else prints.sketch
    old_tool, old_asked, old_end, old_sketch, asked_again, kin, akin, ends = _unpack(latest)
    if tool != old_tool:
        return _pack(tool, asked, ended, sketch, 1, 1, 1, 1)
    again = asked == old_asked and arguments != ""
    likeness = 1.0 if again and not said else resemblance(sketch, old_sketch)
    asked_again = asked_again + 1 if again else 1
    kin = kin + 1 if likeness >= LIKENESS else 1
    akin = (akin if likeness >= MUCH else akin // 2) + 1
    ends = ends + 1 if ended == old_end else 1
    return _pack(tool, asked, ended, sketch, asked_again, kin, akin, ends)


class Alike:
    """Anything that keeps the latest call, packed in front of what else it knows."""

    __slots__ = ()

    _packed: bytes | bytearray

    def alike(self) -> tuple[int, int, int, int]:
        """`asked_again`, `kin`, `akin` and `ends`, at once."""
        asked_again, kin, akin, ends = _read_counts(self._packed, _AT)
        return asked_again, kin, akin, ends

    @property
    def asked_again(self) -> int:
        """How many calls in a row asked one tool the very same, whatever came of it."""
        return self.alike()[0]

    @property
    def kin(self) -> int:
        """How many in a row asked it nearly the same; of a model, said nearly the same."""
        return self.alike()[1]

    @property
    def akin(self) -> int:
        """How many asked (or said) it in words many of which came back; an odd one in between halves it."""
        return self.alike()[2]

    @property
    def ends(self) -> int:
        """How many in a row were of one tool and ended alike, whatever they were asked."""
        return self.alike()[3]
