"""What applications report of their gates is counted once, under the names of their agents."""

from __future__ import annotations

import pytest
from tests.telemetry.pages import value

from spanfuse_processor.telemetry.counters import Metrics
from spanfuse_processor.telemetry.gates import Gates
from spanfuse_processor.wire.answers import BOUNDS, Answers, Blind, Waits
from spanfuse_processor.wire.effect import Instance

ONE = Answers(1, {"defer": Waits((0,) * len(BOUNDS) + (2,), 5.0)}, {"critic": Blind(3, 4)})


@pytest.mark.parametrize(("reports", "times"), [((1,), 1), ((1, 1), 1), ((1, 2), 2), ((2, 1), 1)])
def test_each_report_of_an_application_counts_once(reports: tuple[int, ...], times: int) -> None:
    metrics = Metrics()
    gates = Gates(metrics)
    for number in reports:
        gates.heard(Instance("app", "i-1"), ONE._replace(number=number))

    rows = list(metrics.rows())
    assert value(rows, "gate_duration_seconds_count", decision="defer") == 2 * times
    assert value(rows, "gate_duration_seconds_sum", decision="defer") == 5.0 * times
    opened = value(rows, "gate_decisions_total", agent="critic", decision="allow", reason="fail_open")
    closed = value(rows, "gate_decisions_total", agent="critic", decision="deny", reason="fail_closed")
    assert (opened, closed) == (3 * times, 4 * times)


def test_applications_are_told_apart() -> None:
    metrics = Metrics()
    gates = Gates(metrics)
    for name in ("i-1", "i-2"):
        gates.heard(Instance("app", name), ONE)

    assert value(list(metrics.rows()), "gate_duration_seconds_count", decision="defer") == 4
