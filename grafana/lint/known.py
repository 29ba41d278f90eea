"""What queries may name: metrics that the service declares, those that rules record, those of the scrape.

Rule 1: a recorded metric's labels stand in its name: `level:metric:operations`. It reads the rules as text,
and asks nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from spanfuse_processor.telemetry.metrics import METRICS, declared

RULES: Final = Path(__file__).parents[2] / "rules"
OF_THE_SCRAPE: Final = frozenset({"job", "instance"})
_SCRAPE: Final = ("up", "scrape_duration_seconds", "scrape_samples_scraped")


class Known(NamedTuple):
    """Attributes:

    labels: of every metric that there is, without those of the scrape.
    values: of a metric's labels whose values are fixed words, these words.
    exemplars: metrics that point to traces.
    """

    labels: Mapping[str, frozenset[str]]
    values: Mapping[tuple[str, str], frozenset[str]]
    exemplars: frozenset[str]


def known(rules: Path = RULES) -> Known:
    """What may be named today."""
    values = {
        (name, label): frozenset(words)
        for metric in METRICS
        for name in metric.samples()
        for label, words in metric.values.items()
    }
    pointing = frozenset(name for metric in METRICS if metric.exemplars for name in metric.samples())
    scrape = dict.fromkeys(_SCRAPE, frozenset[str]())
    return Known({**declared(), **recorded(rules), **scrape}, values, pointing)


def recorded(rules: Path) -> dict[str, frozenset[str]]:
    """Metrics that rules record, and their labels.

    >>> labels_of("agent_model:spanfuse_llm_cost_usd:rate5m") == {"agent", "model"}
    True
    """
    found: dict[str, frozenset[str]] = {}
    for path in sorted(rules.glob("*.yml")):
        document: Any = yaml.safe_load(path.read_text())
        for group in (document or {}).get("groups", []):
            names = (rule["record"] for rule in group["rules"] if "record" in rule)
            found |= {name: labels_of(name) for name in names}
    return found


def labels_of(recorded_name: str) -> frozenset[str]:
    """The labels in the level of a recorded metric; `job` is the scrape's."""
    return frozenset(recorded_name.partition(":")[0].split("_")) - OF_THE_SCRAPE
