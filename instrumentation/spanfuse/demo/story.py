"""The last act for people: what happened at which second, and what had been spent by then.

Rule 1: the figures are those of `thrift.py`; nothing is worked out here. Rule 2: what did not happen has no
line; what is missing is said under the table.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.table import Table

from spanfuse.demo import allowance
from spanfuse.demo.thrift import ThriftResult

TITLE = (
    f"the money of {allowance.FEATURE}: {allowance.LIMIT_USD:g} USD an hour; "
    f"an hour passes in {allowance.PERIOD:.0f} s"
)

Line = tuple[float, str]
"""When (seconds since the epoch), and what."""


def story_table(result: ThriftResult) -> Table:
    """The act, line by line, and how it ended."""
    table = Table(
        box=SIMPLE_HEAD, pad_edge=False, title=TITLE, caption=_conclusion(result), caption_justify="left"
    )
    for heading in ("second", "spent"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("what happened")
    for at, text in sorted(_lines(result)):
        table.add_row(f"{at - result.bill.began:.1f}", f"${result.bill.spent(at):.3f}", text)
    return table


def _lines(result: ThriftResult) -> Iterator[Line]:
    bill, worked = result.bill, result.worked
    yield bill.began, "the agent begins; then ever more helpers work for it"
    yield from _told(result)
    if call := worked.first_degraded:
        saved = f"{call.asked}, {call.before} tokens -> {call.model}, {call.tokens} tokens"
        yield call.at, f"first call made cheaper: {saved}"
    if held := worked.first_held:
        yield held.at, f"first call held back, for {held.waited_ms / 1_000:.1f} s"
    slower = f"the spend has slowed from ${result.peak:.3f} to ${bill.rate(bill.ended):.5f} a second"
    yield bill.ended, f"the agent ends; {slower}"


def _told(result: ThriftResult) -> Iterator[Line]:
    """What was heard of the budgets."""
    if alert := result.alert:
        heard = {True: "ALERT, rightly signed", False: "ALERT, NOT RIGHTLY SIGNED", None: "ALERT"}[
            alert.signed
        ]
        yield alert.at, f"{heard}: {alert.message}{_lead(result.lead)} Order: {alert.reaction}."
    if brake := result.brake:
        yield brake.at, f"{brake.message} Order: {brake.reaction}."


def _lead(seconds: float | None) -> str:
    """By how much the alert came first, here and in the hour that the budget is written for."""
    if seconds is None:
        return ""
    return (
        f" Lead: {seconds:.1f} s ({seconds * 60 / allowance.PERIOD:.0f} min of the hour) at the rate of now."
    )


def _conclusion(result: ThriftResult) -> str:
    """The sentence under the table."""
    if not result.ok:
        return f"[bold red]Not as expected: {'; '.join(result.missing)}.[/]"
    spent = f"${result.spent:.2f} of ${allowance.LIMIT_USD:.2f} were spent."
    if result.gone is None or result.unguarded is None:
        return spent
    gone = f"all would have been gone at second {result.gone - result.bill.began:.1f}"
    return f"{spent} At the rate of the alert {gone}, and ${result.unguarded:.2f} spent by the end."
