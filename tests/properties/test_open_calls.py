"""Open calls against a dumb twin that keeps every sign of life and works everything out anew."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from hypothesis import example, given
from hypothesis import strategies as st
from tests.engine.runs.opening import AGENT, MODEL, TOOL, Watched

from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.runs.open_calls import LEASE

CALLS = 7


class Shape(NamedTuple):
    """What is below what, and what each call is; call 0 is nobody."""

    parents: tuple[int, ...]
    kinds: tuple[Kind, ...]

    def above(self, number: int) -> list[int]:
        """The calls around a call."""
        above = []
        while number := self.parents[number]:
            above.append(number)
        return above


class Step(NamedTuple):
    """One thing that happens, so many seconds after the one before."""

    what: str  # begin, goes_on, end or beat
    number: int
    after: float
    open_for: float


@dataclass
class Twin:
    """What should be known, from a list of everything that was said."""

    shape: Shape
    began: dict[int, float] = field(default_factory=dict)
    signs: dict[int, list[float]] = field(default_factory=dict)
    heard: dict[int, float] = field(default_factory=dict)
    over: set[int] = field(default_factory=set)
    stirs: list[float] = field(default_factory=lambda: [0.0])
    beats: list[float] = field(default_factory=list)
    sent_in: int = 0

    def take(self, step: Step, now: float) -> None:
        number = step.number
        if step.what == "beat" and number in self.over:
            return
        if step.what == "beat":
            self.beats, self.sent_in = [*self.beats, now], number
            self.live([each for each in (number, *self.shape.above(number)) if not self.contains(each)], now)
        elif step.what == "end":
            self.over.add(number)
            if number == self.sent_in:
                self.beats.clear()
            self.stir(number, now)
        elif number not in self.over:
            began = now - (step.open_for if step.what == "goes_on" else 0.0)
            if number in self.began and not self.known(now):  # the whole run comes back into sight
                self.stirs.append(now)
                self.beats += [now] * bool(self.beats)
            if number not in self.began:
                self.began[number], self.signs[number] = began, [began]
                self.stir(number, began)
            self.live([number], began)
            self.heard[number] = now if step.what == "goes_on" else float("inf")

    def stir(self, number: int, at: float) -> None:
        self.stirs.append(at)
        self.live(self.shape.above(number), at)

    def live(self, numbers: list[int], at: float) -> None:
        for number in numbers:
            if number in self.signs:
                self.signs[number].append(at)

    def contains(self, number: int) -> bool:
        return self.shape.kinds[number] is AGENT

    def known(self, now: float) -> list[int]:
        return [
            number for number in self.began if number not in self.over and now < self.heard[number] + LEASE
        ]

    def seen(self, now: float) -> dict[int, tuple[float, ...]]:
        """Age, silence and the run's own of every call that is known to be open."""
        known = self.known(now)
        working = [number for number in known if not self.contains(number)]
        idle = 0.0 if working else now - max(self.stirs)
        beat = now - max(self.beats) if self.beats else -1.0
        busy = {above for each in working for above in self.shape.above(each)}
        return {
            number: (
                now - self.began[number],
                0.0 if number in busy else now - max(self.signs[number]),
                idle,
                beat,
            )
            for number in known
        }


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    parents = [0, *(draw(st.integers(0, number - 1)) for number in range(1, CALLS + 1))]
    kinds = [TOOL, *(draw(st.sampled_from((AGENT, TOOL, MODEL))) for _ in range(CALLS))]
    return Shape(tuple(parents), tuple(kinds))


steps = st.lists(
    st.builds(
        Step,
        what=st.sampled_from(("begin", "goes_on", "goes_on", "end", "beat")),
        number=st.integers(1, CALLS),
        after=st.integers(0, 40).map(float),
        open_for=st.integers(0, 20).map(float),
    ),
    max_size=25,
)


def play(shape: Shape, steps: list[Step], parents_first: bool) -> tuple[Watched, Twin, float]:
    """Tells both of the same."""
    run, twin, now = Watched(), Twin(shape), 0.0
    for step in steps:
        now += step.after
        number = step.number
        told = {*twin.began, *twin.over}
        if parents_first:
            for above in reversed(shape.above(number)):
                if above not in told:
                    tell(run, twin, shape, Step("begin", above, 0.0, 0.0), now)
            if step.what == "beat" and number not in told:
                continue
        tell(run, twin, shape, step, now)
    return run, twin, now


def tell(run: Watched, twin: Twin, shape: Shape, step: Step, now: float) -> None:
    number, parent, kind = step.number, shape.parents[step.number], shape.kinds[step.number]
    if step.what == "begin":
        run.begin(number, parent, kind, now)
    elif step.what == "goes_on":
        run.goes_on(number, parent, kind, now, open_for=step.open_for, quiet_for=step.open_for)
    elif step.what == "end":
        run.end(number, parent, kind, now)
    else:
        run.beat(now, number)
    twin.take(step, now)


def seen(run: Watched, now: float) -> dict[int, tuple[float, ...]]:
    return {
        number: (view.age, view.quiet, view.idle, -1.0 if view.beat is None else view.beat)
        for number, view in run.seen(now).items()
    }


@given(shapes(), steps, st.integers(0, 100))
def test_where_parents_come_first_both_know_the_same(shape: Shape, steps: list[Step], later: int) -> None:
    run, twin, now = play(shape, steps, parents_first=True)

    assert seen(run, now + later) == twin.seen(now + later)


@given(shapes(), steps, st.integers(0, 100))
@example(
    Shape((0, 0, 1, 1, 0, 0, 0, 0), (TOOL,) + (AGENT,) * 7),
    [Step("begin", 1, 0.0, 0.0), Step("begin", 3, 1.0, 0.0), Step("goes_on", 2, 0.0, 1.0)],
    0,
)
def test_in_any_order_nothing_is_taken_to_be_more_silent_than_it_is(
    shape: Shape, steps: list[Step], later: int
) -> None:
    run, twin, now = play(shape, steps, parents_first=False)

    known, true = seen(run, now + later), twin.seen(now + later)
    assert set(known) == set(true)
    assert all(known[number][1] <= true[number][1] for number in known)
    assert all(known[number][2:] == true[number][2:] for number in known)
