"""The steps of one agent in order, and for how long they have been repeating, for every short period.

Rule 1: a step is compared with the few before it only: equal steps far apart are no repeat. Rule 2: the
three ways to be equal are counted apart, so that noise is never taken out of both sides of a call at once.
Rule 3: a step that is new costs one look; counting begins when something comes back. Rule 4: steps are
kept packed, a fourth of what their tuples would take: every run has some, few are ever looked at. It knows
neither limits nor findings, nor what a tool does.
"""

from __future__ import annotations

from functools import lru_cache
from statistics import median
from struct import Struct
from typing import Final, NamedTuple

from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Fingerprints

NS: Final = 1_000_000_000

GROWTH: Final = 1.5
"""A gap this many times the one before is part of a back-off."""

ANY_WAY: Final = slice(0, 3)
"""Equal as they are, or but for noise in the arguments, or but for noise in the result."""

SAME_RESULT: Final = slice(0, 2)
SAME_ALL: Final = slice(0, 1)
"""The ways that forgive nothing in the result."""


_PACKED: Final = Struct("<3q2Q9p")  # plain, quiet_arguments, quiet_result, started_ns, ended_ns, span_id
_SIZE, _pack = _PACKED.size, _PACKED.pack
_MARK: Final = (1 << 60) - 1  # an int of 60 bits is 16 bytes smaller than one of 64


class Label(NamedTuple):
    """What many steps have in common: the tool, what a call said of its effect, whether it failed."""

    name: str
    effect: str
    failed: bool


class Step(NamedTuple):
    """One call in a sequence.

    `rough` is equal whenever any of the next three is: the keys of the three ways to be equal. `effect` is
    what the call itself says of its tool.
    """

    rough: int
    plain: int
    quiet_arguments: int
    quiet_result: int
    name: str
    effect: str
    failed: bool
    span_id: bytes
    started_ns: int
    ended_ns: int


