"""What the figures have to be; one that is missed says by what. It does not know how a page is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tests.accuracy.forecast import scoring
from tests.accuracy.forecast.budgets import AVERAGE, PAGE, PAGES, STATIC, US_SHORT
from tests.accuracy.forecast.measuring import (
    DAYS,
    FOUR_AGENTS,
    HOURS,
    ONE_AGENT,
    PLACES,
    QUARTERS,
    WEEKS,
    Measured,
)
from tests.accuracy.forecast.runs import US
from tests.accuracy.promises import Promise

ERROR: Final = {HOURS.name: 0.035, QUARTERS.name: 0.035, DAYS.name: 0.022, WEEKS.name: 0.037}
AGENTS: Final = (ONE_AGENT.name, FOUR_AGENTS.name)
HOURLY: Final = (HOURS.name, QUARTERS.name, *AGENTS)
DETECTED: Final = dict.fromkeys(HOURLY, 0.91) | {DAYS.name: 0.98, WEEKS.name: 1.0}
FALSE: Final = dict.fromkeys(HOURLY, 0.09) | {DAYS.name: 0.05, WEEKS.name: 0.05}
TAU: Final = ("tau_airline_gpt4o", "tau_retail_agentrx")
CAUGHT: Final = 0.999
STEPS: Final = 0.10
COVERED, WITHIN = 0.90, 0.05
BAND, BAND_WITHIN = 0.80, 0.08


def promises(measured: Measured) -> list[Promise]:
    """All of them."""
    budgets = (*_errors(measured), *_alarms(measured), *_runaways(measured))
    return [*budgets, *_bands(measured), *_steps(measured), *_finals(measured)]


def _errors(measured: Measured) -> Iterator[Promise]:
    """Bursts of agents are harder than what is promised elsewhere: better than others, then."""
    for name, bound in ERROR.items():
        found = scoring.errors(measured.outcomes.get(name, []), US_SHORT)
        said = f"{found.middle:.1%} of {found.count}" if found else "nothing"
        kept = found is not None and found.middle <= bound
        yield Promise(f"{name}: exhaustion off by at most {bound:.1%} of the period", said, kept)
    for name in AGENTS:
        mine, others = (scoring.errors(measured.outcomes.get(name, []), each) for each in (US_SHORT, AVERAGE))
        said = f"{mine.middle:.1%}, {others.middle:.1%}" if mine and others else "nothing"
        kept = mine is not None and others is not None and mine.middle <= others.middle
        yield Promise(f"{name}: no worse than the average since the start", said, kept)


def _alarms(measured: Measured) -> Iterator[Promise]:
    for name, bound in DETECTED.items():
        found = scoring.alarms(measured.outcomes.get(name, []), PAGE)
        yield Promise(
            f"{name}: paged before at least {bound:.0%} of the hits",
            f"{found.detected:.1%} of {found.hits}",
            found.hits > 0 and found.detected >= bound,
        )
        yield Promise(
            f"{name}: paged for at most {FALSE[name]:.0%} of limits with a quarter of room",
            f"{found.false:.1%} of {found.roomy}",
            found.roomy > 0 and found.false <= FALSE[name],
        )


def _runaways(measured: Measured) -> Iterator[Promise]:
    """All but those that nobody could tell, within a burst or at the last moment of a period."""
    found = [scoring.caught(measured.runaways.get(place.name, []), PAGES) for place in PLACES]
    caught, of = sum(each.caught for each in found), sum(each.of for each in found)
    early = sum(each.early for each in found)
    what = f"at least {CAUGHT:.1%} of runaways paged in time"
    yield Promise(what, f"{caught} of {of}, and {early} paged before", 0 < CAUGHT * of <= caught)
    seen = [each for place in PLACES for each in measured.runaways.get(place.name, []) if not each.blind]
    told = sum(PAGES in each.fired or STATIC in each.fired for each in seen)
    what = "every runaway told of before its limit, by a page or by the mark at 80 %"
    yield Promise(what, f"{told} of {len(seen)}", 0 < len(seen) == told)


def _bands(measured: Measured) -> Iterator[Promise]:
    held = [each.held for each in measured.totals.get(DAYS.name, []) if each.held is not None]
    found = scoring.mean(held)
    what = f"{DAYS.name}: bands of {BAND:.0%} hold within {BAND_WITHIN:.0%}"
    yield Promise(what, f"{found:.1%} of {len(held)}", bool(held) and abs(found - BAND) <= BAND_WITHIN)


def _steps(measured: Measured) -> Iterator[Promise]:
    half = [each for source in TAU for each in measured.steps.get(source, []) if each.part == 0.5]
    found = scoring.spread(each.errors[US] for each in half)
    said = f"{found.middle:.0%} of {found.count}, {found.mean:.0%} on average" if found else "nothing"
    kept = found is not None and found.middle <= STEPS
    yield Promise(f"tau, at half of the cap: steps off by at most {STEPS:.0%}", said, kept)


def _finals(measured: Measured) -> Iterator[Promise]:
    for source, totals in measured.finals.items():
        held = [each.held for each in totals if each.held is not None]
        if held:
            covered = scoring.mean(held)
            kept = abs(covered - COVERED) <= WITHIN
            what = f"{source}: {COVERED:.0%} intervals hold within {WITHIN:.0%}"
            yield Promise(what, f"{covered:.1%} of {len(held)}", kept)
