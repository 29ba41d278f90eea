"""The latest steps of one agent in order, and for how long they have been repeating, whatever the period.

Rule 1: a call is new when its (call, result) was not seen; for how many calls nothing was new is known for
any order of them. Rule 2: a strict cycle is known for every period up to `WINDOW`, in three ways counted
apart, so that noise is never taken out of both sides of a call at once. Rule 3: a step that is new costs one
look; counting begins when something comes back. Rule 4: steps are kept packed, fifty bytes each: every run
has some, few are ever looked at. It knows neither limits nor findings, nor what a tool does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from statistics import median
from struct import Struct
from typing import Final, NamedTuple

from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.fingerprints.sketch import resemblance
from spanfuse_processor.engine.lanes.keys import Keys
from spanfuse_processor.engine.lanes.past import Past, Step
from spanfuse_processor.engine.marks import Marks
from spanfuse_processor.engine.nouns import Fingerprints, Kind

NS: Final = 1_000_000_000

WINDOW: Final = 32
"""Steps that are kept, and so the longest strict cycle that is known."""

SEEN: Final = 1_024
"""Older steps of which it is still known that they were."""

LIKENESS: Final = 0.8
"""Of the words of two questions, how many come back when they are nearly the same."""

MUCH: Final = 0.4
"""Of their words, how many come back when two questions may be the same in other words."""

GROWTH: Final = 1.5
"""A gap this many times the one before is part of a back-off."""

ANY_WAY: Final = slice(0, 3)
"""Equal as they are, or but for noise in the arguments, or but for noise in the result."""

SAME_RESULT: Final = slice(0, 2)
SAME_ALL: Final = slice(0, 1)
"""The ways that forgive nothing in the result."""

_PACKED: Final = Struct("<4Q9pB")  # rough key, started_ns, ended_ns, idle_ns, span_id, number of its label
_SIZE, _pack = _PACKED.size, _PACKED.pack
MODEL: Final = Kind.MODEL  # a member looked up in its enum costs four times as much
_LATEST: Final = Struct("<3qQ")  # of the latest call: its tool, what it asked, its end, in hashes; its sketch
_pack_latest, _unpack_latest = _LATEST.pack, _LATEST.unpack_from
_FIRST: Final = _LATEST.size  # behind it, steps
_NOTHING: Final = bytes(_FIRST)
_WHOLE: Final = _FIRST + WINDOW * _SIZE  # bytes of a history that lets a step go for each that comes
_MOST_LABELS: Final = 2 * WINDOW
_KEY: Final = 8
_OTHER: Final = 1  # tells keys without the noise of results from keys without that of arguments


class Label(NamedTuple):
    """What many steps have in common: the tool, whether it only let time pass, whether it failed."""

    name: str
    waits: bool
    failed: bool


class History:
    """What followed what. Attributes:

    stale: how many calls in a row brought nothing new.
    ends: how many in a row were of one tool and ended alike, whatever they were asked.
    asked_again: how many in a row asked one tool the very same, whatever came of it.
    kin: how many in a row asked it nearly the same; of a model, said nearly the same.
    akin: how many asked (or said) it in words many of which came back; an odd one in between halves it.
    forgiven: calls that the owner left out, since something was new or a turn began.
    """

    __slots__ = (
        "_labels",
        "_packed",
        "_past",
        "akin",
        "asked_again",
        "ends",
        "forgiven",
        "kin",
        "stale",
    )

    def __init__(self) -> None:
        self._labels: tuple[Label, ...] = ()  # those in use, and a few that were
        self._packed = _NOTHING  # what there is to know of the latest call, then the latest steps
        self._past: Past | None = None
        self.asked_again = self.kin = self.akin = self.ends = self.stale = self.forgiven = 0

    @property
    def steps(self) -> list[Step]:
        """The latest steps, oldest first."""
        past = self._past
        if past is not None and past.steps is not None:
            return past.steps
        labels, packed = self._labels, _PACKED.iter_unpack(self._packed[_FIRST:])
        steps = [Step(*labels[label], *step) for _, *step, label in packed]
        if past is not None:
            past.steps = steps
        return steps

    @property
    def _kept(self) -> int:
        """How many steps there are."""
        return (len(self._packed) - _FIRST) // _SIZE

    def take(self, event: CallEnded, prints: Fingerprints, end: str) -> None:
        """Takes what a call asked and how it ended."""
        packed, arguments, said = self._packed, prints.arguments, event.kind is MODEL
        tool, asked, ended = hash(event.name), hash(arguments), hash(end)
        old_tool, old_asked, old_end, old_sketch = _unpack_latest(packed)
        same_tool = tool == old_tool
        again = same_tool and asked == old_asked and arguments != ""
        self.asked_again = self.asked_again + 1 if again else 1
        sketch = prints.result_sketch if said else prints.sketch
        likeness = 1.0 if again and not said else resemblance(sketch, old_sketch) if same_tool else 0.0
        self.kin = self.kin + 1 if likeness >= LIKENESS else 1
        akin = self.akin if likeness >= MUCH else self.akin // 2
        self.akin = akin + 1 if same_tool else 1
        self.ends = self.ends + 1 if same_tool and ended == old_end else 1
        self._packed = _pack_latest(tool, asked, ended, sketch) + packed[_FIRST:]

    def knows(self, keys: Keys) -> bool:
        """Whether a step equal to this in any of the three ways was seen; noise on both sides is none."""
        if self._find(keys) >= 0:
            return True
        seen = self._past.seen if self._past is not None else None
        return seen is not None and (keys.quiet_arguments in seen or keys.quiet_result ^ _OTHER in seen)

    def latest(self, keys: Keys) -> Step | None:
        """The latest step that is equal in any of the three ways, among those kept."""
        at = self._find(keys)
        return self.steps[at] if at >= 0 else None

    def add(self, event: CallEnded, keys: Keys, waits: bool, idle_ns: int, known: bool) -> None:
        """Takes a call as a step; `known` when it `knows` one that is equal."""
        if known:
            self.stale += 1
            self._count(keys)
        else:
            self.stale = self.forgiven = 0
            if self._past is not None:
                self._past.counts = None
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

    def pause(self, count: int) -> float:
        """Seconds from one start to the next among the last `count` steps, the median."""
        return _middle(self._gaps(count))

    def idle(self, count: int) -> float:
        """Seconds without any open call from one to the next among the last `count` steps, the median."""
        return _middle(_differences([step.idle_ns for step in self.steps[-count:]]))

    def took(self, count: int) -> float:
        """Seconds that each of the last `count` steps took, the median."""
        return _middle([step.ended_ns - step.started_ns for step in self.steps[-count:]])

    def backs_off(self, count: int) -> bool:
        """Whether the last `count` steps left more time each than the one before, as a patient retry does."""
        return grow(self._gaps(count))

    def _gaps(self, count: int) -> list[int]:
        return _differences([step.started_ns for step in self.steps[-count:]])

    def _counts(self) -> Mapping[int, tuple[int, ...]]:
        """By period: one count for each way."""
        return (self._past.counts if self._past is not None else None) or {}

    def _find(self, keys: Keys) -> int:
        """Where among the steps kept the latest is that is equal in any way, -1 when none is."""
        if self._packed.rfind(keys.rough.to_bytes(_KEY, "little"), _FIRST) < 0:  # nearly always
            return -1
        return next((at for at in self._all(keys.rough) if True in self._ways(keys, at)), -1)

    def _all(self, rough: int) -> Iterator[int]:
        """Where among the steps kept those of this key are, the latest first."""
        kept, key = self._packed, rough.to_bytes(_KEY, "little")
        at = kept.rfind(key, _FIRST)
        while at >= 0:
            place, astray = divmod(at - _FIRST, _SIZE)
            if not astray:  # else other bytes happen to read like it
                yield place
            at = kept.rfind(key, _FIRST, at + _KEY - 1)

    def _ways(self, keys: Keys, at: int) -> tuple[bool, bool, bool]:
        """In which of the three ways a step of the same rough key, kept at `at`, is equal."""
        rough, plain, quiet_arguments, quiet_result = keys
        past = self._past
        old = past.noisy.get(past.gone + at) if past is not None and past.noisy else None
        _, one, two, three = old or (rough,) * 4
        return plain == one, quiet_arguments == two, quiet_result == three

    def _count(self, keys: Keys) -> None:
        """Counts on each cycle that the step at hand continues; all others end here."""
        before, kept = self._counts(), self._kept
        counts: dict[int, tuple[int, ...]] = {}
        for at in self._all(keys.rough):
            one, two, three = before.get(kept - at, (0, 0, 0))
            same = self._ways(keys, at)
            counts[kept - at] = (one + 1) * same[0], (two + 1) * same[1], (three + 1) * same[2]
        self._past = self._past or Past()
        self._past.counts = counts

    def _append(self, event: CallEnded, keys: Keys, waits: bool, idle_ns: int) -> None:
        past, rough, packed = self._past, keys.rough, self._packed
        if keys.plain != rough:
            past = self._past = past or Past()
            past.noisy = past.noisy or {}
            past.noisy[past.gone + self._kept] = keys
        label = self._numbered(_label(event.name, waits, failed(event)))
        self._packed = packed + _pack(rough, event.started_ns, event.ended_ns, idle_ns, event.span_id, label)
        if past is not None:
            past.steps = None
        if len(packed) >= _WHOLE:
            self._let_go()

    def _numbered(self, label: Label) -> int:
        """The number of a label, which is that of one that is not used any more when there are many."""
        labels = self._labels
        if label in labels:
            return labels.index(label)
        number = len(labels)
        if number == _MOST_LABELS:
            used = self._packed[_FIRST + _SIZE - 1 :: _SIZE]
            number = next(each for each in range(number) if each not in used)
        self._labels = _with(labels, number, label)
        return number

    def _let_go(self) -> None:
        """The oldest step leaves the window; that it was is remembered."""
        packed, past = self._packed, self._past
        if past is None:
            past = self._past = Past()
        if past.seen is None:
            past.seen = Marks(2 * SEEN)
        one = other = int.from_bytes(packed[_FIRST : _FIRST + _KEY], "little")
        noisy = past.noisy.pop(past.gone, None) if past.noisy else None
        if noisy is not None:
            _, _, one, other = noisy
        self._packed = packed[:_FIRST] + packed[_FIRST + _SIZE :]
        past.gone += 1
        past.seen.meet(one, False)
        past.seen.meet(other ^ _OTHER, False)


def failed(event: CallEnded) -> bool:
    """Whether a call failed, by its own word or its result's."""
    return event.error != "" or (event.prints is not None and event.prints.error != "")


def _differences(times: list[int]) -> list[int]:
    return [later - earlier for earlier, later in zip(times, times[1:], strict=False)]


def _middle(gaps: list[int]) -> float:
    return median(gaps) / NS if gaps else 0.0


def grow(gaps: list[int]) -> bool:
    """Whether each gap is plainly longer than the one before.

    >>> grow([1, 2, 4]), grow([1, 2, 2]), grow([5])
    (True, False, False)
    """
    pairs = zip(gaps, gaps[1:], strict=False)
    return len(gaps) > 1 and all(later >= GROWTH * earlier > 0 for earlier, later in pairs)


@lru_cache(maxsize=4_096)
def _label(name: str, waits: bool, did_fail: bool) -> Label:
    """One label for all steps that share it."""
    return Label(name, waits, did_fail)


@lru_cache(maxsize=4_096)
def _with(labels: tuple[Label, ...], number: int, label: Label) -> tuple[Label, ...]:
    """Labels with another under a number: the same few, in the same order, for many histories."""
    return (*labels[:number], label, *labels[number + 1 :])
