"""The page: what it came to, why something was stopped, the drawings, the events and the calls.

Rule 1: the first screen answers what happened, what it cost and why it was stopped. Rule 2: everything is in
the one file: no script, no font, no picture from elsewhere; a policy in it forbids the browser to fetch any.
Rule 3: rows are bounded, and what is left out is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import Final
from xml.etree.ElementTree import Element, tostring

from spanfuse_processor.engine.wording import duration, usd
from spanfuse_processor.reporting.curve import curve, words
from spanfuse_processor.reporting.frame import axis_of
from spanfuse_processor.reporting.material import Material, body_of, runs_of
from spanfuse_processor.reporting.tags import Child, tag
from spanfuse_processor.reporting.timeline import timeline, told
from spanfuse_processor.store import EventRow, StepRow

MOST_EVENTS: Final = 300
MOST_CALLS: Final = 500
MOST_RUNS: Final = 100
MOST_STOPS: Final = 3  # that are told of in full
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
_INCOMPLETE: Final = "There are more calls: this page and all its figures are about the latest {:,}."
_QUIET: Final = frozenset({"effect"})
"""Kinds of events that people need not see in a list."""


def page(material: Material) -> str:
    """The whole page as text."""
    title = _title(material)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("title", f"spanfuse: {title}"),
        tag("style", files(__package__).joinpath("page.css").read_text("utf-8")),
    )
    body = tag("body", _opening(material, title), _drawings(material), _tables(material))
    return "<!doctype html>\n" + tostring(tag("html", head, body, lang="en"), "unicode", method="html") + "\n"


def _title(material: Material) -> str:
    if not material.run:
        return f"{moment(material.since)} to {moment(material.until)} UTC"
    return f"run {material.run}"


def _opening(material: Material, title: str) -> list[Child]:
    first = material.steps[0] if material.steps else None
    whose = (
        [each for each in (first.service, first.feature, first.agent) if each]
        if first and material.run
        else []
    )
    when = f"{moment(material.since)} UTC, {duration(material.until - material.since)}"
    return [
        tag("h1", title),
        tag("p", " / ".join([*whose, when] if material.run else [when]), class_="pale"),
        tag("div", [_figure(*each) for each in _figures(material)], class_="figures"),
        _incomplete(material),
        *([_verdict(event, material.run) for event in material.stops[:MOST_STOPS]] or _warned(material)),
        _left_out(len(material.stops), MOST_STOPS, "stops are in the list below and"),
    ]


def _incomplete(material: Material) -> Child:
    said = _INCOMPLETE.format(len(material.steps))
    return None if material.complete else tag("p", said, class_="verdict warn")


def _figures(material: Material) -> list[tuple[str, str]]:
    steps = material.steps
    asked = sum(step.input_tokens for step in steps if step.counts)
    came = sum(step.output_tokens for step in steps if step.counts)
    figures = [
        (f"{len(steps):,}", "calls"),
        (f"{sum(bool(step.failed) for step in steps):,}", "of them failed"),
        (f"{asked + came:,}", f"tokens, {came:,} of them output"),
        (f"${usd(material.cost)}", "cost"),
    ]
    if material.stops:
        figures.append((f"{len(material.stops):,}", "stopped" if material.run else "stops"))
        if material.run:
            figures.append((f"${usd(material.after(material.stops[0].at))}", "spent after the stop"))
    if not material.run:
        figures.insert(0, (f"{len(runs_of(steps)):,}", "runs"))
    return figures


def _figure(value: str, what: str) -> Element:
    return tag("div", tag("b", value), tag("span", what))


def _warned(material: Material) -> list[Child]:
    """Without a stop: the first warning, or that there was nothing."""
    first = next((event for event in material.events if event.kind in ("withheld", "warn")), None)
    if first is not None:
        return [_verdict(first, material.run)]
    return [tag("p", "Nothing was stopped, and nothing was warned of.", class_="pale")]


def _verdict(event: EventRow, run: str) -> Element:
    said = body_of(event)
    kind = "stop" if event.kind == "trip" else "warn"
    rule = ".".join(each for each in (said.get("detector"), said.get("rule")) if each)
    what = {"trip": "Stopped", "withheld": "A stop was due, and only told"}.get(event.kind, "Warned")
    whose = (
        ""
        if run
        else ", ".join(filter(None, (event.agent or event.feature, event.run and f"run {event.run}")))
    )
    by = "".join((f" by {rule}" if rule else "", f": {whose}" if whose else ""))
    lines: list[Child] = [
        tag("p", tag("b", f"{what} at {moment(event.at)} UTC"), by),
        tag("p", str(said.get("message") or said.get("words") or "")),
    ]
    if said.get("observed") is not None and said.get("limit") is not None:
        at = f" at call {said['call']}" if said.get("call") else ""
        lines.append(
            tag("p", f"Seen: {said['observed']:,.6g}, limit {said['limit']:,.6g}{at}.", class_="pale")
        )
    if said.get("cleared_by"):
        lines.append(tag("p", f"Would have been cleared by {said['cleared_by']}.", class_="pale"))
    return tag("div", lines, class_=f"verdict {kind}")


def _drawings(material: Material) -> list[Child]:
    if not material.steps:
        return [tag("p", "No call is on record for this.")]
    time = axis_of(material)
    marks = [
        ("model", "model"),
        ("tool", "tool"),
        ("mixed", "both"),
        ("failed", "failed"),
        ("halt", "stopped"),
    ]
    key = tag(
        "p", [each for kind, text in marks for each in (tag("span", class_=kind), text)], class_="pale key"
    )
    return [
        tag("h2", "Calls"),
        key,
        tag("div", timeline(material, time), class_="scroll"),
        tag("h2", "Cost"),
        tag("p", words(material), class_="pale"),
        tag("div", curve(material, time), class_="scroll"),
    ]


def _tables(material: Material) -> list[Child]:
    events = [event for event in material.events if event.kind not in _QUIET]
    parts: list[Child] = []
    if events:
        parts += [
            tag("h2", "What was said and done"),
            _events(events),
            _left_out(len(events), MOST_EVENTS, "events"),
        ]
    if not material.run:
        runs = runs_of(material.steps)
        parts += [tag("h2", "Runs, dearest first"), _runs(material), _left_out(len(runs), MOST_RUNS, "runs")]
    if material.run and material.steps:
        listed = tag("details", tag("summary", "Every call"), _calls(material.steps), class_="calls")
        parts += [listed, _left_out(len(material.steps), MOST_CALLS, "calls, those in the middle,")]
    written = f"Made by spanfuse at {moment(material.made)} UTC. Times are UTC; costs are those of the bill."
    return [*parts, tag("p", written, class_="pale")]


def _events(events: Sequence[EventRow]) -> Element:
    rows = []
    for event in events[:MOST_EVENTS]:
        said = body_of(event)
        text = said.get("message") or said.get("words") or said.get("why") or said.get("reason") or ""
        cells = [moment(event.at), event.kind, said.get("budget") or said.get("detector") or "", event.agent]
        rows.append(([*map(str, cells), str(text)], event.kind))
    return _table(("time", "what", "by", "agent", ">why"), rows)


def _runs(material: Material) -> Element:
    stopped = {event.run for event in material.stops}
    rows = [
        (
            [each.run, each.feature, each.agent, moment(each.first), duration(each.last - each.first)]
            + [
                f"{each.calls:,}",
                f"{each.failed:,}",
                usd(each.cost),
                "stopped" if each.run in stopped else "",
            ],
            "trip" if each.run in stopped else "",
        )
        for each in runs_of(material.steps)[:MOST_RUNS]
    ]
    columns = (">run", "feature", "agent", "began", "lasted", "#calls", "#failed", "#USD", "")
    return _table(columns, rows)


def _calls(steps: Sequence[StepRow]) -> Element:
    half = MOST_CALLS // 2
    shown = steps if len(steps) <= MOST_CALLS else [*steps[:half], *steps[-half:]]
    rows = [
        ([moment(step.ended), step.kind, step.agent, told(step)], "failed" if step.failed else "")
        for step in shown
    ]
    return _table(("ended", "kind", "agent", ">call"), rows)


def _table(columns: Sequence[str], rows: Sequence[tuple[Sequence[str], str]]) -> Element:
    """A column of numbers begins with ``#``, one that may wrap with ``>``."""
    kinds = ["n" if name[:1] == "#" else "w" if name[:1] == ">" else "t" for name in columns]
    head = tag(
        "tr", [tag("th", name.lstrip("#>"), class_=kind) for name, kind in zip(columns, kinds, strict=True)]
    )
    body = [
        tag(
            "tr",
            [tag("td", cell, class_=kind) for cell, kind in zip(cells, kinds, strict=True)],
            class_=mark or None,
        )
        for cells, mark in rows
    ]
    return tag("div", tag("table", tag("thead", head), tag("tbody", body)), class_="scroll")


def _left_out(there: int, most: int, what: str) -> Child:
    return tag("p", f"{there - most:,} more {what} are left out.", class_="pale") if there > most else None


def moment(at: float) -> str:
    """A moment to the second, UTC.

    >>> moment(1_780_000_000.4)
    '2026-05-28 20:26:40'
    """
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"
