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


class Counter:
    """A metric that only grows. `wall` is asked for the time.

    A series that nobody has been shown and that is young is shown as zero, once: else whoever asks for its
    increase would never see the first one.
    """

    def __init__(self, metric: Metric, wall: Callable[[], float]) -> None:
        self.metric = metric
        self._wall = wall
        self._counts: dict[tuple[str, ...], float] = {}
        self._latest: dict[tuple[str, ...], Exemplar] = {}
        self._unseen: dict[tuple[str, ...], float] = {}

    def begin(self, values: Iterable[Iterable[str]], seen: bool = False) -> None:
        """All combinations of these values, label by label, exist from now on. `seen`: they are not new."""
        for labels in product(*values):
            if labels not in self._counts:
                self._counts[labels] = 0
                if not seen:
                    self._unseen[labels] = self._wall()

    def add(self, *labels: str, by: float = 1, trace_id: bytes = b"") -> None:
        """Counts."""
        if labels not in self._counts:
            self.begin([(value,) for value in labels])
        self._counts[labels] += by
        if trace_id and self.metric.exemplars:
            self._latest[labels] = (trace_id.hex(), by, self._wall())

    def rows(self, shown: bool) -> Iterator[Row]:
        """Its rows. `shown`: to whoever asks for increases."""
        name = self.metric.name
        for labels, count in list(self._counts.items()):
            since = self._unseen.pop(labels, None) if shown else None
            if since is not None and self._wall() - since < YOUNG:
                yield name, labels, 0, None
            else:
                yield name, labels, count, self._latest.get(labels)


class Histogram:
    """How long things took."""

    def __init__(self, metric: Metric, wall: Callable[[], float]) -> None:
        self._metric = metric
        self._bounds = metric.buckets
        self._wall = wall
        self._series: dict[tuple[str, ...], _Series] = {}

    def begin(self, values: Iterable[Iterable[str]] = ()) -> None:
        """All combinations of these values exist from now on."""
        for labels in product(*values):
            self._series.setdefault(labels, _Series(len(self._bounds) + 1))

    def observe(self, *labels: str, seconds: float, trace_id: bytes = b"") -> None:
        """One thing took so long."""
        series = self._of(labels)
        bucket = bisect_left(self._bounds, seconds)
        series.counts[bucket] += 1
        series.total += seconds
        if trace_id and self._metric.exemplars:
            series.latest[bucket] = (trace_id.hex(), seconds, self._wall())

    def observe_many(self, *labels: str, counts: Iterable[int], seconds: float) -> None:
        """Many took `seconds` together; so many of them fell into each bucket, the last beyond all bounds."""
        series = self._of(labels)
        for bucket, count in zip(range(len(series.counts)), counts, strict=False):
            series.counts[bucket] += count
        series.total += seconds

    def rows(self) -> Iterator[Row]:
        """Its rows."""
        name = self._metric.name
        for labels, series in list(self._series.items()):
            yield name, labels, (tuple(series.counts), series.total), tuple(series.latest.items())

    def _of(self, labels: tuple[str, ...]) -> _Series:
        series = self._series.get(labels)
        if series is None:
            series = self._series[labels] = _Series(len(self._bounds) + 1)
        return series


class _Series:
    __slots__ = ("counts", "latest", "total")

    def __init__(self, buckets: int) -> None:
        self.counts = [0] * buckets
        self.total = 0.0
        self.latest: dict[int, Exemplar] = {}


def rows_of(name: str, values: Mapping[str, float]) -> Iterator[Row]:
    """Rows of a metric with one label."""
    for label, value in values.items():
        yield name, (label,), value, None


def single(name: str, value: float) -> Row:
    """The row of a metric without labels."""
    return name, (), value, None
