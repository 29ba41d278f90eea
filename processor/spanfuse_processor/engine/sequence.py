"""The steps of one agent in order, and for how long they have been repeating, for every short period.

Rule 1: a step is compared with the few before it only: equal steps far apart are no repeat. Rule 2: the
three ways to be equal are counted apart, so that noise is never taken out of both sides of a call at once.
Rule 3: a step that is new costs one look; counting begins when something comes back. It knows neither
limits nor findings, nor what a tool does.
"""

from __future__ import annotations

from statistics import median
from typing import Final, NamedTuple

from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Fingerprints

NS: Final = 1_000_000_000

GROWTH: Final = 1.5
"""A gap this many times the one before is part of a back-off."""

ANY_WAY: Final = slice(0, 3)
"""Equal as they are, or but for noise in the arguments, or but for noise in the result."""

SAME_RESULT: Final = slice(0, 2)
"""The ways that forgive nothing in the result."""


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
        steps: the latest steps, oldest first.
        stale: how many in a row brought nothing new.
        ends: how many in a row, since `ends_since_ns`, were of one tool and ended alike.
        told, ends_told: how much was said about that: 0, 1 (warned) or 2 (stopped); for the owner's use.
        forgiven: steps that the owner left out since something was new.
    """

    __slots__ = (
        "_counts",
        "_end",
        "_end_name",
        "_period",
        "_rough",
        "ends",
        "ends_since_ns",
        "ends_told",
        "forgiven",
        "stale",
        "steps",
        "told",
    )

    def __init__(self, period: int) -> None:
        self._period = max(1, period)
        self._rough: list[int] = []
        self._counts: list[list[int]] | None = None  # by period: one count for each way
        self._end = self._end_name = ""
        self.steps: list[Step] = []
        self.ends = self.ends_since_ns = self.ends_told = 0
        self.stale = self.told = self.forgiven = 0

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
            rough = hash((event.name, prints.arguments_masked, error or prints.result_masked))
            if rough in self._rough:
                return False
            if self.stale or self.forgiven:
                self._begin_anew()
            self._append(_step(event, prints, rough))
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

    def step(self, event: CallEnded, prints: Fingerprints) -> Step | None:
        """The call as a step; None when what it was asked is unknown."""
        if not prints.arguments:
            return None
        rough = hash((event.name, prints.arguments_masked, prints.error or prints.result_masked))
        return _step(event, prints, rough)

    def latest(self, step: Step) -> Step | None:
        """The latest step that is roughly equal."""
        if step.rough not in self._rough:
            return None
        return next(before for before in reversed(self.steps) if before.rough == step.rough)

    def add(self, step: Step, known: bool) -> None:
        """Takes a step; `known` when it has a latest equal."""
        if known:
            self.stale += 1
            self._count(step)
        elif self.stale or self.forgiven:
            self._begin_anew()
        self._append(step)

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

    def _append(self, step: Step) -> None:
        self.steps.append(step)
        self._rough.append(step.rough)
        if len(self.steps) > self._period:
            del self.steps[0], self._rough[0]

    def _count(self, step: Step) -> None:
        if self._counts is None:
            self._counts = [[0] * 3 for _ in range(self._period)]
        for before, counts in zip(reversed(self.steps), self._counts, strict=False):
            counts[0] = counts[0] + 1 if step.plain == before.plain else 0
            counts[1] = counts[1] + 1 if step.quiet_arguments == before.quiet_arguments else 0
            counts[2] = counts[2] + 1 if step.quiet_result == before.quiet_result else 0


def _step(event: CallEnded, prints: Fingerprints, rough: int) -> Step:
    """A step with its keys. An error has lost its noise already, and there its arguments may lose theirs."""
    plain = quiet_arguments = quiet_result = rough
    name, error = event.name, prints.error
    if not error:
        arguments, result = prints.arguments, prints.result
        noisy_arguments, noisy_result = arguments != prints.arguments_masked, result != prints.result_masked
        if noisy_arguments or noisy_result:
            plain = hash((name, arguments, result))
        if noisy_arguments:
            quiet_result = hash((name, arguments, prints.result_masked))
        if noisy_result:
            quiet_arguments = hash((name, prints.arguments_masked, result))
    return tuple.__new__(  # half the price of Step(...)
        Step,
        (
            rough,
            plain,
            quiet_arguments,
            quiet_result,
            name,
            event.effect,
            error != "",
            event.span_id,
            event.started_ns,
            event.ended_ns,
        ),
    )
