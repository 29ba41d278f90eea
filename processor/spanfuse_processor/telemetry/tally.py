"""Plain counts, and the rows that a page is made of: what is done where decisions are made.

Rule 1: counting is a dictionary's update; nothing is formatted, locked or rounded. Rule 2: rows are handed
out one by one, from copies, so that whoever takes them may stop between any two and count on. Rule 3: a row
is plain data, fit for `marshal`. It knows no page.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import Any, Final

from spanfuse_processor.telemetry.declaring import Metric

Exemplar = tuple[str, float, float]
"""A trace (hex), what was counted of it, and when (wall time)."""
Row = tuple[str, tuple[str, ...], Any, Any]
"""A metric's name, its labels' values, its value, exemplars.

Of a histogram the value is the count of each bucket (the last takes what is over all bounds) and the sum, and
the exemplars are pairs of a bucket's number and an exemplar; of a counter it is one, or None.
"""
YOUNG: Final = 60.0
"""Seconds for which a series is new."""


def exemplar(trace_id: bytes, value: float, wall: float) -> Exemplar | None:
    """That of a trace; None: it is not known."""
    return (trace_id.hex(), value, wall) if trace_id else None


class _Fresh:
    """Series that nobody has been shown. One that is young is shown as zero, once: else whoever asks for its
    increase would never see the first one."""

    def __init__(self, wall: Callable[[], float]) -> None:
        self._wall = wall
        self._since: dict[tuple[str, ...], float] = {}

    def add(self, labels: tuple[str, ...]) -> None:
        """It is new."""
        self._since[labels] = self._wall()

    def take(self, labels: tuple[str, ...]) -> bool:
        """Whether it is to be shown as zero. It is shown now."""
        since = self._since.pop(labels, None)
        return since is not None and self._wall() - since < YOUNG

    def clear(self) -> None:
        """All are known."""
        self._since.clear()


class Counter:
    """A metric that only grows. `wall` is asked for the time.

    Attributes:
        counts: by labels; whoever adds often may add to what is there.
    """

    def __init__(self, metric: Metric, wall: Callable[[], float]) -> None:
        self.metric = metric
        self._wall = wall
        self.counts: dict[tuple[str, ...], float] = {}
        self._latest: dict[tuple[str, ...], Exemplar] = {}
        self._fresh = _Fresh(wall)

    def begin(self, *values: Iterable[str]) -> None:
        """All combinations of these values, label by label, exist from now on."""
        for labels in product(*values):
            if labels not in self.counts:
                self.counts[labels] = 0
                self._fresh.add(labels)

    def show(self) -> None:
        """What exists by now is never taken for new."""
        self._fresh.clear()

    def add(self, *labels: str, by: float = 1, trace_id: bytes = b"") -> None:
        """Counts."""
        if labels not in self.counts:
            self.counts[labels] = 0
            self._fresh.add(labels)
        self.counts[labels] += by
        if trace_id and self.metric.exemplars:
            self._latest[labels] = (trace_id.hex(), by, self._wall())

    def rows(self, shown: bool) -> Iterator[Row]:
        """Its rows. `shown`: to whoever asks for increases."""
        name = self.metric.name
        for labels, count in list(self.counts.items()):
            if shown and self._fresh.take(labels):
                yield name, labels, 0, None
            else:
                yield name, labels, count, self._latest.get(labels)


class Series:
    """How long things of one kind took."""

    __slots__ = ("_bounds", "counts", "latest", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0
        self.latest: dict[int, tuple[bytes, float, float]] = {}

    def add(self, seconds: float, trace_id: bytes, wall: float) -> None:
        """One took so long; it ended about now."""
        bucket = bisect_left(self._bounds, seconds)
        self.counts[bucket] += 1
        self.total += seconds
        if trace_id:
            self.latest[bucket] = (trace_id, seconds, wall)


class Histogram:
    """How long things took. `wall` is asked for the time."""

    def __init__(self, metric: Metric, wall: Callable[[], float]) -> None:
        self.metric = metric
        self._bounds = metric.buckets
        self._wall = wall
        self._series: dict[tuple[str, ...], Series] = {}
        self._fresh = _Fresh(wall)

    def begin(self, *values: Iterable[str]) -> None:
        """All combinations of these values, label by label, exist from now on."""
        for labels in product(*values):
            self.of(labels)

    def show(self) -> None:
        """What exists by now is never taken for new."""
        self._fresh.clear()

    def observe(self, *labels: str, seconds: float, trace_id: bytes = b"") -> None:
        """One thing took so long."""
        self.of(labels).add(seconds, trace_id if self.metric.exemplars else b"", self._wall())

    def observe_many(self, *labels: str, counts: Iterable[int], seconds: float) -> None:
        """Many took `seconds` together; so many of them fell into each bucket, the last beyond all bounds."""
        series = self.of(labels)
        for bucket, count in zip(range(len(series.counts)), counts, strict=False):
            series.counts[bucket] += count
        series.total += seconds

    def rows(self, shown: bool) -> Iterator[Row]:
        """Its rows. `shown`: to whoever asks for increases."""
        name, nothing = self.metric.name, ((0,) * (len(self._bounds) + 1), 0.0)
        for labels, series in list(self._series.items()):
            if shown and self._fresh.take(labels):
                yield name, labels, nothing, ()
            else:
                seen = tuple((place, exemplar(*latest)) for place, latest in series.latest.items())
                yield name, labels, (tuple(series.counts), series.total), seen

    def of(self, labels: tuple[str, ...]) -> Series:
        """Those of these labels, for whoever adds often."""
        if labels not in self._series:
            self._series[labels] = Series(self._bounds)
            self._fresh.add(labels)
        return self._series[labels]


def rows_of(name: str, values: Mapping[str, float]) -> Iterator[Row]:
    """Rows of a metric with one label."""
    for label, value in values.items():
        yield name, (label,), value, None


def single(name: str, value: float) -> Row:
    """The row of a metric without labels."""
    return name, (), value, None
