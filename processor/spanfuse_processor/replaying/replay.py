"""One reading of recordings, told to any number of judges; and what each says, as rows for machines.

Rule 1: all files are one stream: a run may go on in the next. Rule 2: the same input gives the same rows, in
order of first appearance. Rule 3: a row's keys are a contract. It prints nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from spanfuse_processor.engine import MicroUsd, RawSpan, RunView
from spanfuse_processor.replaying.judge import Judge
from spanfuse_processor.replaying.ordering import in_time_order
from spanfuse_processor.replaying.recording import Recording, Report, Watch

_OFTEN: Final = 1_024
"""Moments after which it is said how far the judging is."""


class Replay:
    """Judges what was recorded. Without judges, one with the default policy.

    >>> replay = Replay()
    >>> replay.judge([RawSpan(b"t" * 16, b"s" * 8, b"", "execute_tool search", 0, 10**9, {})])
    >>> [(row["run"][:4], row["verdict"], row["calls"]) for row in replay.rows()]
    [('7474', 'ok', 1)]
    """

    def __init__(self, *judges: Judge) -> None:
        self.judges: Final = judges or (Judge(),)
        self._benches: Final = _benches(self.judges)
        self._files: dict[bytes, str] = {}  # by trace: where it appeared first; in order of appearance

    def read(
        self,
        files: Iterable[Path],
        starts: bool = False,
        report: Report = lambda problem: None,
        watch: Watch | None = None,
    ) -> None:
        """Judges recorded files; `starts`: in true time order with starts. Problems are told to `report`."""
        recording = Recording(list(files), report, watch)
        self._judge((self._noted(span, str(file)) for file, span in recording), starts, watch)

    def judge(self, spans: Iterable[RawSpan], starts: bool = False, file: str = "") -> None:
        """Judges spans, in the order given or in true time order with starts."""
        self._judge((self._noted(span, file) for span in spans), starts, None)

    @property
    def has_read(self) -> bool:
        """Whether there was any span: without one, no verdict says anything."""
        return bool(self._files)

    def views(self, judge: int = 0) -> Iterator[tuple[str, RunView]]:
        """Each run, with the file in which it began, as one of the judges sees it."""
        order = {trace: number for number, trace in enumerate(self._files)}
        views = self.judges[judge].views()
        for view in sorted(views, key=lambda view: order[view.trace_id]):
            yield self._files[view.trace_id], view

    def rows(self, judge: int = 0) -> list[dict[str, Any]]:
        """What there is to say of each run, ready for JSON."""
        return [row(file, view) for file, view in self.views(judge)]

    def _noted(self, span: RawSpan, file: str) -> RawSpan:
        self._files.setdefault(span.trace_id, file)
        return span

    def _judge(self, spans: Iterable[RawSpan], starts: bool, watch: Watch | None) -> None:
        with _few_collections():
            if starts:
                self._judge_in_time_order(spans, watch)
                return
            for span in spans:
                for judges in self._benches:
                    told = judges[0].read(span) or span
                    for judge in judges:
                        judge.hear(span.end_ns, told)

    def _judge_in_time_order(self, spans: Iterable[RawSpan], watch: Watch | None) -> None:
        spans = spans if len(self._benches) == 1 else list(spans)
        for judges in self._benches:
            moments = in_time_order(spans, judges[0].read)
            for number, moment in enumerate(moments):
                for judge in judges:
                    judge.hear(moment.at_ns, moment.told())
                if watch is not None and number % _OFTEN == 0:
                    watch("judging", number, len(moments))


def _benches(judges: Iterable[Judge]) -> list[list[Judge]]:
    """The judges, those together that read alike: reading takes as long as judging."""
    benches: list[list[Judge]] = []
    for judge in judges:
        bench = next((bench for bench in benches if judge.reads_like(bench[0])), None)
        if bench is None:
            benches.append([judge])
        else:
            bench.append(judge)
    return benches


@contextmanager
def _few_collections() -> Iterator[None]:
    """Hardly anything of a replay dies before its end: looking for it takes a tenth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def row(file: str, view: RunView) -> dict[str, Any]:
    """One run for machines; `span_id` and `call` are those of its first stop, else of its first warning."""
    mark = view.stop or view.warn
    return {
        "file": file,
        "run": view.id,
        "trace_id": view.trace_id.hex(),
        "verdict": view.verdict,
        "detector": mark.detector if mark else None,
        "action": view.stop.action if view.stop else None,
        "span_id": mark.span_id.hex() if mark else None,
        "call": mark.call if mark else None,
        "calls": view.calls,
        "findings": [
            {
                "detector": finding.detector,
                "level": finding.severity.value,
                "span_id": finding.span_id.hex(),
                "call": finding.call,
            }
            for finding in view.findings
        ],
        "input_tokens": view.input_tokens,
        "output_tokens": view.output_tokens,
        "cost_usd": usd(view.cost),
        "cost_after_usd": usd(view.cost_after),
        "unpriced_calls": view.unpriced_calls,
    }


def usd(cost: MicroUsd) -> float:
    """Money at the rim: US dollars."""
    return cost / 1_000_000
