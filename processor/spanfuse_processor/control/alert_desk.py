"""The desk of alerts: what Alertmanager tells becomes orders, by policy only, and ends with the alert.

Rule 1: without a policy for it an alert is ignored. Rule 2: an alert orders once, however often it is told
(its fingerprint and its beginning say which it is); told again, it holds on. Rule 3: an operator has the last
word: what was released stays so until the alert fires anew, and a stop that an operator ordered is never
taken back for an alert. Rule 4: what nobody tells of any more ends by its time. It lives on the loop that
owns the engine; it knows no HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from spanfuse_processor.clock import Clock
from spanfuse_processor.config import Deed, Obey
from spanfuse_processor.control.admin import Audit
from spanfuse_processor.control.alert_orders import (
    ISSUER,
    Unclear,
    directive,
    issuer_of,
    key_of,
    reach_of,
    reason_of,
    rule_for,
)
from spanfuse_processor.control.alert_payload import Alert
from spanfuse_processor.control.hub import Hub
from spanfuse_processor.control.payloads import show_key
from spanfuse_processor.engine.budget import Budget
from spanfuse_processor.engine.directives import directive_id
from spanfuse_processor.engine.nouns import BreakerKey, Instant, Level
from spanfuse_processor.engine.orders import Order, OrderKind
from spanfuse_processor.engine.reach import Reach
from spanfuse_processor.engine.verdicts import Directive, Removal, Verdict

MOST: Final = 1_000
"""Alerts that something may stand of at once."""
OVERRULED: Final = 86_400.0
"""Seconds for which it is remembered that an operator took back what an alert had ordered."""
FRESH: Final = 0.75
"""Share of its time that a throttle has left while it need not be told to applications anew."""
KINDS: Final = {Deed.STOP: OrderKind.KILL, Deed.THROTTLE: OrderKind.THROTTLE}
OVER: Final = "the alert is over"
SILENT: Final = "the alert was not told again in time"


class Outcome(StrEnum):
    """What came of an alert that was told."""

    OBEYED = "obeyed"  # it ordered something, or what it ordered holds on
    IGNORED = "ignored"  # no policy names it, or there was nothing to do
    REFUSED = "refused"  # the policy names it, and it could not be carried out
    CLEARED = "cleared"  # what it ordered was taken back


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one alert, for whoever told of it."""

    alert: Alert
    outcome: Outcome
    why: str = ""
    key: BreakerKey | None = None

    def fields(self) -> dict[str, Any]:
        """For JSON."""
        key = None if self.key is None else show_key(self.key)
        said = {"alert": self.alert.name, "fingerprint": self.alert.fingerprint}
        return {**said, "outcome": self.outcome.value, "key": key, "why": self.why}


@dataclass(slots=True)
class _Held:
    """What stands of one alert."""

    alert: Alert
    rule: Obey
    key: BreakerKey
    directive: str  # its id
    until: Instant
    overruled: bool = False

    @property
    def breaker(self) -> bool:
        """Whether a breaker holds it: others may have ordered the same."""
        return self.directive == directive_id(self.key)


