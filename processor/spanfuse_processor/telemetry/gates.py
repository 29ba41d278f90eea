"""What applications report of their gates, counted.

Rule: a report that comes twice counts once; whose reports came last is remembered of the latest applications.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from spanfuse_processor.telemetry.counters import FAIL_CLOSED, FAIL_OPEN, Metrics
from spanfuse_processor.wire.answers import Answers
from spanfuse_processor.wire.effect import Instance

REMEMBERED: Final = 10_000
"""Applications."""


class Gates:
    """Hands what is new to `metrics`."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._numbers: OrderedDict[str, int] = OrderedDict()

    def heard(self, instance: Instance, answers: Answers) -> None:
        """An application says how its gate answered."""
        if instance.id and answers.number <= self._numbers.get(instance.id, 0):
            return
        self._numbers[instance.id] = answers.number
        self._numbers.move_to_end(instance.id)
        if len(self._numbers) > REMEMBERED:
            self._numbers.popitem(last=False)
        for decision, waits in answers.waits.items():
            self._metrics.observe_gate(decision, waits.counts, waits.seconds)
        for agent, blind in answers.blind.items():
            name = self._metrics.agents.bounded(agent)
            for reason, count in ((FAIL_OPEN, blind.allowed), (FAIL_CLOSED, blind.denied)):
                if count:
                    self._metrics.gate(name, reason, count)
