"""How figures are taken: each call timed by itself, then the middle and the tail of what was seen."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable

Call = Callable[[], object]


def each(call: Call, times: int) -> list[int]:
    """The nanoseconds of each of `times` calls, the timer's own included (see `timer`)."""
    clock, samples = time.perf_counter_ns, [0] * times
    gc.collect()
    gc.disable()
    try:
        for index in range(times):
            start = clock()
            call()
            samples[index] = clock() - start
    finally:
        gc.enable()
    return samples


def micro(nanoseconds: float) -> float:
    """In microseconds."""
    return nanoseconds / 1_000


def middle(samples: list[int]) -> float:
    """The median, in microseconds."""
    return micro(statistics.median(samples))


def tail(samples: list[int]) -> float:
    """The 99th percentile, in microseconds."""
    return micro(sorted(samples)[int(len(samples) * 0.99)])


def timer() -> float:
    """What an empty call costs here, in microseconds: the baseline of every figure."""
    return middle(each(lambda: None, 20_000))
