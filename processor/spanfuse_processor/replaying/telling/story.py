"""One run, told to a person: what it was, what was found, what was called.

Rule 1: of each verdict: the rule, the words, the first and the last call, what would have cleared it, what
the run had cost and went on to cost. Rule 2: where loops could not be judged, that is said. It does not
judge.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from spanfuse_processor.engine import Finding, RunView, Severity
from spanfuse_processor.replaying.journal import DIGITS, Calls, Step
from spanfuse_processor.replaying.labels import Label
from spanfuse_processor.replaying.telling.timeline import Mark, timeline
from spanfuse_processor.replaying.telling.words import count, money
from spanfuse_processor.terminal import Screen, Style, printable

STYLES: Final = {"stop": Style.RED, "warn": Style.YELLOW, "ok": Style.PLAIN}
UNJUDGED: Final = "loops not judged: no arguments or results in these spans"
MOST_FINDINGS: Final = 6
"""Verdicts that are explained; the first stop is always one of them."""

_MARGIN: Final = " " * 7


class Told(NamedTuple):
    """A run, with the file in which it began, its calls, and what people know of it."""

    file: str
    view: RunView
    calls: Calls
    label: Label | None = None

    @property
    def unjudged(self) -> bool:
        """Whether tools were called and none of the calls could be compared."""
        return self.calls.tools > 0 and not self.calls.compared

    @property
    def calls_after(self) -> int:
        """Calls that came after the stop."""
        return max(0, self.view.calls - self.view.stop.call) if self.view.stop is not None else 0


def tell(run: Told, screen: Screen) -> None:
    """Writes what there is to say of a run."""
    view, calls = run.view, run.calls
    screen.say(f"run {printable(view.id)}: {_outcome(view)}", Style.BOLD)
    for line in _facts(run):
        screen.wrap(printable(line), "  ", "    ")
    shown = _shown(view.findings)
    known = {step.span_id: step for step in calls.steps}
    for finding in shown:
        _explain(finding, run, known, screen)
    if len(shown) < len(view.findings):
        screen.say(f"  {count(len(view.findings) - len(shown), 'more verdict')}, not shown", Style.DIM)
    if calls.steps:
        screen.say()
        for text, style in timeline(calls.steps, _marks(shown, run), screen.width - 2):
            screen.say(f"  {text}", style)
    if calls.forgotten:
        screen.say(f"  {count(calls.forgotten, 'call')} not kept: the recording is too long", Style.DIM)


def _outcome(view: RunView) -> str:
    if view.stop is not None:
        asked = view.stop.action
        mode = "" if asked == "stop" else f" (mode {asked}: it would go on)"
        return f"stop at call {view.stop.call} of {view.calls} by {view.stop.detector}{mode}"
    if view.warn is not None:
        return f"warning at call {view.warn.call} of {view.calls} by {view.warn.detector}"
    return f"ok, {count(view.calls, 'call')}"


def _facts(run: Told) -> Iterator[str]:
    view, calls, who = run.view, run.calls, run.view.identity
    began = datetime.fromtimestamp(view.started_ns // 1_000_000_000, UTC)
    facts = [
        run.file,
        f"{began:%Y-%m-%d %H:%M:%S} UTC",
        f"{view.input_tokens:,}+{view.output_tokens:,} tokens",
        f"{money(view.cost)} USD",
        f"{count(view.unpriced_calls, 'call')} without a price" if view.unpriced_calls else "",
        f"labelled {run.label.text}" if run.label is not None else "",
    ]
    yield ", ".join(filter(None, facts))
    named = {"service": who.service, "tenant": who.tenant, "feature": who.feature, "user": who.user}
    if any(named.values()):
        yield ", ".join(f"{what} {name}" for what, name in named.items() if name)
    if run.unjudged:
        yield UNJUDGED
    elif calls.compared < calls.tools:
        blind = count(calls.tools - calls.compared, "tool call")
        yield f"loops judged in part: {blind} of {calls.tools:,} came without arguments"


def _shown(findings: Sequence[Finding]) -> list[Finding]:
    """The first stop and what led to it: what came after it need not have come."""
    stop = _first_stop(findings)
    if stop is None:
        return list(findings[:MOST_FINDINGS])
    before = itertools.takewhile(lambda finding: finding is not stop, findings)
    return [*itertools.islice(before, MOST_FINDINGS - 1), stop]


def _first_stop(findings: Sequence[Finding]) -> Finding | None:
    return next((finding for finding in findings if finding.severity is Severity.STOP), None)


def _explain(finding: Finding, run: Told, known: Mapping[bytes, Step], screen: Screen) -> None:
    severity = finding.severity.value
    screen.wrap(printable(finding.message), f"  {severity.upper():5}", _MARGIN, STYLES[severity])
    rule = f"{finding.detector}.{finding.rule}" if finding.rule else finding.detector
    first = known.get(finding.first_span_id)
    since = f"from call {first.number} to" if first and finding.first_span_id != finding.span_id else "at"
    digests = " ".join(each[:DIGITS] for each in finding.prints)
    evidence = [
        f"rule {rule} ({finding.reason}): {finding.observed:,.6g}, limit {finding.limit:,.6g}",
        f"{since} call {finding.call}",
        f"digests {digests}" if digests else "",
    ]
    cleared = finding.cleared_by.rstrip(". ")
    for line in (
        "; ".join(filter(None, evidence)),
        f"would have been cleared by {cleared}" if cleared else "",
        _cost(finding, run),
    ):
        if line:
            screen.wrap(printable(line), _MARGIN, _MARGIN + "  ")


def _cost(finding: Finding, run: Told) -> str:
    """What the run had cost by then and, of the first stop, went on to cost."""
    if finding is not _first_stop(run.view.findings):
        return f"cost so far {money(finding.cost)} USD" if finding.cost else ""
    before = run.view.cost - run.view.cost_after
    return f"cost so far {money(before)} USD; after it {_after(run)}"


def _after(run: Told) -> str:
    return f"{count(run.calls_after, 'call')}, {money(run.view.cost_after)} USD"


def _marks(shown: Sequence[Finding], run: Told) -> dict[bytes, Mark]:
    """What is said at which call of the timeline; of two things about one call, both."""
    marks: dict[bytes, Mark] = {}
    for finding in shown:
        if finding.first_span_id and finding.first_span_id != finding.span_id:
            marks.setdefault(finding.first_span_id, Mark("first", Style.BOLD))
    for finding in sorted(shown, key=lambda finding: finding.severity is Severity.STOP):
        stops = finding is _first_stop(shown)
        verdict = f"{finding.severity.value.upper()} {finding.detector}"
        before = marks.get(finding.span_id)
        if before is not None and before.verdict != verdict:
            verdict = f"{verdict}, {before.verdict}"
        after = f"-- stopped here; after it {_after(run)} --" if stops else ""
        marks[finding.span_id] = Mark(verdict, STYLES[finding.severity.value], after)
    return marks
