"""Plays a time line to an engine, and writes down what it says."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from tests.scenarios.timeline import Moment, Timeline

from spanfuse_processor.engine import (
    CallStarted,
    Engine,
    Level,
    NoPrices,
    Order,
    OrderKind,
    RawSpan,
    Verdict,
    dialects_for,
)


def play(timeline: Timeline) -> str:
    """What an engine says, one verdict a line."""
    return "".join(f"{written(at, verdict)}\n" for at, verdict in said(timeline))


def said(timeline: Timeline) -> Iterator[tuple[float, Verdict]]:
    """What an engine says, and when."""
    engine = Engine(timeline.policy, NoPrices())
    for moment in timeline.moments:
        yield from ((moment.at, verdict) for verdict in _tell(engine, timeline, moment))


def _tell(engine: Engine, timeline: Timeline, moment: Moment) -> tuple[Verdict, ...]:
    if moment.what == "advance":
        return engine.advance(moment.at)
    if moment.key is not None:
        return engine.command(Order(OrderKind(moment.what), moment.key, "because", "an operator"), moment.at)
    if moment.beat is not None:
        return engine.observe(moment.beat, moment.at)
    assert moment.span is not None
    if moment.what == "start":
        return engine.observe(begun(moment.span, timeline), moment.at)
    return engine.ingest(moment.span, moment.at)


def begun(span: RawSpan, timeline: Timeline) -> CallStarted:
    """The start of the call that a span describes."""
    read = (dialect.read(span) for dialect in dialects_for(timeline.policy))
    event = next(event for event in read if event is not None)
    return CallStarted(**{each.name: getattr(event, each.name) for each in dataclasses.fields(CallStarted)})


def written(at: float, verdict: Verdict) -> str:
    """A verdict as one line: when, about what, what was seen, what moved."""
    about = f"run/{verdict.run}" if verdict.level is Level.RUN else f"{verdict.level.value} of {verdict.run}"
    words = [f"{at:g}s", about]
    finding, directive, removal, moved = (
        verdict.finding,
        verdict.directive,
        verdict.removal,
        verdict.transition,
    )
    if finding is not None:
        words += [finding.severity.value, finding.detector, f"call {finding.call}: {finding.message}"]
    elif directive is not None:
        words += [directive.reason, directive.message]
    if directive is not None and directive.mode.value != "enforce":
        words.append(f"(only {directive.mode.value})")
    if removal is not None:
        words.append(f"withdrawn: {removal.reason}")
    if moved is not None:
        words.append(f"{moved.before.name} -> {moved.after.name} {moved.generation}")
    return "  ".join(words)
