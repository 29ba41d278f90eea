"""The `budgets` section of a policy, as YAML gives it, to `Budget`s.

Rule 1: every problem is a `PolicyError` with the path of the field. Rule 2: fields that mean nothing together
are refused, rather than one of them passed over. Rule 3: a budget that names no mode has the policy's. It
does not know files, and it keeps no count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any, Final
from zoneinfo import ZoneInfo, available_timezones

from spanfuse_processor.engine.budget import Budget, Mark, Measure, Period, Reaction
from spanfuse_processor.engine.budget_section import (
    BudgetSection,
    DegradeSection,
    MarkSection,
    Weekday,
    amount,
    clock,
    duration,
    listed,
    share,
)
from spanfuse_processor.engine.checking import Disagreement, Path, build, fields_of, mapping, unknown
from spanfuse_processor.engine.policy import PolicyError
from spanfuse_processor.engine.reach import PAYER_FIELDS, Degrading, Reach
from spanfuse_processor.engine.verdicts import Mode

HOUR: Final = 3_600
SHORTEST: Final = 60.0
"""Seconds that a rolling window has at least."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]*")
_CALENDAR: Final = frozenset({Period.HOURLY, Period.DAILY, Period.WEEKLY, Period.MONTHLY})
_FOR: Final[Mapping[str, frozenset[Period]]] = {
    "zone": _CALENDAR,
    "reset": _CALENDAR,
    "weekday": frozenset({Period.WEEKLY}),
    "day": frozenset({Period.MONTHLY}),
    "window": frozenset({Period.ROLLING}),
}
"""Fields that only some periods have."""


def budgets_of(values: object, mode: Mode, path: Path) -> tuple[Budget, ...]:
    """The budgets that a mapping of names describes, in its order. `mode` is that of the policy.

    Raises:
        PolicyError: with the path of the field that is wrong.
    """
    made = []
    for name, section in mapping(values, "budgets by name", path).items():
        here = (*path, str(name))
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise PolicyError(here, f"expected a name of letters, digits and any of _.:/-, got {name!r}")
        made.append(_budget(name, mapping(section, "fields", here), mode, here))
    return tuple(made)


def _budget(name: str, given: Mapping[Any, object], mode: Mode, path: Path) -> Budget:
    plain = {field: value for field, value in given.items() if field not in _WORDS and field != "safe"}
    said = fields_of(BudgetSection, plain, path)
    for field, (into, read) in _WORDS.items():
        if field in given:
            said[into] = read(given[field], (*path, field))
    measure = _measure(said, path)
    limit = amount(measure, said.pop(measure.value), (*path, measure.value))
    if not limit:
        raise PolicyError((*path, measure.value), "must be more than 0")
    if "safe" in given:
        said["safe"] = amount(measure, given["safe"], (*path, "safe"))
    if "weekday" in said:
        said["weekday"] = list(Weekday).index(said["weekday"])
    said["mode"] = said.get("mode") or mode
    budget = Budget(name, limit, measure, **said)
    _refuse_what_means_nothing(budget, given, path)
    return budget


def _measure(said: dict[str, Any], path: Path) -> Measure:
    """The one measure that is said; the others are taken out."""
    named = [each for each in Measure if said.get(each.value) is not None]
    if not named:
        raise PolicyError(path, f"how much? say one of {', '.join(each.value for each in Measure)}")
    if len(named) > 1:
        names = " and ".join(each.value for each in named)
        raise PolicyError((*path, named[1].value), f"{names} are two budgets: give each a name of its own")
    for each in Measure:
        if each is not named[0]:
            said.pop(each.value, None)
    return named[0]


def _reach(values: object, path: Path) -> Reach:
    given = mapping(values, "fields", path)
    return build(Reach, {name: listed(value) for name, value in given.items()}, path)


def _per(values: object, path: Path) -> tuple[str, ...]:
    names = listed(values)
    if not isinstance(names, list | tuple):
        raise PolicyError(path, f"expected a list of names, got {values!r}")
    for name in names:
        if name not in PAYER_FIELDS:
            raise PolicyError(path, unknown(f"field {name!r}", str(name), PAYER_FIELDS))
    if len(set(names)) < len(names):
        raise PolicyError(path, "a field is there twice")
    return tuple(names)


