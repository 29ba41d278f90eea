"""Alerts become orders by policy only, once each, and end with the alert; operators have the last word."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.control.alerting import CODER, OF_BUDGET, SLOW, STOP, Office, one
from tests.wire.builders import stop

from spanfuse_processor.config import Deed, Obey, Target
from spanfuse_processor.control.alert_desk import MOST, OVERRULED
from spanfuse_processor.engine import OrderKind
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import Action, BreakerState, Removal

AGAIN = {"startsAt": "2026-11-30T13:00:00.000Z"}
THROTTLE = "alert/{}/throttle"


@pytest.fixture
def office() -> Iterator[Office]:
    yield Office()


def state(office: Office) -> BreakerState:
    return office.engine._stops.breakers.state(CODER)


def test_without_a_policy_no_alert_is_obeyed() -> None:
    office = Office(rules=())

    assert office.outcomes(one(), one("Slow")) == ["ignored", "ignored"]
    assert (len(office.hub), office.audits, office.orders) == (0, [], [])


def test_an_alert_that_fires_stops_what_it_names_and_signs_for_it(office: Office) -> None:
    [answer] = office.told(one())

    [directive] = office.hub.under(CODER)
    assert answer.fields()["outcome"] == "obeyed"
    assert answer.fields()["key"] == "agent/coder"
    assert (directive.action, directive.issuer, directive.message) == (
        Action.STOP,
        "alert/Burning",
        "Burning: Too much.",
    )
    assert state(office) is BreakerState.FORCED_OPEN


def test_what_an_alert_stopped_goes_on_when_it_is_over(office: Office) -> None:
    office.told(one())

    assert office.outcomes(one(status="resolved")) == ["cleared"]
    assert (len(office.hub), state(office)) == (0, BreakerState.CLOSED)


def test_an_alert_of_which_nothing_stands_is_over_without_a_word(office: Office) -> None:
    assert office.outcomes(one(status="resolved")) == ["ignored"]
    assert (office.audits, office.orders) == ([], [])


def test_an_alert_that_is_told_again_orders_nothing_again(office: Office) -> None:
    office.told(one(), one("Slow"))
    cursor = office.hub.cursor

    assert office.outcomes(one(), one("Slow"), one()) == ["obeyed", "obeyed", "obeyed"]
    assert office.hub.cursor == cursor
    assert len(office.audits) == 2


def test_an_alert_that_slows_an_agent_is_taken_back_with_it(office: Office) -> None:
    told = one("Slow")
    office.told(told)
    name = THROTTLE.format(told["fingerprint"])

    assert office.standing() == [name]
    assert dict(office.hub.under(CODER)[0].params) == {"calls_per_second": 0.2}
    assert office.outcomes(told | {"status": "resolved"}) == ["cleared"]
    assert office.standing() == []


def test_an_alert_that_stops_a_budget_reaches_the_calls_that_are_charged_to_it(office: Office) -> None:
    assert office.outcomes(one("Budget", budget="daily")) == ["obeyed"]

    [directive] = office.hub.under(BreakerKey(Level.BUDGET, "daily"))
    assert directive.reach is not None
    assert directive.reach.feature == ("chat",)
    assert office.orders == []


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        ({"name": "Burning", "agent": "other"}, "label 'agent' is 'other', which is nobody's name"),
        ({"name": "Budget"}, "the alert has no label 'budget'"),
        ({"name": "Budget", "budget": "weekly"}, "no budget is called 'weekly'"),
    ],
)
def test_an_alert_that_names_nobody_is_refused_and_audited(
    office: Office, labels: dict[str, str], why: str
) -> None:
    [answer] = office.told(one(**labels))

    assert (answer.outcome.value, answer.why) == ("refused", why)
    assert len(office.hub) == 0
    [audit] = office.audits
    assert (audit.order.kind, audit.order.reason, audit.done) == (OrderKind.KILL, f"refused: {why}", False)


def test_every_order_is_audited_with_who_and_why(office: Office) -> None:
    office.told(one())
    office.told(one(status="resolved"))

    fields = [audit.fields() for audit in office.audits]
    assert fields == [
        {
            "who": "alert/Burning",
            "order": "kill",
            "key": "agent/coder",
            "reason": "Burning: Too much.",
            "done": True,
        },
        {
            "who": "alert/Burning",
            "order": "release",
            "key": "agent/coder",
            "reason": "Burning: the alert is over",
            "done": True,
        },
    ]


def test_what_nobody_tells_of_any_more_ends_by_its_time(office: Office) -> None:
    office.told(one(), one("Slow"))
    assert office.desk.next_deadline() == office.clock.now + 600

    office.clock.now += 599
    office.desk.advance()
    assert len(office.standing()) == 2

    office.clock.now += 1
    office.desk.advance()
    assert (office.standing(), state(office)) == ([], BreakerState.CLOSED)
    assert office.desk.next_deadline() is None


def test_what_is_told_again_in_time_holds_on(office: Office) -> None:
    office.told(one(), one("Slow"))

    for _ in range(20):
        office.clock.now += 300
        assert office.outcomes(one(), one("Slow")) == ["obeyed", "obeyed"]

    assert len(office.standing()) == 2


def test_a_throttle_is_told_to_applications_anew_only_when_its_time_runs_low(office: Office) -> None:
    office.told(one("Slow"))
    cursor = office.hub.cursor

    office.clock.now += 100
    office.told(one("Slow"))
    assert office.hub.cursor == cursor

    office.clock.now += 100
    office.told(one("Slow"))
    assert office.hub.cursor.revision == cursor.revision + 1


def test_two_alerts_about_one_agent_both_have_to_be_over(office: Office) -> None:
    assert office.outcomes(one(), one(detector="repeat")) == ["obeyed", "obeyed"]

    office.told(one(status="resolved"))
    assert state(office) is BreakerState.FORCED_OPEN

    office.told(
        one(status="resolved", detector="repeat") | {"fingerprint": one(detector="repeat")["fingerprint"]}
    )
    assert state(office) is BreakerState.CLOSED


def test_an_operators_release_holds_until_the_alert_fires_anew(office: Office) -> None:
    office.told(one())
    office.operator(OrderKind.RELEASE)

    assert office.outcomes(one()) == ["ignored"]
    assert state(office) is BreakerState.CLOSED
    office.clock.now += 3_600
    assert office.outcomes(one()) == ["ignored"]

    assert office.outcomes(one() | AGAIN) == ["obeyed"]
    assert state(office) is BreakerState.FORCED_OPEN


def test_a_directive_that_an_operator_took_down_stays_down(office: Office) -> None:
    told = one("Slow")
    office.told(told)
    office.hub.publish(removals=[Removal(THROTTLE.format(told["fingerprint"]), 0)])

    assert office.outcomes(told) == ["ignored"]
    assert office.standing() == []


def test_an_operators_stop_is_never_taken_back_for_an_alert(office: Office) -> None:
    office.operator(OrderKind.KILL)

    assert office.outcomes(one()) == ["ignored"]
    assert office.outcomes(one(status="resolved")) == ["ignored"]
    assert state(office) is BreakerState.FORCED_OPEN


def test_a_stop_that_an_operator_orders_after_an_alert_outlives_it(office: Office) -> None:
    office.told(one(), one("Slow"))
    office.operator(OrderKind.KILL)

    assert office.outcomes(one(status="resolved")) == ["ignored"]
    assert state(office) is BreakerState.FORCED_OPEN


def test_what_an_operator_stopped_stays_so_when_it_is_forgotten_that_an_alert_came_first(
    office: Office,
) -> None:
    office.told(one())
    office.operator(OrderKind.KILL)

    office.clock.now += OVERRULED
    office.desk.advance()

    assert office.desk.next_deadline() is None
    assert state(office) is BreakerState.FORCED_OPEN


def test_a_throttle_ends_with_its_alert_though_an_operator_stopped_the_agent(office: Office) -> None:
    office.told(one("Slow"))
    office.operator(OrderKind.KILL)

    office.told(one("Slow") | {"status": "resolved"})

    assert office.standing() == ["agent/coder/stop"]


def test_a_run_that_is_stopped_already_is_left_as_it_is(office: Office) -> None:
    office = Office(rules=(Obey("*", (), Deed.STOP, Target(Level.RUN, "run")),))
    office.hub.publish([stop("r1")])

    assert office.outcomes(one(run="r1")) == ["ignored"]
    office.told(one(run="r1", status="resolved"))
    assert office.hub.get("run/r1/stop") is not None


def test_the_budgets_are_those_of_the_policy_that_holds(office: Office) -> None:
    office.desk.budgets = ()

    assert office.outcomes(one("Budget", budget="daily")) == ["refused"]


def test_more_alerts_than_can_be_kept_are_refused(office: Office) -> None:
    outcomes = [office.outcomes(one("Slow", agent=f"a{number}"))[0] for number in range(MOST + 1)]

    assert outcomes == ["obeyed"] * MOST + ["refused"]


def test_what_came_of_alerts_is_counted_by_what_the_policy_calls_them(office: Office) -> None:
    office.told(one("Slow"), one("Slow") | {"status": "resolved"}, one("Whatever"), one(agent="other"))

    assert office.counts == {
        ("Slow", "obeyed"): 1,
        ("Slow", "cleared"): 1,
        ("Burn*", "refused"): 1,
        ("other", "ignored"): 1,
    }


def test_an_alert_about_everything_stops_everything() -> None:
    office = Office(rules=(Obey("*", (), Deed.STOP, Target(Level.EVERYTHING)), STOP, SLOW, OF_BUDGET))

    assert office.outcomes(one()) == ["obeyed"]
    assert office.hub.get("everything//stop") is not None