@dataclass
class AlertDesk:
    """One desk.

    Args:
        rules: what is done because of which alert; the first that fits counts.
        hub: what stands, and the way to the applications.
        order: carries an order out and publishes what follows; answers with its verdicts.
        audit: is told of everything that is done.
        count: is told of each alert what the rule calls it (`other`: there is none), and the outcome.
        clock: counts the time of what stands, and dates the audit.

    Attributes:
        budgets: those of the policy that holds.
    """

    rules: Sequence[Obey]
    hub: Hub
    order: Callable[[Order], tuple[Verdict, ...]]
    audit: Callable[[Audit], None]
    count: Callable[[str, str], None]
    clock: Clock
    budgets: Sequence[Budget] = ()
    _held: dict[str, _Held] = field(default_factory=dict)

    def tell(self, alerts: Iterable[Alert]) -> list[Answer]:
        """These alerts fire, or are over. Orders are given before this returns."""
        self.advance()
        return [self._tell(alert) for alert in alerts]

    def heard(self, order: Order) -> None:
        """An operator ordered something: what an alert had ordered there is the operator's matter now."""
        for held in self._held.values():
            if held.key == order.key and (held.breaker or order.kind is OrderKind.RELEASE):
                self._overrule(held)

    def advance(self) -> None:
        """Time has passed: ends what nobody told of again."""
        now = self.clock.monotonic()
        for fingerprint, held in [*self._held.items()]:
            if held.until <= now:
                del self._held[fingerprint]
                if not held.overruled:
                    self._take_back(held, SILENT)

    def next_deadline(self) -> Instant | None:
        """When `advance` has something to do."""
        return min((held.until for held in self._held.values()), default=None)

    def _tell(self, alert: Alert) -> Answer:
        rule = rule_for(alert, self.rules)
        answer = Answer(alert, Outcome.IGNORED, "no policy names it")
        if rule is not None:
            answer = self._fires(alert, rule) if alert.firing else self._is_over(alert)
        self.count("other" if rule is None else rule.alert, answer.outcome.value)
        return answer

    def _fires(self, alert: Alert, rule: Obey) -> Answer:
        held = self._held.get(alert.fingerprint)
        if held is not None and held.alert.starts == alert.starts:
            return self._goes_on(held)
        try:
            key = key_of(alert, rule)
            reach = reach_of(key, self.budgets)
        except Unclear as problem:
            return self._refuse(alert, rule, None, str(problem))
        if held is None and len(self._held) >= MOST:
            return self._refuse(alert, rule, key, f"orders of {MOST} alerts stand already")
        if rule.action is Deed.STOP and reach is None:
            return self._stop(alert, rule, key)
        return self._publish(alert, rule, key, reach)

    def _stop(self, alert: Alert, rule: Obey, key: BreakerKey) -> Answer:
        stands = self.hub.get(directive_id(key))
        if stands is not None and _stays(stands):
            return Answer(alert, Outcome.IGNORED, "it is stopped already, and not by an alert", key)
        verdicts = self.order(Order(OrderKind.KILL, key, reason_of(alert), issuer_of(alert)))
        given = next((each.directive for each in verdicts if each.directive), stands)
        if given is None or self.hub.get(given.id) is None:
            return self._refuse(alert, rule, key, "it cannot be stopped now")
        return self._hold(alert, rule, given.key, given.id, done=bool(verdicts))

    def _publish(self, alert: Alert, rule: Obey, key: BreakerKey, reach: Reach | None) -> Answer:
        given = self.hub.publish([directive(alert, rule, key, reach)])
        if not given:
            return self._refuse(alert, rule, key, "it cannot be told to applications")
        return self._hold(alert, rule, key, given[0].id, done=True)

    def _hold(self, alert: Alert, rule: Obey, key: BreakerKey, name: str, *, done: bool) -> Answer:
        until = self.clock.monotonic() + rule.ttl
        self._held[alert.fingerprint] = _Held(alert, rule, key, name, until)
        self._note(alert, KINDS[rule.action], key, reason_of(alert), done=done)
        return Answer(alert, Outcome.OBEYED, "", key)

    def _goes_on(self, held: _Held) -> Answer:
        now = self.clock.monotonic()
        stands = self.hub.get(held.directive)
        if held.overruled or stands is None or not _ours(stands):
            self._overrule(held)
            return Answer(held.alert, Outcome.IGNORED, "an operator took it back", held.key)
        if held.breaker:
            held.until = now + held.rule.ttl
        elif held.until - now < FRESH * held.rule.ttl:  # else every repetition would go to everybody
            self.hub.publish([directive(held.alert, held.rule, held.key, stands.reach)])
            held.until = now + held.rule.ttl
        return Answer(held.alert, Outcome.OBEYED, "it holds on", held.key)

    def _is_over(self, alert: Alert) -> Answer:
        held = self._held.pop(alert.fingerprint, None)
        if held is None or held.overruled:
            return Answer(alert, Outcome.IGNORED, "nothing stands of it", held.key if held else None)
        return Answer(alert, Outcome.CLEARED, self._take_back(held, OVER), held.key)

    def _take_back(self, held: _Held, reason: str) -> str:
        """Takes back what an alert ordered, unless another alert or somebody else wants it; says why not."""
        if any(each.directive == held.directive and not each.overruled for each in self._held.values()):
            return "another alert holds it"
        stands = self.hub.get(held.directive)
        done = stands is not None and _ours(stands)
        why = f"{held.alert.name}: {reason}"
        if done and held.breaker:
            self.order(Order(OrderKind.RELEASE, held.key, why, issuer_of(held.alert)))
        if done and self.hub.get(held.directive) is not None:
            self.hub.publish(removals=[Removal(held.directive, 0, why)])
        self._note(held.alert, OrderKind.RELEASE, held.key, why, done=done)
        return reason

    def _refuse(self, alert: Alert, rule: Obey, key: BreakerKey | None, problem: str) -> Answer:
        whose = key or BreakerKey(rule.target.level, "")
        self._note(alert, KINDS[rule.action], whose, f"refused: {problem}", done=False)
        return Answer(alert, Outcome.REFUSED, problem, key)

    def _overrule(self, held: _Held) -> None:
        held.overruled = True
        held.until = self.clock.monotonic() + OVERRULED

    def _note(self, alert: Alert, kind: OrderKind, key: BreakerKey, reason: str, *, done: bool) -> None:
        order = Order(kind, key, reason, issuer_of(alert))
        self.audit(Audit(self.clock.wall_ns(), order.issuer, order, done))


def _ours(stands: Directive) -> bool:
    return stands.issuer.startswith(ISSUER)


def _stays(stands: Directive) -> bool:
    """Whether a stop stays as it is: a person's, or that of a run, which would not come back by itself."""
    return not _ours(stands) and (bool(stands.issuer) or stands.key.level is Level.RUN)
