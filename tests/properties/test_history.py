"""The history of an agent against a twin that keeps everything and compares all with all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.making import ended

from spanfuse_processor.engine.lanes.history import SAME_ALL, SAME_RESULT, WINDOW, History
from spanfuse_processor.engine.lanes.keys import keys_of
from spanfuse_processor.engine.nouns import Fingerprints


class Told(NamedTuple):
    """A call: what was asked and what came of it, and the noise in either (0: none)."""

    asked: str
    came: str
    noise_asked: int = 0
    noise_came: int = 0
    failed: bool = False

    def prints(self) -> Fingerprints:
        """As the history is told of it."""
        asked, came = _raw(self.asked, self.noise_asked), _raw(self.came, self.noise_came)
        if self.failed:
            return Fingerprints(asked, self.asked, error=f"no {self.came}")
        return Fingerprints(asked, self.asked, came, self.came)


def _raw(text: str, noise: int) -> str:
    return f"{text}~{noise}" if noise else text


def equal(one: Told, other: Told) -> tuple[bool, bool, bool]:
    """As they are; but for noise in what was asked; but for noise in what came of it."""
    if (one.asked, one.came, one.failed) != (other.asked, other.came, other.failed):
        return False, False, False
    if one.failed:
        return True, True, True
    asked, came = one.noise_asked == other.noise_asked, one.noise_came == other.noise_came
    return asked and came, came, asked


@dataclass
class Twin:
    """The same as a history, the dumb way."""

    all: list[Told] = field(default_factory=list)
    known: list[bool] = field(default_factory=list)

    def add(self, told: Told) -> None:
        self.known.append(any(any(equal(told, each)) for each in self.all))
        self.all.append(told)

    @property
    def stale(self) -> int:
        count = 0
        while count < len(self.known) and self.known[-1 - count]:
            count += 1
        return count

    def run(self, period: int, ways: slice) -> int:
        counts = [self._repeats(period, way) for way in range(3)[ways]]
        return max(counts) + period if any(counts) else 0

    def _repeats(self, period: int, way: int) -> int:
        told, count = self.all, 0
        while len(told) - count > period and equal(told[-1 - count], told[-1 - count - period])[way]:
            count += 1
        return count

    def cycles(self) -> list[tuple[int, int]]:
        runs = [(period, self.run(period, slice(0, 3))) for period in range(1, WINDOW + 1)]
        return [(period, run) for period, run in runs[1:] if run >= 2 * period and run > runs[0][1]]


def hear(history: History, number: int, told: Told) -> bool:
    """The history is told of a call; whether it knew one that is equal."""
    event = ended(number, name="tool", prints=told.prints())
    keys = keys_of(event, told.prints())
    known = history.knows(keys)
    history.add(event, keys, False, 0, known)
    return known


def compare(calls: list[Told]) -> None:
    history, twin = History(), Twin()
    for number, told in enumerate(calls, 1):
        twin.add(told)
        assert hear(history, number, told) is twin.known[-1]
        assert history.stale == twin.stale
    for period in range(1, WINDOW + 1):
        for ways in (SAME_ALL, SAME_RESULT, slice(0, 3)):
            assert history.run(period, ways) == twin.run(period, ways)
    assert history.cycles() == twin.cycles()


QUIET = st.builds(Told, st.sampled_from("AB"), st.sampled_from("xy"))
NOISE = st.sampled_from([0, 0, 1, 2])
NOISY = st.builds(Told, st.sampled_from("AB"), st.sampled_from("xy"), NOISE, NOISE, st.booleans())
MANY = st.builds(Told, st.sampled_from("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), st.just("x"), NOISE, NOISE)


@given(st.lists(QUIET, max_size=50))
@settings(deadline=None)
def test_without_noise_it_counts_as_its_twin_does(calls: list[Told]) -> None:
    compare(calls)


@given(st.lists(NOISY, max_size=50))
@settings(max_examples=300, deadline=None)
def test_noise_on_one_side_is_forgiven_and_on_both_it_never_is(calls: list[Told]) -> None:
    compare(calls)


@given(st.lists(MANY, min_size=30, max_size=120))
@settings(max_examples=50, deadline=None)
def test_what_left_the_window_is_known_by_what_it_was(calls: list[Told]) -> None:
    compare(calls)


@given(st.lists(NOISY, min_size=1, max_size=8), st.integers(2, 6))
@settings(deadline=None)
def test_any_ring_goes_round_as_often_as_it_did(ring: list[Told], rounds: int) -> None:
    history = History()
    for number, told in enumerate(ring * rounds, 1):
        hear(history, number, told)

    assert history.run(len(ring), SAME_ALL) >= len(ring) * rounds
    assert history.stale >= len(ring) * (rounds - 1)
