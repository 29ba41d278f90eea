"""What the last act came to: every claim fails when it is not so, and only then."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest

from spanfuse.demo import allowance
from spanfuse.demo.hook import Alert
from spanfuse.demo.thrift import Degraded, Held, ThriftResult, Worked, settle
from spanfuse.demo.usage import Asked, Tally

BEGAN = 1_000.0
ALERT = Alert(BEGAN + 8, BEGAN + 7.9, "imminent", "research", "degrade", "It runs out.", 15.0, True)
BRAKE = Alert(BEGAN + 10, BEGAN + 10, "mark", "research-calls", "throttle", "75 % are reached.", None, True)
WORKED = Worked(
    "finished",
    calls=22,
    degraded=3,
    throttled=3,
    first_degraded=Degraded(BEGAN + 8.5, "gpt-4o", "gpt-4o-mini", 500, 150),
    first_held=Held(BEGAN + 12, 2_000),
)


def asked(after: float, model: str = "gpt-4o", most: int | None = None, user: str = "research") -> Asked:
    return Asked(BEGAN + after, user, model, most, 20, 0, 500)


DEAR = [asked(after / 2) for after in range(17)]  # one each half second: until the alert
CHEAP = [asked(after, "gpt-4o-mini", 150) for after in (8.5, 9, 12, 14, 16)]


def price(model: str, used: Tally) -> float:
    assert used.output_tokens == 500
    return 0.03 if model == "gpt-4o" else 0.001


def result(**changed: Any) -> ThriftResult:
    given = {"alerts": [ALERT, BRAKE], "log": [*CHEAP, *DEAR], "worked": WORKED, "ended": BEGAN + 17}
    return settle(**{**given, "price": price, **changed})


def test_an_act_in_which_everything_happens_is_right() -> None:
    act = result()

    assert (act.ok, act.missing) == (True, [])
    assert act.spent == pytest.approx(17 * 0.03 + 5 * 0.001)
    assert act.peak == pytest.approx(0.06)


def test_the_lead_is_what_the_money_would_have_lasted_at_the_rate_of_the_alert() -> None:
    act = result()

    assert act.lead == pytest.approx((1 - 0.51) / 0.06)
    assert act.gone == pytest.approx(BEGAN + 8 + (1 - 0.51) / 0.06)
    assert act.unguarded == pytest.approx(0.51 + 9 * 0.06)


def test_what_others_asked_for_is_not_counted() -> None:
    log = [*DEAR, *CHEAP, asked(9, user="looping")]

    assert result(log=log).spent == result().spent


LATE = replace(ALERT, at=BEGAN + 8, raised=BEGAN + 8)
FAILURES: dict[str, dict[str, Any]] = {
    "the agent did not come to its end": {"worked": replace(WORKED, outcome="failed (OSError)")},
    "no forecast was heard": {"alerts": [BRAKE]},
    "the alert was not signed rightly": {"alerts": [replace(ALERT, signed=False), BRAKE]},
    "the alert came too late": {"log": [*DEAR, *[asked(8)] * 14, *CHEAP]},
    "no request was made cheaper": {"log": DEAR},
    "requests were made cheaper before the alert": {"log": [*DEAR, *CHEAP, asked(7, "gpt-4o-mini", 150)]},
    "no span says that its call gave something up": {"worked": replace(WORKED, degraded=0)},
    "no mark was heard that slows calls down": {"alerts": [ALERT]},
    "no span says that its call was held back": {"worked": replace(WORKED, throttled=0)},
    "calls were refused": {"worked": replace(WORKED, refused=1)},
    "the spend did not slow down": {"log": [*DEAR, *CHEAP, *[asked(16)] * 5]},
    "the budget was overrun": {"log": [*DEAR, *CHEAP, *[asked(10)] * 17]},
}


@pytest.mark.parametrize("missing", FAILURES)
def test_what_did_not_happen_is_named(missing: str) -> None:
    act = result(**FAILURES[missing])

    assert not act.ok
    assert missing in act.missing
    assert act.as_json()["missing"] == act.missing


def test_an_alert_of_the_application_itself_needs_no_signature() -> None:
    assert result(alerts=[replace(ALERT, signed=None), replace(BRAKE, signed=None)]).ok


@pytest.mark.parametrize("changed", [{"kind": "likely"}, {"budget": "another"}])
def test_other_alerts_are_not_the_forecasts(changed: dict[str, str]) -> None:
    assert "no forecast was heard" in result(alerts=[replace(ALERT, **changed), BRAKE]).missing


def test_a_cheaper_model_with_as_many_tokens_is_not_what_was_ordered() -> None:
    log = [*DEAR, *(replace(each, most=None) for each in CHEAP)]

    assert "no request was made cheaper" in result(log=log).missing


def test_nothing_at_all_is_a_result_too() -> None:
    act = result(alerts=[], log=[], worked=Worked())
    shown = act.as_json()

    assert not act.ok
    assert (shown["alert"], shown["spent_usd"], shown["unguarded_usd"]) == (None, 0.0, None)


def test_times_are_told_from_the_first_request() -> None:
    shown = result().as_json()

    assert shown["alert"] == {
        "kind": "imminent",
        "signed": True,
        "after_s": 8.0,
        "lead_s": 8.167,
        "forecast_lead_s": 15.0,
        "spent_usd": 0.51,
    }
    assert (shown["throttled_after_s"], shown["ended_after_s"], shown["gone_after_s"]) == (10.0, 17.0, 16.167)
    assert shown["agent"]["first_degraded"]["after_s"] == 8.5
    assert shown["agent"]["first_held"] == {"waited_ms": 2_000, "after_s": 12.0}
    assert shown["limit_usd"] == allowance.LIMIT_USD


def test_what_the_agent_says_comes_whole_from_another_process() -> None:
    assert Worked.of(asdict(WORKED)) == WORKED
    assert Worked.of(asdict(Worked())) == Worked()
