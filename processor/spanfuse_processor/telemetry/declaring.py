"""How a metric is declared: its name, its type, its labels, and what these may say.

Rule 1: it is data, and refuses nothing. Rule 2: it imports nothing of the service, so that whoever checks a
rule or draws a panel may read it. It does not know which metrics there are, nor who counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

PREFIX: Final = "spanfuse_"
OTHER: Final = "other"
"""What a label's value is called past the bound of its label."""
UNKNOWN: Final = "unknown"
"""What an agent or a provider without a name is called."""
NO_VALUES: Final[Mapping[str, str]] = MappingProxyType({})


class Type(StrEnum):
    """As Prometheus has them."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"
    INFO = "info"


class Metric(NamedTuple):
    """One metric.

    Attributes:
        name: as it is queried; of a histogram, without `_bucket`, `_sum` and `_count`.
        type, help: as they are exposed.
        labels: their names, in the order in which values are given.
        values: of labels whose values are fixed words, these words.
        unit: seconds, usd, tokens, calls; empty: things are counted.
        buckets: of a histogram, upper bounds; the one that takes everything is not among them.
        exemplars: whether it points to the trace of the latest that it counted.
        absent: why a series that belongs here may be missing. Empty: it is there from the start, or as soon
            as what its labels name is known.
    """

    name: str
    type: Type
    help: str
    labels: tuple[str, ...] = ()
    values: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    unit: str = ""
    buckets: tuple[float, ...] = ()
    exemplars: bool = False
    absent: str = ""

    def samples(self) -> Mapping[str, tuple[str, ...]]:
        """Names and labels as they stand on the page.

        >>> Metric("spanfuse_x_seconds", Type.HISTOGRAM, "", ("kind",)).samples()["spanfuse_x_seconds_bucket"]
        ('kind', 'le')
        """
        if self.type is not Type.HISTOGRAM:
            return {self.name: self.labels}
        return {
            f"{self.name}_bucket": (*self.labels, "le"),
            f"{self.name}_sum": self.labels,
            f"{self.name}_count": self.labels,
        }


def counter(
    name: str,
    help: str,
    *labels: str,
    values: Mapping[str, str] = NO_VALUES,
    unit: str = "",
    exemplars: bool = False,
) -> Metric:
    """What only grows. `values` are words, with spaces between."""
    name = f"{PREFIX}{name}_total"
    return Metric(name, Type.COUNTER, help, labels, _words(values), unit, exemplars=exemplars)


def gauge(
    name: str,
    help: str,
    *labels: str,
    values: Mapping[str, str] = NO_VALUES,
    unit: str = "",
    absent: str = "",
) -> Metric:
    """What is so now."""
    return Metric(PREFIX + name, Type.GAUGE, help, labels, _words(values), unit, absent=absent)


def histogram(
    name: str,
    buckets: tuple[float, ...],
    help: str,
    *labels: str,
    values: Mapping[str, str] = NO_VALUES,
    exemplars: bool = False,
) -> Metric:
    """How long something took, in seconds."""
    name, words = f"{PREFIX}{name}_seconds", _words(values)
    return Metric(name, Type.HISTOGRAM, help, labels, words, "seconds", buckets, exemplars)


def info(name: str, help: str, *labels: str) -> Metric:
    """What is always 1 and says something by its labels."""
    return Metric(PREFIX + name, Type.INFO, help, labels)


def _words(values: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType({label: tuple(said.split()) for label, said in values.items()})
