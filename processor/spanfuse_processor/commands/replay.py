"""`spanfuse replay FILE|DIR ...`: judges recorded spans as the service would, by the recording's own clock.

Rule 1: all recordings are one stream: a run may go on in the next file. Rule 2: the same input gives the
same output, byte for byte. Rule 3: what cannot be read is said on stderr and skipped. It sends no directive
anywhere.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from spanfuse_processor.commands import recording
from spanfuse_processor.config import Config
from spanfuse_processor.config_loading import ConfigError, load_config
from spanfuse_processor.engine import (
    CallEnded,
    CallStarted,
    Dialect,
    Engine,
    GenaiPrices,
    MicroUsd,
    RawSpan,
    RunView,
    dialects_for,
)

HELP = (
    "Judge recorded spans (OTLP/JSON lines, plain or .gz) as the service would. Exit 1 when a run is stopped."
)

NS: Final = 1_000_000_000
FOREVER: Final = 1e12  # seconds
_START, _END, _END_AT_ONCE = 1, 0, 2  # at one moment: what was open ends first, then others start
COLUMNS: Final = ("run", "verdict", "detector", "call", "calls", "tokens", "cost USD", "after USD", "file")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to read, by which policy, and how to print it."""
    parser.add_argument("paths", nargs="+", type=Path, metavar="FILE|DIR", help="recordings, in this order")
    parser.add_argument(
        "--config", help="YAML file whose policy judges (default: SPANFUSE_CONFIG, else defaults)"
    )
    parser.add_argument("--output", choices=("text", "json"), default="text", help="a table, or JSON lines")
    parser.add_argument(
        "--starts",
        action="store_true",
        help="in true time order with starts, as a host inside the program sees it",
    )


def run(arguments: argparse.Namespace) -> int:
    """Exit 0 when nothing had to be stopped, 1 when something had, 2 when the input cannot be used."""
    try:
        config = load_config(arguments.config)
        files = recording.find(arguments.paths)
    except ConfigError as error:
        return _refuse(str(error))
    except FileNotFoundError as error:
        return _refuse(f"no such file or folder: {error}")
    replay = Replay(config)
    replay.read(files, arguments.starts)
    if not replay.has_read:
        return _refuse(_nothing(arguments.paths, files))
    rows = replay.rows()
    _print_json(rows) if arguments.output == "json" else _print_table(rows)
    return 1 if any(row["verdict"] == "stop" for row in rows) else 0


class Replay:
    """One engine that is told what was recorded."""

    def __init__(self, config: Config) -> None:
        # Every run is to be reported, so none is forgotten, however long ago it was in the recording's time.
        bounds = dataclasses.replace(config.policy.bounds, tombstone=FOREVER, tombstones=sys.maxsize)
        policy = dataclasses.replace(config.policy, bounds=bounds)
        self._dialects = dialects_for(policy, config.fingerprint_key.encode())
        self._engine = Engine(policy, GenaiPrices(), self._dialects)
        self._seen: dict[bytes, tuple[str, int]] = {}  # trace -> file, order of appearance
        self._now_ns = 0

    def read(self, files: Iterable[Path], starts: bool) -> None:
        """Feeds all spans to the engine: as they lie in the files, or in true time order with starts."""
        spans = self._spans(files)
        if not starts:
            for span in spans:
                self._at(span.end_ns)
                self._engine.ingest(span, self._now_ns / NS)
            return
        for event in in_time_order(spans, self._dialects):
            if isinstance(event, RawSpan):
                self._at(event.end_ns)
                self._engine.ingest(event, self._now_ns / NS)
            else:
                self._at(event.started_ns)
                self._engine.observe(event, self._now_ns / NS)

    @property
    def has_read(self) -> bool:
        """Whether there was any span: without one, no verdict says anything."""
        return bool(self._seen)

    def rows(self) -> list[dict[str, Any]]:
        """What there is to say of each run, in order of first appearance."""
        views = sorted(self._engine.runs(), key=lambda view: (self._seen[view.trace_id][1], view.number))
        return [_row(self._seen[view.trace_id][0], view) for view in views]

    def _spans(self, files: Iterable[Path]) -> Iterator[RawSpan]:
        for file in files:
            for span in recording.spans(file, _complain):
                if span.trace_id not in self._seen:
                    self._seen[span.trace_id] = (str(file), len(self._seen))
                yield span

    def _at(self, time_ns: int) -> None:
        """The recording's clock: the latest time so far."""
        if time_ns > self._now_ns:
            self._now_ns = time_ns
            deadline = self._engine.next_deadline()
            if deadline is not None and deadline <= time_ns / NS:
                self._engine.advance(time_ns / NS)


def in_time_order(spans: Iterable[RawSpan], dialects: Sequence[Dialect]) -> Iterator[CallStarted | RawSpan]:
    """Every span at its end, and the start of each call in its place before that."""
    moments: list[tuple[int, int, int, int, CallStarted | RawSpan]] = []
    for number, span in enumerate(spans):
        start, end = span.start_ns, span.end_ns
        event = next((found for dialect in dialects if (found := dialect.read(span)) is not None), None)
        if event is not None:
            moments.append((start, _START, -end, number, _start_of(event)))  # an outer call starts first
        moments.append((end, _END if end > start else _END_AT_ONCE, -start, number, span))  # and ends last
    moments.sort(key=lambda moment: moment[:4])
    for *_, moment in moments:
        yield moment


def _start_of(event: CallEnded) -> CallStarted:
    return CallStarted(
        **{field.name: getattr(event, field.name) for field in dataclasses.fields(CallStarted)}
    )


def _row(file: str, view: RunView) -> dict[str, Any]:
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
        "cost_usd": _usd(view.cost),
        "cost_after_usd": _usd(view.cost_after),
        "unpriced_calls": view.unpriced_calls,
    }


def _usd(cost: MicroUsd) -> float:
    return cost / 1_000_000


def _print_json(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        _say(json.dumps(row, separators=(",", ":")))


def _print_table(rows: list[dict[str, Any]]) -> None:
    lines = [COLUMNS, *map(_cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(COLUMNS))]
    for line in lines:
        _say("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    stopped = sum(row["verdict"] == "stop" for row in rows)
    after = sum(row["cost_after_usd"] for row in rows)
    _say(f"{len(rows)} runs, {stopped} stopped, {after:.6f} USD spent after a stop")


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        row["run"],
        row["verdict"],
        row["detector"] or "-",
        str(row["call"] or "-"),
        str(row["calls"]),
        str(row["input_tokens"] + row["output_tokens"]),
        f"{row['cost_usd']:.6f}",
        f"{row['cost_after_usd']:.6f}",
        row["file"],
    )


def _say(line: str) -> None:
    print(line)  # noqa: T201 - this is a command line


def _complain(line: str) -> None:
    print(f"spanfuse replay: {line}", file=sys.stderr)  # noqa: T201


def _nothing(paths: Sequence[Path], files: Sequence[Path]) -> str:
    where = ", ".join(map(str, paths))
    if not files:
        return f"nothing to read: no file in {where} ends in {', '.join(recording.SUFFIXES)}"
    return f"nothing was judged: no span could be read from {where}"


def _refuse(problem: str) -> int:
    _complain(problem)
    return 2