def _zone(value: object, path: Path) -> str:
    if value == "UTC":
        return "UTC"  # also where no zones are installed
    try:
        return ZoneInfo(str(value)).key
    except (ValueError, OSError, LookupError):
        zones = available_timezones()
    if not zones:
        raise PolicyError(path, "time zones are not installed here: pip install tzdata, or say UTC")
    near = get_close_matches(str(value), zones, n=1)
    hint = f": did you mean {near[0]!r}?" if near else ", like Europe/Berlin"
    raise PolicyError(path, f"expected the name of a time zone, got {value!r}{hint}")


def _marks(values: object, path: Path) -> tuple[Mark, ...]:
    """Lowest first."""
    if not isinstance(values, list | tuple):
        raise PolicyError(path, f"expected a list of marks, got {type(values).__name__}")
    marks = [_mark(value, (*path, str(at))) for at, value in enumerate(values)]
    return tuple(sorted(marks, key=lambda mark: mark.at))


def _mark(values: object, path: Path) -> Mark:
    given = mapping(values, "fields", path)
    if "at" not in given:
        raise PolicyError(path, "at which share of the limit? say at")
    said = fields_of(MarkSection, {name: value for name, value in given.items() if name != "at"}, path)
    return Mark(share(given["at"], (*path, "at")), **said)


def _degrading(values: object, path: Path) -> Degrading:
    given = mapping(values, "fields", path)
    plain = {name: value for name, value in given.items() if name != "models"}
    said = fields_of(DegradeSection, plain | {"tools": listed(given.get("tools", ()))}, path)
    here = (*path, "models")
    models = mapping(given.get("models", {}), "models to cheaper ones", here)
    for name, cheaper in models.items():
        if not isinstance(name, str) or not isinstance(cheaper, str) or not cheaper:
            raise PolicyError((*here, str(name)), f"expected the name of a cheaper model, got {cheaper!r}")
    return Degrading(**said | {"models": tuple(models.items())})


_WORDS: Final[Mapping[str, tuple[str, Callable[[object, Path], Any]]]] = {
    "match": ("reach", _reach),
    "per": ("per", _per),
    "zone": ("zone", _zone),
    "reset": ("reset", clock),
    "window": ("window", duration),
    "patience": ("patience", duration),
    "marks": ("marks", _marks),
    "degrade": ("degrading", _degrading),
    "block_after": ("block_after", duration),
}
"""Fields whose words are not those of their type: the field of a `Budget` that they become, and how."""


def _refuse_what_means_nothing(budget: Budget, given: Mapping[Any, object], path: Path) -> None:
    for field, periods in _FOR.items():
        if field in given and budget.period not in periods:
            names = ", ".join(each.value for each in Period if each in periods)
            problem = f"only a period that is {names} has it, and this one is {budget.period.value}"
            raise Disagreement((*path, field), problem, path)
    if budget.period is Period.HOURLY and budget.reset >= HOUR:
        raise Disagreement((*path, "reset"), "an hour begins at most 59 minutes past: write '00:15'", path)
    if budget.period is Period.ROLLING and budget.window < SHORTEST:
        problem = f"a rolling budget needs one, of {SHORTEST:.0f}s at least"
        raise Disagreement((*path, "window"), problem, path)
    for field in ("safe", "patience"):
        if field in given and not budget.strict:
            raise Disagreement((*path, field), "only a strict budget has it", path)
    if budget.safe > budget.limit:
        raise Disagreement((*path, "safe"), "more than the whole budget", path)
    _refuse_to_degrade_nothing(budget, path)


def _refuse_to_degrade_nothing(budget: Budget, path: Path) -> None:
    if budget.degrading != Degrading():
        return
    problem = "it has nothing to give up: say in `degrade` what"
    for at, mark in enumerate(budget.marks):
        if mark.react is Reaction.DEGRADE:
            raise Disagreement((*path, "marks", str(at)), problem, path)
    if budget.forecast.react is Reaction.DEGRADE:
        raise Disagreement((*path, "forecast"), problem, path)
