"""What the engine says of cases: they are written to a file once, and replayed in both orders of delivery.

Rule 1: nothing but `spanfuse replay`'s own reading and judging, by the default
policy. Rule 2: a verdict is
placed at a step: a span that is none (an agent's, around others) counts as the last step that had ended.
Rule 3: the file holds spans in the order in which they ended, as a receiver meets them. It does not know what
is true of a case.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.accuracy.otlp import Span, request

from spanfuse_processor.replaying import Replay


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was said of a case: the steps of the first stop and the first warning, and by which detectors."""

    stopped: int | None = None
    warned: int | None = None
    stopped_by: str = ""
    warned_by: tuple[str, ...] = ()
    cost: float = 0.0  # USD of all of the run
    cost_after: float = 0.0  # of that, what came after the stop


@dataclass
class Recording:
    """A file of spans, and where their steps are: trace -> case, span -> step."""

    path: Path
    case_of: dict[str, str] = field(default_factory=dict)
    step_of: dict[str, int] = field(default_factory=dict)

    @classmethod
    def write(cls, path: Path, cases: Iterable[tuple[str, list[Span], list[str]]]) -> Recording:
        """Writes cases: an id, the spans as they end, the span of each step."""
        recording = cls(path)
        with gzip.open(path, "wt", compresslevel=1) as file:
            for case, spans, steps in cases:
                recording._add(case, spans, steps)
                file.writelines(request(span) + "\n" for span in spans)
        return recording

    def _add(self, case: str, spans: list[Span], steps: list[str]) -> None:
        numbers = {span: number for number, span in enumerate(steps)}
        latest = 0
        for span in spans:
            latest = max(latest, numbers.get(span["spanId"], 0))
            self.step_of[span["spanId"]] = numbers.get(span["spanId"], latest)
            self.case_of[span["traceId"]] = case

    def judge(self, starts: bool) -> dict[str, Verdict]:
        """Case -> verdict; `starts`: in true time order with starts, else as the spans end."""
        replay = Replay()
        replay.read([self.path], starts)
        found: dict[str, Verdict] = {}
        for row in replay.rows():
            case = self.case_of[row["trace_id"]]
            found[case] = worse(found.get(case, Verdict()), self._verdict(row))
        return found

    def _verdict(self, row: Mapping[str, Any]) -> Verdict:
        stop = next((each for each in row["findings"] if each["level"] == "stop"), None)
        warnings = [each for each in row["findings"] if each["level"] == "warn"]
        stopped = row["verdict"] == "stop"
        return Verdict(
            self.step_of.get(row["span_id"], 0) if stopped else None,
            self.step_of.get(warnings[0]["span_id"], 0) if warnings else None,
            (row["detector"] or (stop or {}).get("detector", "")) if stopped else "",
            tuple(sorted({each["detector"] for each in warnings})),
            row["cost_usd"],
            row["cost_after_usd"] if stopped else 0.0,
        )


def worse(one: Verdict, other: Verdict) -> Verdict:
    """Of two runs that a case fell into, one verdict: the earlier stop, the earlier warning."""
    stops = [each for each in (one, other) if each.stopped is not None]
    warnings = [each.warned for each in (one, other) if each.warned is not None]
    stop = min(stops, key=lambda each: each.stopped or 0, default=Verdict())
    return Verdict(
        stop.stopped,
        min(warnings, default=None),
        stop.stopped_by,
        tuple(sorted({*one.warned_by, *other.warned_by})),
        one.cost + other.cost,
        stop.cost_after,
    )