class Sequence:
    """The latest steps, as many as the longest period, and how many in a row are what they were a period ago.

    Attributes:
        stale: how many in a row brought nothing new.
        ends: how many in a row, since `ends_since_ns`, were of one tool and ended alike.
        told, ends_told: how much was said about that: 0, 1 (warned) or 2 (stopped); for the owner's use.
        forgiven: steps that the owner left out since something was new.
    """

    __slots__ = (
        "_counts",
        "_end",
        "_end_name",
        "_labels",
        "_packed",
        "_period",
        "_rough",
        "_steps",
        "ends",
        "ends_since_ns",
        "ends_told",
        "forgiven",
        "stale",
        "told",
    )

    def __init__(self, period: int) -> None:
        self._period = max(1, period)
        self._rough: list[int] = []
        self._labels: list[Label] = []
        self._packed = bytearray()
        self._steps: list[Step] | None = None  # the same unpacked, while somebody looks
        self._counts: list[list[int]] | None = None  # by period: one count for each way
        self._end = self._end_name = ""
        self.ends = self.ends_since_ns = self.ends_told = 0
        self.stale = self.told = self.forgiven = 0

    @property
    def steps(self) -> list[Step]:
        """The latest steps, oldest first."""
        if self._steps is None:
            known = zip(self._rough, self._labels, _PACKED.iter_unpack(self._packed), strict=True)
            self._steps = [_unpacked(*each) for each in known]
        return self._steps

    def pass_by(self, event: CallEnded, prints: Fingerprints) -> bool:
        """Takes a call in which nothing comes back. False: something does, and nothing was taken.

        This is what every call of an honest run costs, hence one function.
        """
        error = prints.error
        end = error or prints.result
        if not end:
            return True  # nothing is known of how it ended
        if end == self._end:
            return False
        if prints.arguments:
            rough = _rough(event, prints)
            if rough in self._rough:
                return False
            if self.stale or self.forgiven:
                self._begin_anew()
            self._append(event, prints, rough)
        self._end, self._end_name = end, event.name
        self.ends, self.ends_told, self.ends_since_ns = 1, 0, event.started_ns
        return True

    def count_end(self, event: CallEnded, prints: Fingerprints) -> int:
        """Takes the end of a call. Returns how many in a row of this tool have ended like it."""
        end = prints.error or prints.result
        if end != self._end or event.name != self._end_name:
            self._end, self._end_name = end, event.name
            self.ends, self.ends_told, self.ends_since_ns = 0, 0, event.started_ns
        self.ends += 1
        return self.ends

    def latest(self, event: CallEnded, prints: Fingerprints) -> Step | None:
        """The latest step that is roughly equal to a call."""
        rough = _rough(event, prints)
        if rough not in self._rough:
            return None
        return next(before for before in reversed(self.steps) if before.rough == rough)

    def add(self, event: CallEnded, prints: Fingerprints, known: bool) -> None:
        """Takes a call as a step; `known` when it has a latest equal."""
        before = self.steps
        self._append(event, prints, _rough(event, prints))
        if known:
            self.stale += 1
            self._count(before)
        elif self.stale or self.forgiven:
            self._begin_anew()

    def run(self, period: int, ways: slice = ANY_WAY) -> int:
        """Steps in a row, up to the newest, that belong to one cycle of `period`; 0 when none came back."""
        counts = self._counts
        longest = max(counts[period - 1][ways]) if counts and period <= len(counts) else 0
        return longest + period if longest else 0

    def cycles(self) -> list[tuple[int, int]]:
        """Every period from 2 on that has gone round at least twice, and the length of its run."""
        in_a_row = self.run(1)  # when all are equal, every period fits: that is no cycle
        lengths = ((period, max(counts)) for period, counts in enumerate((self._counts or [])[1:], 2))
        return [(p, longest + p) for p, longest in lengths if longest >= p and longest + p > in_a_row]

    def pause(self, count: int) -> float:
        """Seconds from one start to the next among the last `count` steps, the median."""
        gaps = self._gaps(count)
        return median(gaps) / NS if gaps else 0.0

    def backs_off(self, count: int) -> bool:
        """Whether the last `count` steps left more time each than the one before, as a patient retry does."""
        gaps = self._gaps(count)
        pairs = zip(gaps, gaps[1:], strict=False)
        return len(gaps) > 1 and all(later >= GROWTH * earlier > 0 for earlier, later in pairs)

    def _gaps(self, count: int) -> list[int]:
        starts = [step.started_ns for step in self.steps[-count:]]
        return [later - earlier for earlier, later in zip(starts, starts[1:], strict=False)]

    def _begin_anew(self) -> None:
        self.stale = self.told = self.forgiven = 0
        self._counts = None

    def _append(self, event: CallEnded, prints: Fingerprints, rough: int) -> None:
        """Keeps a call with its keys. An error has lost its noise, and there its arguments may too."""
        name, error = event.name, prints.error
        plain = quiet_arguments = quiet_result = rough
        if not error:
            arguments, result = prints.arguments, prints.result
            noisy_arguments = arguments != prints.arguments_masked
            noisy_result = result != prints.result_masked
            if noisy_arguments or noisy_result:
                plain = hash((name, arguments, result))
            if noisy_arguments:
                quiet_result = hash((name, arguments, prints.result_masked))
            if noisy_result:
                quiet_arguments = hash((name, prints.arguments_masked, result))
        self._rough.append(rough)
        self._labels.append(_label(name, event.effect, error != ""))
        self._packed += _pack(
            plain, quiet_arguments, quiet_result, event.started_ns, event.ended_ns, event.span_id
        )
        self._steps = None
        if len(self._rough) > self._period:
            del self._rough[0], self._labels[0], self._packed[:_SIZE]

    def _count(self, earlier: list[Step]) -> None:
        """Compares the newest step with those that were before it."""
        if self._counts is None:
            self._counts = [[0] * 3 for _ in range(self._period)]
        step = self.steps[-1]
        for before, counts in zip(reversed(earlier), self._counts, strict=False):
            counts[0] = counts[0] + 1 if step.plain == before.plain else 0
            counts[1] = counts[1] + 1 if step.quiet_arguments == before.quiet_arguments else 0
            counts[2] = counts[2] + 1 if step.quiet_result == before.quiet_result else 0


def _rough(event: CallEnded, prints: Fingerprints) -> int:
    return hash((event.name, prints.arguments_masked, prints.error or prints.result_masked)) & _MARK


@lru_cache(maxsize=4_096)
def _label(name: str, effect: str, failed: bool) -> Label:
    """One label for all steps that share it."""
    return Label(name, effect, failed)


def _unpacked(rough: int, label: Label, packed: tuple[int, int, int, int, int, bytes]) -> Step:
    plain, quiet_arguments, quiet_result, started_ns, ended_ns, span_id = packed
    return Step(rough, plain, quiet_arguments, quiet_result, *label, span_id, started_ns, ended_ns)
