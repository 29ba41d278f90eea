"""Policies side by side: what each would have done with the same runs.

Rule 1: what a stop saves is what came after it, calls and money. Rule 2: runs are the same where their ids
are. Rule 3: a run that is known to be honest and is stopped was stopped wrongly. It does not know how it is
shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spanfuse_processor.engine import MicroUsd, RunView
from spanfuse_processor.replaying.labels import Label, Labels
from spanfuse_processor.replaying.replay import Replay, usd


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one policy makes of one run. Saved is what came after the stop, calls and money."""

    verdict: str
    detector: str | None = None
    action: str | None = None
    span_id: str | None = None
    call: int | None = None
    calls_saved: int = 0
    saved: MicroUsd = 0

    @classmethod
    def of(cls, view: RunView) -> Outcome:
        """What a run came to."""
        mark = view.stop or view.warn
        return cls(
            verdict=view.verdict,
            detector=mark.detector if mark else None,
            action=view.stop.action if view.stop else None,
            span_id=mark.span_id.hex() if mark else None,
            call=mark.call if mark else None,
            calls_saved=max(0, view.calls - view.stop.call) if view.stop else 0,
            saved=view.cost_after,
        )

    def row(self, config: str) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "config": config,
            "verdict": self.verdict,
            "detector": self.detector,
            "action": self.action,
            "span_id": self.span_id,
            "call": self.call,
            "calls_saved": self.calls_saved,
            "saved_usd": usd(self.saved),
        }


@dataclass(frozen=True, slots=True)
class Case:
    """One run under every policy, in their order."""

    file: str
    run: str
    trace_id: str
    label: Label | None
    outcomes: tuple[Outcome, ...]

    @property
    def differs(self) -> bool:
        """Whether the policies do not say the same, or not at the same call."""
        return len({(each.verdict, each.detector, each.span_id) for each in self.outcomes}) > 1

    @property
    def honest(self) -> bool | None:
        """What is known of it."""
        return self.label.honest if self.label is not None else None

    def row(self, configs: Sequence[str]) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "file": self.file,
            "run": self.run,
            "trace_id": self.trace_id,
            "label": self.label.text if self.label is not None else None,
            "differs": self.differs,
            "policies": [each.row(config) for config, each in zip(configs, self.outcomes, strict=True)],
        }


@dataclass(frozen=True, slots=True)
class Tally:
    """What one policy comes to over all runs; labelled ones of either kind, and the stopped among them."""

    runs: int
    stopped: int
    warned: int
    calls_saved: int
    saved: MicroUsd
    honest: int
    honest_stopped: int
    runaways: int
    runaways_stopped: int

    def row(self, config: str) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "config": config,
            "runs": self.runs,
            "stopped": self.stopped,
            "warned": self.warned,
            "calls_saved": self.calls_saved,
            "saved_usd": usd(self.saved),
            "honest": self.honest,
            "honest_stopped": self.honest_stopped,
            "runaways": self.runaways,
            "runaways_stopped": self.runaways_stopped,
        }


def compare(replay: Replay, labels: Labels) -> list[Case]:
    """Every run, as each of the judges sees it."""
    seen = [{view.id: view for _, view in replay.views(judge)} for judge in range(len(replay.judges))]
    return [
        Case(
            file=file,
            run=view.id,
            trace_id=view.trace_id.hex(),
            label=labels.of(view),
            outcomes=tuple(
                Outcome.of(views[view.id]) if view.id in views else Outcome("unknown") for views in seen
            ),
        )
        for file, view in replay.views()
    ]


def tally(cases: Sequence[Case], policy: int) -> Tally:
    """The sums of one policy, by its number."""
    told = [(case.honest, case.outcomes[policy]) for case in cases]
    stopped = [(honest, outcome) for honest, outcome in told if outcome.verdict == "stop"]
    return Tally(
        runs=len(told),
        stopped=len(stopped),
        warned=sum(outcome.verdict == "warn" for _, outcome in told),
        calls_saved=sum(outcome.calls_saved for _, outcome in stopped),
        saved=sum(outcome.saved for _, outcome in stopped),
        honest=sum(honest is True for honest, _ in told),
        honest_stopped=sum(honest is True for honest, _ in stopped),
        runaways=sum(honest is False for honest, _ in told),
        runaways_stopped=sum(honest is False for honest, _ in stopped),
    )
