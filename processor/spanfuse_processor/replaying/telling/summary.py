"""The runs of a recording, told to a person: a table, then those that were stopped or warned, one by one.

Rule 1: stopped runs come first, the ones that went on to spend most before the others; then warned ones. Rule
2: where runs are many, the rest is counted. It does not judge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from spanfuse_processor.replaying.telling.story import STYLES, UNJUDGED, Told, tell
from spanfuse_processor.replaying.telling.tables import Column, table
from spanfuse_processor.replaying.telling.words import count, money
from spanfuse_processor.terminal import Screen, Style, printable

HEAD: Final = (
    Column("run", least=10),
    Column("verdict"),
    Column("detector", least=6),
    Column("call", right=True),
    Column("calls", right=True),
    Column("tokens", right=True),
    Column("cost USD", right=True),
    Column("after USD", right=True),
    Column("label", least=6),
    Column("file", least=12, keep_end=True),
)
MOST: Final = 50
"""Runs that are listed, unless all are asked for."""

_RANKS: Final = {"stop": 0, "warn": 1, "ok": 2}


def summarise(runs: Sequence[Told], screen: Screen, everything: bool = False, limit: int = 10) -> None:
    """Writes the table, the sums, and up to `limit` runs one by one. `everything`: quiet ones too."""
    ranked = sorted(runs, key=lambda run: (_RANKS[run.view.verdict], -run.view.cost_after))
    chosen = [run for run in ranked if everything or run.view.verdict != "ok"]
    listed = ranked if everything else ranked[:MOST]
    _list(listed, screen)
    if len(listed) < len(ranked):
        verdicts = Counter(run.view.verdict for run in ranked[MOST:])
        left_out = ", ".join(f"{number:,} {verdict}" for verdict, number in verdicts.items())
        screen.say(f"and {left_out} (--all lists them)", Style.DIM)
    screen.say()
    for line in _sums(runs):
        screen.wrap(line)
    for run in chosen[:limit]:
        screen.say()
        tell(run, screen)
    if 0 < limit < len(chosen):
        screen.say()
        screen.say(f"{count(len(chosen) - limit, 'timeline')} not shown; see --limit", Style.DIM)


def _list(runs: Sequence[Told], screen: Screen) -> None:
    head, *lines = table(HEAD, [_cells(run) for run in runs], screen.width)
    screen.say(head, Style.BOLD)
    for run, line in zip(runs, lines, strict=True):
        screen.say(line, STYLES[run.view.verdict])


def _cells(run: Told) -> tuple[str, ...]:
    view = run.view
    mark = view.stop or view.warn
    return (
        printable(view.id),
        view.verdict + ("*" if run.unjudged else ""),
        mark.detector if mark else "-",
        str(mark.call) if mark else "-",
        str(view.calls),
        f"{view.input_tokens + view.output_tokens:,}",
        money(view.cost),
        money(view.cost_after),
        printable(run.label.text) if run.label else "",
        printable(run.file),
    )


def _sums(runs: Sequence[Told]) -> list[str]:
    stopped = sum(run.view.verdict == "stop" for run in runs)
    warned = sum(run.view.verdict == "warn" for run in runs)
    calls, cost = sum(run.calls_after for run in runs), sum(run.view.cost_after for run in runs)
    lines = [
        f"{count(len(runs), 'run')}: {stopped:,} stopped, {warned:,} warned; "
        f"{count(calls, 'call')} and {money(cost)} USD came after a stop"
    ]
    unjudged = sum(run.unjudged for run in runs)
    if unjudged:
        lines.append(f"* {UNJUDGED} ({count(unjudged, 'run')})")
    for honest, words in ((True, "honest runs stopped, wrongly"), (False, "runaways stopped")):
        labelled = [run for run in runs if run.label is not None and run.label.honest is honest]
        if labelled:
            hit = sum(run.view.verdict == "stop" for run in labelled)
            lines.append(f"{hit:,} of {len(labelled):,} {words}")
    return lines
