"""The timeline of one run: what was called, around the calls that verdicts name.

Rule 1: calls are in order of start, what an agent does is indented under it. Rule 2: what repeats is folded,
what is far from any verdict is counted, not shown. Rule 3: digests stand for arguments and results: content
was never kept. It does not know what a verdict is for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from spanfuse_processor.engine import Kind
from spanfuse_processor.replaying.journal import Step
from spanfuse_processor.replaying.telling.folding import Block, fold
from spanfuse_processor.replaying.telling.tables import Column, table
from spanfuse_processor.replaying.telling.words import answer, called, count, duration, money
from spanfuse_processor.terminal import Style

HEAD: Final = (
    Column("time", right=True),
    Column("call", right=True),
    Column("", right=True),
    Column("what", least=14),
    Column("asked", least=6),
    Column("came back", least=10),
    Column("tokens", right=True),
    Column("USD", right=True),
    Column("verdict", least=10),
)
AROUND: Final = 2
"""Lines that are shown after a call that a verdict names, and before the next."""

ALONE: Final = 12
"""Lines that are shown at either end of a run that no verdict names a call of."""

DEEP: Final = 6
"""Agents inside of agents that are shown by indentation."""

_TOKENS_OF: Final = (Kind.MODEL, Kind.EMBEDDINGS)


class Mark(NamedTuple):
    """What is to be said at one call, and after it."""

    verdict: str
    style: Style
    after: str = ""


class _Line(NamedTuple):
    cells: tuple[str, ...] | None  # None: no line of the table
    text: str
    style: Style


def timeline(steps: Sequence[Step], marks: Mapping[bytes, Mark], width: int) -> Iterator[tuple[str, Style]]:
    """The lines of a run's calls, which are in order of start; `marks` are by span."""
    lines = list(_lines(steps, marks))
    head, *rows = table(HEAD, [line.cells for line in lines if line.cells is not None], width)
    yield head, Style.DIM
    row = iter(rows)
    for line in lines:
        yield (next(row) if line.cells is not None else line.text), line.style


def _lines(steps: Sequence[Step], marks: Mapping[bytes, Mark]) -> Iterator[_Line]:
    depths = _depths(steps)
    pinned = [at for at, step in enumerate(steps) if step.span_id in marks]
    begin, around = 0, AROUND if pinned else ALONE
    for at in (*pinned, len(steps)):
        yield from _stretch(steps, depths, begin, at, around)
        begin = at + 1
        if at < len(steps):
            mark = marks[steps[at].span_id]
            yield _Line((*_cells(steps, depths, Block(at, 1, 1), at), mark.verdict), "", mark.style)
            if mark.after:
                yield _Line(None, mark.after, mark.style)


def _stretch(
    steps: Sequence[Step], depths: Sequence[int], begin: int, end: int, around: int
) -> Iterator[_Line]:
    """What lies between two calls that are shown for themselves."""
    blocks = [
        Block(begin + block.start, block.period, block.times)
        for block in fold([_key(steps[at], depths[at]) for at in range(begin, end)])
    ]
    rows = [(block, at) for block in blocks for at in range(block.start, block.start + block.period)]
    left_out = rows[around:-around] if len(rows) > 2 * around + 1 else []
    for number, (block, at) in enumerate(rows):
        if left_out and number == around:
            yield _gap([step for each in left_out for step in _of_row(steps, *each)])
        if not around <= number < around + len(left_out):
            yield _Line((*_cells(steps, depths, block, at), ""), "", Style.PLAIN)


def _key(step: Step, depth: int) -> tuple[object, ...]:
    """Calls with equal keys are told as one; what models say may vary."""
    if step.kind is Kind.TOOL:
        return depth, step.kind, step.name, step.asked_masked, step.came_masked, step.error
    return depth, step.kind, step.name, step.error


def _of_row(steps: Sequence[Step], block: Block, at: int) -> Sequence[Step]:
    return steps[at : block.start + block.period * block.times : block.period]


def _cells(steps: Sequence[Step], depths: Sequence[int], block: Block, at: int) -> tuple[str, ...]:
    """One line of a block: a call, and those that are equal to it."""
    step, equal = steps[at], _of_row(steps, block, at)
    first = at == block.start
    numbers = [each.number for each in steps[block.start : block.start + block.period * block.times]]
    lowest, highest = min(numbers), max(numbers)
    times = "" if block.times == 1 else f"x{block.times:,}" if first else "|"
    return (
        duration(step.started_ns - steps[0].started_ns),
        ("" if not first else str(lowest) if lowest == highest else f"{lowest}-{highest}"),
        times,
        _indent(depths[at]) + called(step),
        _one([each.asked for each in equal], [each.asked_masked for each in equal]),
        _one([answer(each) for each in equal], [each.came_masked for each in equal]),
        _tokens(equal),
        _cost(equal),
    )


def _indent(depth: int) -> str:
    """So far to the right as is agreeable, and then in figures."""
    return "  " * depth if depth <= DEEP else "  " * DEEP + f"[{depth}] "


def _one(texts: Sequence[str], masked: Sequence[str]) -> str:
    """What is the same of all; `~`: but for noise."""
    if len(set(texts)) == 1:
        return texts[0]
    return f"~{masked[0]}" if len(set(masked)) == 1 and masked[0] else "varies"


def _tokens(steps: Sequence[Step]) -> str:
    usages = [step.usage for step in steps if step.usage is not None and step.kind in _TOKENS_OF]
    if not usages:
        return ""
    return f"{sum(u.input_tokens for u in usages):,}+{sum(u.output_tokens for u in usages):,}"


def _cost(steps: Sequence[Step]) -> str:
    costs = [step.cost for step in steps if step.kind in _TOKENS_OF and step.usage is not None]
    if not costs:
        return ""
    known = [cost for cost in costs if cost is not None]
    return (money(sum(known)) if known else "") + ("" if len(known) == len(costs) else "?")


def _gap(steps: Sequence[Step]) -> _Line:
    names = Counter(called(step) for step in steps).most_common(3)
    told = ", ".join(f"{number:,} {name}" for name, number in names)
    rest = len(steps) - sum(number for _, number in names)
    others = f", {rest:,} others" if rest else ""
    cost = _cost(steps)
    spent = f"; {cost} USD" if cost else ""
    return _Line(None, f"  ... {count(len(steps), 'call')}: {told}{others}{spent}", Style.DIM)


def _depths(steps: Sequence[Step]) -> list[int]:
    """How many agents each call is in: by its parents where they are known, else by time."""
    depths: list[int] = []
    inside: dict[bytes, int] = {}  # by span: the depth of what is under it
    open_: list[tuple[int, int]] = []  # of agents at work: their ends and the depth of what is under them
    for step in steps:
        while open_ and open_[-1][0] < step.ended_ns:
            open_.pop()
        depth = inside.get(step.parent_span_id, open_[-1][1] if open_ else 0)
        depths.append(depth)
        inside[step.span_id] = depth + (step.kind is Kind.AGENT)
        if step.kind is Kind.AGENT:
            open_.append((step.ended_ns, depth + 1))
    return depths
