"""`docs/forecast.md`, written from what was measured.

Rule 1: the same figures give the same page, byte for byte: no times, nothing of the machine. Rule 2: what is
weak is on the page with what is good. It does not measure.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.accuracy.forecast import scoring, words
from tests.accuracy.forecast.budgets import (
    AVERAGE,
    LINEAR_LONG,
    LINEAR_SHORT,
    PAGE,
    PAGES,
    STATIC,
    US_LONG,
    US_SHORT,
    before_reset,
    soon,
)
from tests.accuracy.forecast.measuring import PLACES, Measured
from tests.accuracy.forecast.promises import promises
from tests.accuracy.forecast.runs import AT, FORM, LAST, MEAN, US, Total
from tests.accuracy.forecast.runs import PARTS as CAP_PARTS
from tests.accuracy.forecast.totals import PARTS, Said
from tests.accuracy.markdown import NOTHING, table

NAMES = [place.name for place in PLACES]
LINES = (US_SHORT, US_LONG, LINEAR_SHORT, LINEAR_LONG, AVERAGE)
ALARMS = (
    PAGE,
    PAGES,
    *(soon(peer) for peer in (LINEAR_SHORT, LINEAR_LONG, AVERAGE)),
    *(before_reset(peer) for peer in (LINEAR_SHORT, LINEAR_LONG, AVERAGE)),
    STATIC,
)


def written(measured: Measured) -> str:
    """The page."""
    return "\n\n".join(section.strip() for section in _sections(measured)) + "\n"


def _sections(measured: Measured) -> Iterator[str]:
    yield "# How right the forecast of spend is"
    yield words.INTRODUCTION
    yield _data(measured)
    yield "## When a budget runs out\n\n" + words.ENDS.strip()
    yield _ends(measured)
    yield "## Alarms\n\n" + words.ALARMS.strip()
    yield _alarms(measured)
    yield "## Runaways\n\n" + words.RUNAWAYS.strip()
    yield _runaways(measured)
    yield "## What a period comes to\n\n" + words.TOTALS.strip()
    yield _totals(measured)
    yield "## Steps until the cap of a run\n\n" + words.STEPS.strip()
    yield _steps(measured)
    yield "## What a run comes to\n\n" + words.FINALS.strip()
    yield _finals(measured)
    yield words.WEAK
    yield "## What is promised"
    yield _promised(measured)
    yield words.READING


def _data(measured: Measured) -> str:
    rows = []
    for name in NAMES:
        outcomes, runaways = measured.outcomes[name], measured.runaways[name]
        hits = sum(each.hit is not None for each in outcomes)
        rows.append(
            [name, len({id(each) for each in outcomes}) // 11, hits, len(outcomes) - hits, len(runaways)]
        )
    return table(("period", "of them", "limits that are hit", "limits that are not", "runaways"), rows)


def _ends(measured: Measured) -> str:
    rows = []
    for name in LINES:
        found = [scoring.errors(measured.outcomes[place], name) for place in NAMES]
        rows.append([name, *(f"{each.middle:.1%} ({each.tail:.0%})" if each else NOTHING for each in found)])
    return table(("", *NAMES), rows)


def _alarms(measured: Measured) -> str:
    rows = []
    for name in ALARMS:
        cells = []
        for place in NAMES:
            found = scoring.alarms(measured.outcomes[place], name)
            cells.append(
                f"{found.detected:.1%}, {_part(found.lead)} before; {found.false:.1%} false, {found.near:.0%}"
            )
        rows.append([name, *cells])
    return table(("", *NAMES), rows)


def _runaways(measured: Measured) -> str:
    rows = []
    for name in (PAGE, PAGES, soon(LINEAR_SHORT), soon(AVERAGE), STATIC):
        cells = []
        for place in NAMES:
            found = scoring.caught(measured.runaways[place], name)
            cells.append(
                f"{found.caught} of {found.of}, after {_part(found.delay)}, {_part(found.lead)} before; "
                f"{found.early} early"
            )
        rows.append([name, *cells])
    blind = [f"{sum(each.blind for each in measured.runaways[place])}" for place in NAMES]
    return table(("", *NAMES), [*rows, ["left out: no moment to speak", *blind]])


def _totals(measured: Measured) -> str:
    rows = []
    for place in NAMES:
        for part in PARTS:
            said = [each for each in measured.totals[place] if each.part == part]
            errors = [
                scoring.spread(each.errors[name] for each in said if name in each.errors)
                for name in ("spanfuse", LINEAR_SHORT, LINEAR_LONG, AVERAGE)
            ]
            cells = [f"{each.middle:.0%} ({each.tail:.0%})" if each else NOTHING for each in errors]
            rows.append([place, f"{part:.0%}", len(said), *cells, *_band(said)])
    head = ("period", "over", "n", "spanfuse", LINEAR_SHORT, LINEAR_LONG, AVERAGE, "bands that hold", "width")
    return table(head, rows)


def _band(said: list[Said]) -> tuple[str, str]:
    banded = [each for each in said if each.held is not None]
    width = scoring.spread(each.width for each in banded)
    if width is None:
        return NOTHING, NOTHING
    held = sum(each.held is True for each in banded)
    return f"{held / len(banded):.0%} of {len(banded)}", f"{width.middle:.2f}"


def _steps(measured: Measured) -> str:
    rows = []
    for source, steps in measured.steps.items():
        for part in CAP_PARTS:
            asked = [each for each in steps if each.part == part]
            if not asked:
                continue
            errors = [
                scoring.spread(each.errors[name] for each in asked if name in each.errors)
                for name in (US, FORM, LAST, MEAN)
            ]
            cells = [
                f"{each.middle:.0%}, {each.mean:.0%} ({each.tail:.0%})" if each else NOTHING
                for each in errors
            ]
            held = scoring.mean([each.held for each in asked])
            rows.append([source, f"{part:.0%}", len(asked), *cells, f"{held:.0%}"])
    return table(("source", "of the cap spent", "n", "spanfuse", FORM, LAST, MEAN, "in the interval"), rows)


def _finals(measured: Measured) -> str:
    rows = [
        _final(source, step, [each for each in totals if each.step == step])
        for source, totals in measured.finals.items()
        for step in AT
    ]
    head = ("source", "step", "said of", "median error", "intervals that hold", "high over low")
    return table(head, [row for row in rows if row])


def _final(source: str, step: int, asked: list[Total]) -> list[object]:
    error = scoring.spread(each.error for each in asked if each.error is not None)
    ratio = scoring.spread(each.ratio for each in asked if each.ratio is not None)
    if error is None or ratio is None:
        return []
    held = sum(each.held is True for each in asked) / error.count
    row = [source, step, f"{error.count} of {len(asked)}", f"{error.middle:.0%}"]
    return [*row, f"{held:.0%}", f"{ratio.middle:.1f}"]


def _promised(measured: Measured) -> str:
    rows = [(each.what, each.found, "kept" if each.kept else "**missed**") for each in promises(measured)]
    return table(("promise", "found", ""), rows)


def _part(share: float | None) -> str:
    return NOTHING if share is None else f"{share:.1%}"
