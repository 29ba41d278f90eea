"""The timeline: each call is a bar from its begin to its end, each agent a row; of many runs, each is one.

Rule 1: rows and bars are bounded, what is left out is said. Rule 2: calls of a row that lie within the same
pixels are one bar, which says how many they are; a failed one is never hidden by another. It reads no store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element

from spanfuse_processor.engine.wording import usd
from spanfuse_processor.reporting.frame import RIGHT, TOP, WIDTH, clock_marks, stop_lines
from spanfuse_processor.reporting.material import Material, runs_of
from spanfuse_processor.reporting.scales import Scale
from spanfuse_processor.reporting.tags import tag
from spanfuse_processor.store import StepRow
from spanfuse_processor.terminal import cut

MOST_ROWS: Final = 24
ROW: Final = 24
_NAME: Final = 22  # characters
_LEAST: Final = 2.0  # pixels of a bar
_SHAPES: Final = {"model": "model", "embeddings": "model", "tool": "tool"}


class _Bar(NamedTuple):
    x: float
    end: float
    kind: str
    failed: bool
    calls: int
    title: str


def timeline(material: Material, time: Scale) -> Element:
    """The drawing."""
    rows, left_out = _rows(material)
    bottom = TOP + ROW * max(1, len(rows))
    notes = [tag("text", left_out, x=4, y=bottom + 36, class_="mark")] if left_out else None
    return tag(
        "svg",
        tag("title", "Calls over time"),
        clock_marks(time, bottom),
        [_row(name, steps, TOP + ROW * place, time) for place, (name, steps) in enumerate(rows)],
        stop_lines(material, time, TOP, bottom),
        notes,
        viewBox=f"0 0 {WIDTH} {bottom + (44 if left_out else 26)}",
        class_="timeline",
        role="img",
    )


def _rows(material: Material) -> tuple[list[tuple[str, list[StepRow]]], str]:
    """By agent for one run, by run for many; and what is said of those that are left out."""
    if material.run:
        return _grouped(material.steps, lambda step: step.agent or "(no agent)", "agents")
    dearest = {each.run: place for place, each in enumerate(runs_of(material.steps))}
    rows, left_out = _grouped(
        sorted(material.steps, key=lambda step: dearest[step.run]),
        lambda step: step.run,
        "runs, the cheapest,",
    )
    return [(_named(steps[0]), sorted(steps, key=lambda step: step.ended)) for _, steps in rows], left_out


def _named(step: StepRow) -> str:
    """A run by what it is for, and by the beginning of its id."""
    return " ".join(filter(None, (step.run[:6], step.feature or step.agent)))


def _grouped(
    steps: Sequence[StepRow], key: Callable[[StepRow], str], what: str
) -> tuple[list[tuple[str, list[StepRow]]], str]:
    groups: dict[str, list[StepRow]] = {}
    for step in steps:
        groups.setdefault(key(step), []).append(step)
    rows = list(groups.items())
    more = len(rows) - MOST_ROWS
    return rows[:MOST_ROWS], f"{more} more {what} are not drawn" if more > 0 else ""


def _row(name: str, steps: Sequence[StepRow], y: float, time: Scale) -> Element:
    shown = list(_bars(steps, time))
    bars = [
        tag(
            "rect",
            tag("title", bar.title),
            x=bar.x,
            y=y + 4,
            width=max(_LEAST, bar.end - bar.x),
            height=ROW - 8,
            class_=f"{bar.kind} failed" if bar.failed and bar.calls == 1 else bar.kind,
        )
        for bar in shown
    ]
    bars += [_fault(bar, y) for bar in shown if bar.failed and bar.calls > 1]
    label = tag(
        "text", tag("title", name), cut(name, _NAME), x=RIGHT - 8, y=y + 16, class_="name", text_anchor="end"
    )
    return tag("g", label, bars)


def _fault(bar: _Bar, y: float) -> Element:
    """Says of many calls that some failed."""
    at = {"x": bar.x, "y": y + ROW - 7, "width": bar.end - bar.x, "height": 3}
    return tag("rect", tag("title", bar.title), class_="fault", **at)


def _bars(steps: Sequence[StepRow], time: Scale) -> Iterator[_Bar]:
    """Containers (agents, workflows) are left out: their calls are there."""
    last: _Bar | None = None
    for step in steps:
        kind = _SHAPES.get(step.kind)
        if kind is None:
            continue
        x = time.at(max(step.started or step.ended, time.low))
        bar = _Bar(x, max(time.at(step.ended), x + _LEAST), kind, bool(step.failed), 1, told(step))
        if last is not None and bar.end - last.x < 2 * _LEAST:
            last = _both(last, bar)
            continue
        if last is not None:
            yield last
        last = bar
    if last is not None:
        yield last


def _both(one: _Bar, other: _Bar) -> _Bar:
    """Two that lie within the same pixels."""
    calls = one.calls + other.calls
    kind = one.kind if one.kind == other.kind else "mixed"
    failed = one.failed or other.failed
    title = f"{calls} calls, some of them failed" if failed else f"{calls} calls"
    return _Bar(one.x, max(one.end, other.end), kind, failed, calls, title)


def told(step: StepRow) -> str:
    """A call in one line."""
    parts = [
        f"call {step.number}: " if step.number else "",
        step.tool or step.model or step.name or step.kind,
    ]
    if step.started:
        parts.append(f", {step.ended - step.started:.3g} s")
    if step.input_tokens or step.output_tokens:
        parts.append(f", {step.input_tokens:,}+{step.output_tokens:,} tokens")
    if step.cost:
        parts.append(f", {usd(step.cost)} USD")
    if step.failed:
        parts.append(f", failed: {step.error or 'error'}")
    return "".join(parts)
