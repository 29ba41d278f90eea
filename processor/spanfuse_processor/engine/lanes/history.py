"""The latest steps of one agent in order, and for how long they have been repeating, whatever the period.

Rule 1: a call is new when its (call, result) was not seen; for how many calls nothing was new is known for
any order of them. Rule 2: a strict cycle is known for every period up to `WINDOW`, in three ways counted
apart, so that noise is never taken out of both sides of a call at once. Rule 3: a step that is new costs one
look; counting begins when something comes back. Rule 4: steps are kept packed, 42 bytes each, keys apart from
the rest, for they are looked through at every call; once there are `WINDOW`, a step takes the place of the
oldest. It knows neither limits nor findings, nor what a tool does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from struct import Struct
from typing import Final, NamedTuple

from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.lanes.alike import NOTHING, SIZE, Alike, follow
from spanfuse_processor.engine.lanes.keys import Keys
from spanfuse_processor.engine.lanes.past import Past, Step
from spanfuse_processor.engine.lanes.timing import Timed
from spanfuse_processor.engine.marks import Marks
from spanfuse_processor.engine.nouns import Fingerprints

WINDOW: Final = 32
"""Steps that are kept, and so the longest strict cycle that is known."""

SEEN: Final = 1_024
"""Older steps of which it is still known that they were."""

ANY_WAY: Final = slice(0, 3)
"""Equal as they are, or but for noise in the arguments, or but for noise in the result."""

SAME_RESULT: Final = slice(0, 2)
SAME_ALL: Final = slice(0, 1)
"""The ways that forgive nothing in the result."""

# What is packed: what there is to know of the latest call; the rough keys of all steps; all else of them.
_KEYS: Final = SIZE  # where they begin
_PACKED_KEY: Final = Struct("<Q")
_KEY, _pack_key, _pack_key_into = _PACKED_KEY.size, _PACKED_KEY.pack, _PACKED_KEY.pack_into
_unpack_key: Final = _PACKED_KEY.unpack_from
_REST: Final = Struct("<3Q9pB")  # started_ns, ended_ns, idle_ns, span_id, number of its label
_SIZE, _pack, _pack_into = _REST.size, _REST.pack, _REST.pack_into
_STEP: Final = _KEY + _SIZE
_FULL: Final = _KEYS + WINDOW * _STEP  # bytes
_RESTS: Final = _KEYS + WINDOW * _KEY  # where they begin when there are `WINDOW` steps
_MOST_LABELS: Final = 2 * WINDOW
_OF_RESULT, _OF_ARGUMENTS, _OF_BOTH = 1, 2, 3  # what a key of a step that was seen tells exactly


class Label(NamedTuple):
    """What many steps have in common: the tool, whether it only let time pass, whether it failed."""

    name: str
    waits: bool
    failed: bool


class History(Alike, Timed):
    """What followed what."""

    __slots__ = ("_labels", "_packed", "_past")

    def __init__(self) -> None:
        self._labels: tuple[Label, ...] = ()  # those in use, and a few that were
        self._packed: bytes | bytearray = NOTHING  # in place once there are `WINDOW` steps
        self._past: Past | None = None

    @property
    def stale(self) -> int:
        """How many calls in a row brought nothing new."""
        return self._past.stale if self._past is not None else 0

    @property
    def forgiven(self) -> int:
        """Calls that the owner left out, since something was new or a turn began."""
        return self._past.forgiven if self._past is not None else 0

    def forgive(self) -> None:
        """One more that the owner leaves out."""
        past = self._past = self._past or Past()
        past.forgiven += 1

    def turn(self) -> None:
        """A turn begins."""
        if self._past is not None:
            self._past.forgiven = 0

    @property
    def steps(self) -> list[Step]:
        """The latest steps, oldest first."""
        past = self._past
        if past is not None and past.steps is not None:
            return past.steps
        labels, rests = self._labels, _REST.iter_unpack(self._packed[_KEYS + _KEY * self._kept :])
        steps = [Step(*labels[label], *rest) for *rest, label in rests]
        if past is not None:
            oldest = past.gone % WINDOW
            past.steps = steps = steps[oldest:] + steps[:oldest]
        return steps

    @property
    def _kept(self) -> int:
        """How many steps there are."""
        return (len(self._packed) - _KEYS) // _STEP

    def take(self, event: CallEnded, prints: Fingerprints, end: str) -> None:
        """Takes what a call asked and how it ended."""
        packed = self._packed
        latest = follow(packed, event, prints, end)
        if isinstance(packed, bytearray):
            packed[:_KEYS] = latest
        else:
            self._packed = latest + packed[_KEYS:]

    def knows(self, keys: int | Keys) -> bool:
        """Whether a step equal to this in any of the three ways was seen; noise on both sides is none."""
        past, packed = self._past, self._packed
        seen = past.seen if past is not None else None
        if not isinstance(keys, int):
            return self._find(keys) >= 0 or (seen is not None and _saw(seen, keys))
        end = _KEYS + (len(packed) - _KEYS) // _STEP * _KEY
        if packed.rfind(_pack_key(keys), _KEYS, end) >= 0 and self._find(keys) >= 0:
            return True
        return seen is not None and seen.flags(keys) is not None

    def latest(self, keys: int | Keys) -> Step | None:
        """The latest step that is equal in any of the three ways, among those kept."""
        at = self._find(keys)
        return self.steps[at] if at >= 0 else None

    def add(self, event: CallEnded, keys: int | Keys, waits: bool, idle_ns: int, known: bool) -> None:
        """Takes a call as a step; `known` when it `knows` one that is equal."""
        past = self._past
        if known:
            past = self._count(keys)
            past.stale += 1
        elif past is not None:
            past.counts, past.stale, past.forgiven = None, 0, 0
        if past is not None:
            past.steps = None
        self._append(event, keys, waits, idle_ns)

    def run(self, period: int, ways: slice = ANY_WAY) -> int:
        """Steps in a row, up to the newest, that belong to one cycle of `period`; 0 when none came back."""
        counts = self._counts().get(period)
        longest = max(counts[ways]) if counts else 0
        return longest + period if longest else 0

    def cycles(self) -> list[tuple[int, int]]:
        """Every period from 2 on that went round at least twice, and the length of its run."""
        in_a_row = self.run(1)  # when all are equal, every period fits: that is no cycle
        lengths = sorted((period, max(ways)) for period, ways in self._counts().items() if period > 1)
        return [(p, longest + p) for p, longest in lengths if longest >= p and longest + p > in_a_row]

    def _counts(self) -> Mapping[int, tuple[int, ...]]:
        """By period: one count for each way."""
        return (self._past.counts if self._past is not None else None) or {}

    def _find(self, keys: int | Keys) -> int:
        """Where among the steps kept the latest is that is equal in any way, -1 when none is."""
        rough = keys if isinstance(keys, int) else keys.rough
        return next((at for at in self._all(rough) if True in self._ways(keys, at)), -1)

    def _all(self, rough: int) -> Iterable[int]:
        """Where among the steps kept those of this key are, the latest first; the oldest kept is at 0."""
        keys = memoryview(self._packed)[_KEYS : _KEYS + _KEY * self._kept].cast("Q")
        oldest = self._past.gone if self._past is not None else 0
        places = ((slot - oldest) % WINDOW for slot, key in enumerate(keys) if key == rough)
        return sorted(places, reverse=True)

    def _ways(self, keys: int | Keys, at: int) -> tuple[bool, bool, bool]:
        """In which of the three ways a step of the same rough key, kept at `at`, is equal."""
        past = self._past
        old = past.noisy.get(past.gone + at) if past is not None and past.noisy else None
        if old is None and isinstance(keys, int):
            return True, True, True
        rough, plain, quiet_arguments, quiet_result = (keys,) * 4 if isinstance(keys, int) else keys
        _, one, two, three = old or (rough,) * 4
        return plain == one, quiet_arguments == two, quiet_result == three

    def _count(self, keys: int | Keys) -> Past:
        """Counts on each cycle that the step at hand continues; all others end here."""
        before, kept = self._counts(), self._kept
        counts: dict[int, tuple[int, ...]] = {}
        for at in self._all(keys if isinstance(keys, int) else keys.rough):
            one, two, three = before.get(kept - at, (0, 0, 0))
            same = self._ways(keys, at)
            counts[kept - at] = (one + 1) * same[0], (two + 1) * same[1], (three + 1) * same[2]
        past = self._past = self._past or Past()
        past.counts = counts
        return past

    def _append(self, event: CallEnded, keys: int | Keys, waits: bool, idle_ns: int) -> None:
        past, packed, rough = self._past, self._packed, keys
        if not isinstance(keys, int):
            past, rough = self._past or Past(), keys.rough
            past.noisy = past.noisy or {}
            past.noisy[past.gone + self._kept] = keys
            self._past = past
        label = self._numbered(_label(event.name, waits, failed(event)))
        if len(packed) < _FULL:
            end = _KEYS + (len(packed) - _KEYS) // _STEP * _KEY
            rest = _pack(event.started_ns, event.ended_ns, idle_ns, event.span_id, label)
            self._packed = packed[:end] + _pack_key(rough) + packed[end:] + rest
            return
        if past is None or past.seen is None or not isinstance(packed, bytearray):
            packed = self._packed = bytearray(packed)
            past = self._past = past or Past()
            past.seen = Marks(2 * SEEN)
        gone = past.gone
        slot = gone % WINDOW  # that of the oldest, of which it is remembered that it was
        at = _KEYS + _KEY * slot
        (oldest,) = _unpack_key(packed, at)
        if past.noisy:
            _see(past.seen, past.noisy.pop(gone, oldest))
        else:
            past.seen.meet(oldest, _OF_BOTH)
        _pack_key_into(packed, at, rough)
        at = _RESTS + _SIZE * slot
        _pack_into(packed, at, event.started_ns, event.ended_ns, idle_ns, event.span_id, label)
        past.gone = gone + 1

    def _numbered(self, label: Label) -> int:
        """The number of a label, which is that of one that is not used any more when there are many."""
        labels = self._labels
        try:
            return labels.index(label)
        except ValueError:
            number = len(labels)
        if number == _MOST_LABELS:
            used = self._packed[_RESTS + _SIZE - 1 :: _SIZE]
            number = next(each for each in range(number) if each not in used)
        self._labels = _with(labels, number, label)
        return number


def failed(event: CallEnded) -> bool:
    """Whether a call failed, by its own word or its result's."""
    return event.error != "" or (event.prints is not None and event.prints.error != "")


def _see(seen: Marks, keys: int | Keys) -> None:
    """Remembers a step."""
    if isinstance(keys, int):
        seen.meet(keys, _OF_BOTH)
    else:
        seen.meet(keys.quiet_arguments, _OF_RESULT)
        seen.meet(keys.quiet_result, _OF_ARGUMENTS)


def _saw(seen: Marks, keys: Keys) -> bool:
    """Whether a step is remembered that is equal but for noise on one side."""
    _, _, result, arguments = keys
    return bool((seen.flags(result) or 0) & _OF_RESULT or (seen.flags(arguments) or 0) & _OF_ARGUMENTS)


@lru_cache(maxsize=4_096)
def _label(name: str, waits: bool, did_fail: bool) -> Label:
    """One label for all steps that share it."""
    return Label(name, waits, did_fail)


@lru_cache(maxsize=4_096)
def _with(labels: tuple[Label, ...], number: int, label: Label) -> tuple[Label, ...]:
    """Labels with another under a number: the same few, in the same order, for many histories."""
    return (*labels[:number], label, *labels[number + 1 :])
