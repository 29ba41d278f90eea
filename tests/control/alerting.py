"""A desk of alerts over a real hub and a real engine, and messages as Alertmanager writes them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.control.serving import FakeClock, make_hub

from spanfuse_processor.config import Deed, Obey, Target
from spanfuse_processor.control.admin import Audit
from spanfuse_processor.control.alert_desk import AlertDesk, Answer
from spanfuse_processor.control.alert_payload import read_alerts
from spanfuse_processor.control.hub import Hub
from spanfuse_processor.engine import Engine, NoPrices, Order, OrderKind, Policy, Verdict
from spanfuse_processor.engine.budget import Budget
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.reach import Reach

CODER = BreakerKey(Level.AGENT, "coder")
STOP = Obey("Burn*", (("severity", "critical"),), Deed.STOP, Target(Level.AGENT, "agent"))
SLOW = Obey("Slow", (), Deed.THROTTLE, Target(Level.AGENT, "agent"))
OF_BUDGET = Obey("Budget", (), Deed.STOP, Target(Level.BUDGET, "budget"))
BUDGET = Budget("daily", 1_000_000, reach=Reach(feature=("chat",)))


def one(name: str = "Burning", status: str = "firing", **labels: str) -> dict[str, Any]:
    """One alert of a message; its fingerprint is made of its labels."""
    labels = {"alertname": name, "severity": "critical", "agent": "coder", **labels}
    return {
        "status": status,
        "labels": labels,
        "annotations": {"summary": "Too much.", "description": "..."},
        "startsAt": "2026-11-30T12:00:00.000Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus.example/graph",
        "fingerprint": format(hash(frozenset(labels.items())) & (1 << 64) - 1, "016x"),
    }


def message(*alerts: dict[str, Any], **fields: Any) -> bytes:
    """The body of a message."""
    whole = {
        "version": "4",
        "groupKey": "{}:{}",
        "truncatedAlerts": 0,
        "status": "firing",
        "receiver": "processor",
        "groupLabels": {},
        "commonLabels": {},
        "commonAnnotations": {},
        "externalURL": "http://alertmanager.example",
        "alerts": list(alerts),
    }
    return json.dumps(whole | fields).encode()


@dataclass
class Office:
    """A desk, and everything around it as the service has it."""

    rules: tuple[Obey, ...] = (STOP, SLOW, OF_BUDGET)
    audits: list[Audit] = field(default_factory=list)
    orders: list[Order] = field(default_factory=list)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    hub: Hub = field(init=False)
    clock: FakeClock = field(init=False)
    desk: AlertDesk = field(init=False)

    def __post_init__(self) -> None:
        self.hub, self.clock = make_hub()
        self.engine = Engine(Policy(), NoPrices())
        self.desk = AlertDesk(
            self.rules, self.hub, self.order, self.audits.append, self.count, self.clock, [BUDGET]
        )

    def count(self, name: str, outcome: str) -> None:
        """As metrics do."""
        self.counts[name, outcome] += 1

    def order(self, order: Order) -> tuple[Verdict, ...]:
        """As the service carries orders out."""
        self.orders.append(order)
        verdicts = self.engine.command(order, self.clock.now)
        self.hub.publish(
            [each.directive for each in verdicts if each.directive],
            [each.removal for each in verdicts if each.removal],
        )
        return verdicts

    def operator(self, kind: OrderKind, key: BreakerKey = CODER) -> None:
        """An operator orders something."""
        order = Order(kind, key, "because", "ann")
        self.order(order)
        self.desk.heard(order)

    def told(self, *alerts: dict[str, Any]) -> list[Answer]:
        """Alertmanager tells."""
        return self.desk.tell(read_alerts(message(*alerts)).alerts)

    def outcomes(self, *alerts: dict[str, Any]) -> list[str]:
        """What came of each."""
        return [answer.outcome.value for answer in self.told(*alerts)]

    def standing(self) -> list[str]:
        """The ids of what stands."""
        self.hub.advance()
        return sorted(each.id for each in self.hub.under(CODER))
