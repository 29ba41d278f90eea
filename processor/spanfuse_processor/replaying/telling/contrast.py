"""Policies side by side, told to a person: the sums of each, then the runs on which they differ.

Rule 1: policies go by letters, said once which is which. It does not judge, nor compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase
from typing import Final

from spanfuse_processor.replaying.comparison import Case, Outcome, Tally
from spanfuse_processor.replaying.telling.tables import Column, table
from spanfuse_processor.replaying.telling.words import count, money
from spanfuse_processor.terminal import Screen, Style, printable

MOST_POLICIES: Final = len(ascii_uppercase)


def contrast(
    configs: Sequence[str], cases: Sequence[Case], tallies: Sequence[Tally], screen: Screen, everything: bool
) -> None:
    """Writes the comparison; `everything`: also the runs on which all agree."""
    for letter, config in zip(ascii_uppercase, configs, strict=False):
        screen.say(f"{letter}  {printable(config)}")
    screen.say()
    letters = ascii_uppercase[: len(configs)]
    head = (Column("what"), *(Column(letter, right=True) for letter in letters))
    first, *lines = table(head, _sums(tallies), screen.width)
    screen.say(first, Style.BOLD)
    for line in lines:
        screen.say(line)
    screen.say()
    differing = sum(case.differs for case in cases)
    screen.say(f"{differing:,} of {count(len(cases), 'run')} differ")
    _list([case for case in cases if everything or case.differs], letters, screen)


def _sums(tallies: Sequence[Tally]) -> list[tuple[str, ...]]:
    rows = [
        ("runs stopped", *(f"{each.stopped:,} of {each.runs:,}" for each in tallies)),
        ("runs warned of only", *(f"{each.warned:,}" for each in tallies)),
        ("calls saved", *(f"{each.calls_saved:,}" for each in tallies)),
        ("USD saved", *(money(each.saved) for each in tallies)),
    ]
    for what, shares in (
        ("runaways stopped", [(each.runaways_stopped, each.runaways) for each in tallies]),
        ("honest runs stopped, wrongly", [(each.honest_stopped, each.honest) for each in tallies]),
    ):
        if any(known for _, known in shares):
            rows.append((what, *(f"{stopped:,} of {known:,}" for stopped, known in shares)))
    return rows


def _list(cases: Sequence[Case], letters: str, screen: Screen) -> None:
    if not cases:
        return
    told = [(Column(letter, least=12), Column("calls/USD saved", right=True)) for letter in letters]
    head = (
        Column("run", least=10),
        Column("label", least=6),
        *(column for pair in told for column in pair),
        Column("file", least=12, keep_end=True),
    )
    screen.say()
    first, *lines = table(head, [_cells(case) for case in cases], screen.width)
    screen.say(first, Style.BOLD)
    for case, line in zip(cases, lines, strict=True):
        wrong = case.honest and any(each.verdict == "stop" for each in case.outcomes)
        screen.say(line, Style.RED if wrong else Style.PLAIN)


def _cells(case: Case) -> tuple[str, ...]:
    label = printable(case.label.text) if case.label is not None else ""
    told = (cell for outcome in case.outcomes for cell in _outcome(outcome))
    return printable(case.run), label, *told, printable(case.file)


def _outcome(outcome: Outcome) -> tuple[str, str]:
    """What a policy says of a run, and what that saves."""
    if outcome.call is None:
        return outcome.verdict, ""
    saves = f"{outcome.calls_saved:,}/{money(outcome.saved)}" if outcome.verdict == "stop" else ""
    return f"{outcome.verdict} {outcome.detector} @{outcome.call}", saves
