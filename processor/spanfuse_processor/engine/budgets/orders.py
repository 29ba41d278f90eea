"""What applications are told to do because of an account.

Rule 1: a directive's id is its account's and its action's, so that a newer one replaces the older. Rule 2: it
reaches the calls that are charged to the account and no others: where it is counted apart by values, by
exactly those. Rule 3: it ends with the period at the latest. It does not decide whether one is due.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Final

from spanfuse_processor.engine.alerts import BudgetEvent, Condition
from spanfuse_processor.engine.budget import Account, Budget, Measure, Reaction
from spanfuse_processor.engine.budgets.accounts import counted_by
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.reach import Reach
from spanfuse_processor.engine.verdicts import Action, Directive, Evidence, Removal

ACTIONS: Final = {
    Reaction.THROTTLE: Action.THROTTLE,
    Reaction.DEGRADE: Action.DEGRADE,
    Reaction.STOP: Action.STOP,
}
REASON: Final = "BUDGET"
OF_BUDGETS: Final = "budget/"
"""With which the ids of all orders of budgets begin."""
STOPPED: Final = "a stop takes its place"
LESS: Final = "less is spent again"
CALM: Final = "the forecast has been calm"
_ADVICE: Final = {
    Reaction.STOP: "There is no money left for further calls. Say what is done and what is left.",
    Reaction.THROTTLE: "Calls are slowed down, for money runs short.",
    Reaction.DEGRADE: "A cheaper model answers, for money runs short.",
}
_SPECIAL: Final = re.compile(r"([*?\[])")


def reach_of(account: Account, budget: Budget) -> Reach:
    """Whose calls are charged to an account: those of its budget, with these very values.

    >>> budget = Budget("daily", 1, per=("user",))
    >>> reach_of(Account("daily", ("a*",)), budget).user
    ('a[*]',)
    """
    exact = {
        field: (_literally(value),) for field, value in zip(counted_by(budget), account.values, strict=True)
    }
    return replace(budget.reach, **exact)


def directive_id(account: Account, reaction: Reaction) -> str:
    """The id under which an account's orders are given and taken back."""
    return f"{OF_BUDGETS}{account}/{ACTIONS[reaction].value}"


def order(event: BudgetEvent, budget: Budget, reaction: Reaction, revision: int, ttl: float) -> Directive:
    """The directive for a reaction to what is told of an account."""
    scale = 1_000_000 if event.measure is Measure.USD else 1
    return Directive(
        id=directive_id(event.account, reaction),
        revision=revision,
        key=BreakerKey(Level.BUDGET, str(event.account)),
        action=ACTIONS[reaction],
        mode=event.mode,
        ttl=ttl,
        cancel_in_flight=False,  # what is under way is paid for
        reason=REASON,
        message=event.words(),
        model_message=_ADVICE[reaction],
        evidence=Evidence(
            detector="budget",
            observed=event.spent / scale,
            limit=event.limit / scale,
            unit=event.measure.value,
            trace_id=event.trace_id,
            span_ids=(event.span_id,) if event.span_id else (),
            rule=event.condition.value,
            cleared_by="the end of the period, or a higher limit",
        ),
        params=(("calls_per_second", budget.pace),) if reaction is Reaction.THROTTLE else (),
        reach=reach_of(event.account, budget),
        degrading=budget.degrading if reaction is Reaction.DEGRADE else None,
    )


def why_lifted(given: BudgetEvent, wanted: Collection[Reaction]) -> str:
    """Why an order that was given for `given` is due no more, while its period lasts and `wanted` is done."""
    if Reaction.STOP in wanted:
        return STOPPED
    return LESS if given.condition is Condition.MARK else CALM


def removal(account: Account, reaction: Reaction, revision: int, reason: str) -> Removal:
    """Takes an order back."""
    return Removal(directive_id(account, reaction), revision, reason)


def _literally(value: str) -> str:
    """A pattern that matches this very text."""
    return _SPECIAL.sub(r"[\1]", value)
