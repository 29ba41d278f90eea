"""From an alert and the policy for it to what is ordered: whose calls, and the directive.

Rule 1: an alert that does not name whose calls it is about orders nothing: a label that is missing, or that
many share (`other`, `unknown`), names nobody. Rule 2: what is said to the model is of our own words and the
alert's fixed summary. It does not know what stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Final

from spanfuse_processor.config import Deed, Obey
from spanfuse_processor.control.alert_payload import Alert
from spanfuse_processor.control.payloads import MAX_ID
from spanfuse_processor.engine.budget import Budget
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.reach import Reach
from spanfuse_processor.engine.verdicts import Action, Directive, Evidence

ISSUER: Final = "alert/"
"""With which the issuer of what an alert orders begins."""
REASON: Final = "ALERT"
NOBODY: Final = frozenset({"", "other", "unknown"})
"""Values of labels that name nobody: metrics call so what has no name, or no label of its own."""
_ACTIONS: Final = {Deed.STOP: Action.STOP, Deed.THROTTLE: Action.THROTTLE}
_ADVICE: Final = {
    Deed.STOP: "Make no further call. Say what was done so far and what is left.",
    Deed.THROTTLE: "Calls are slowed down while this lasts.",
}


class Unclear(ValueError):
    """An alert that does not say, in words that mean something here, whose calls it is about."""


def rule_for(alert: Alert, rules: Iterable[Obey]) -> Obey | None:
    """The first that is meant for this alert."""
    return next((each for each in rules if _is_meant(each, alert)), None)


def _is_meant(rule: Obey, alert: Alert) -> bool:
    matches = (fnmatchcase(alert.labels.get(label, ""), pattern) for label, pattern in rule.match)
    return fnmatchcase(alert.name, rule.alert) and all(matches)


def key_of(alert: Alert, rule: Obey) -> BreakerKey:
    """Whose calls an alert is about.

    Raises:
        Unclear: it does not say.
    """
    level, label = rule.target.level, rule.target.label
    if level is Level.EVERYTHING:
        return BreakerKey(level, "")
    if label not in alert.labels:
        raise Unclear(f"the alert has no label {label!r}")
    name = alert.labels[label]
    if name in NOBODY or len(name) > MAX_ID:
        raise Unclear(f"label {label!r} is {name[:40]!r}, which is nobody's name")
    return BreakerKey(level, name)


def reach_of(key: BreakerKey, budgets: Sequence[Budget]) -> Reach | None:
    """The calls that are charged to the budget that a key names; None: the key names no budget.

    Raises:
        Unclear: there is no such budget.
    """
    if key.level is not Level.BUDGET:
        return None
    for budget in budgets:
        if budget.name == key.id:
            return budget.reach
    raise Unclear(f"no budget is called {key.id[:40]!r}")


def issuer_of(alert: Alert) -> str:
    """Who signs for it."""
    return f"{ISSUER}{alert.name}"[:100]


def reason_of(alert: Alert) -> str:
    """For people: which alert, and what its summary says."""
    return f"{alert.name}: {alert.summary}" if alert.summary else alert.name


def directive(alert: Alert, rule: Obey, key: BreakerKey, reach: Reach | None) -> Directive:
    """What an alert orders by itself, under an id of its own: other orders for the same calls stay."""
    action = _ACTIONS[rule.action]
    return Directive(
        id=f"{ISSUER}{alert.fingerprint}/{action.value}",
        revision=0,
        key=key,
        action=action,
        ttl=rule.ttl,
        cancel_in_flight=False,  # an alert is about many calls: what is under way may end
        reason=REASON,
        message=reason_of(alert),
        model_message=_ADVICE[rule.action],
        evidence=Evidence(detector="alert", cleared_by="the end of the alert"),
        issuer=issuer_of(alert),
        params=(("calls_per_second", rule.calls_per_second),) if rule.action is Deed.THROTTLE else (),
        reach=reach,
    )
