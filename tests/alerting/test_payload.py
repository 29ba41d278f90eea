"""The body of a webhook and its signature."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json

import pytest

from spanfuse_processor.alerting.payload import body_of, headers, sign
from spanfuse_processor.engine.alerts import BudgetEvent, Condition
from spanfuse_processor.engine.budget import Account, Measure, Reaction
from spanfuse_processor.engine.forecast import RunForecast
from spanfuse_processor.engine.verdicts import Mode

EVENT = BudgetEvent(
    Account("daily", ("ann",)),
    Measure.USD,
    Condition.IMMINENT,
    Reaction.DEGRADE,
    Mode.ENFORCE,
    wall=1_700_000_000.5,
    start=1_699_920_000.0,
    end=1_700_006_400.0,
    spent=7_000_001,
    limit=10_000_000,
    exhausted_at=1_700_000_900.5,
    span_id=b"\x01" * 8,
)


def test_money_is_decimal_and_times_are_utc() -> None:
    said = json.loads(body_of(EVENT))

    assert (said["spent"], said["limit"]) == ("7.000001", "10.000000")
    assert said["timestamp"] == "2023-11-14T22:13:20.500Z"
    assert said["exhausted_at"] == "2023-11-14T22:28:20.500Z"
    assert said["seconds_left"] == 900.0
    assert (said["type"], said["budget"], said["values"]) == ("budget.imminent", "daily", ["ann"])
    assert (said["span_id"], said["trace_id"]) == ("01" * 8, None)


def test_of_a_run_it_says_how_many_steps_are_left_and_what_it_would_come_to() -> None:
    run = RunForecast(7, 700_000.0, 2, 2, 3, 1_000_000.0, 1_200_000.4, 1_500_000.0, finished=20)
    steps = EVENT._replace(condition=Condition.STEPS, exhausted_at=None, run=run)

    said = json.loads(body_of(steps))

    assert (said["steps_left"], said["run_total"]) == ([2, 3], ["1.000000", "1.200000", "1.500000"])
    assert "ends in 2 to 3 steps" in said["message"]
    unknown = json.loads(body_of(steps._replace(run=run._replace(total_low=None))))
    assert unknown["run_total"] is None


def test_counts_are_numbers() -> None:
    said = json.loads(body_of(EVENT._replace(measure=Measure.CALLS, spent=7, limit=10, exhausted_at=None)))

    assert (said["spent"], said["limit"], said["exhausted_at"], said["seconds_left"]) == (7, 10, None, None)


def test_a_budget_per_run_has_no_end_to_tell() -> None:
    assert json.loads(body_of(EVENT._replace(end=float("inf"))))["period_end"] is None


def test_the_same_condition_of_the_same_period_has_the_same_id() -> None:
    assert EVENT.id == EVENT._replace(wall=1_700_000_600.0, spent=8_000_000).id
    assert EVENT.id != EVENT._replace(start=1_700_006_400.0).id
    assert EVENT.id != EVENT._replace(account=Account("daily", ("bob",))).id


@pytest.mark.parametrize("secret", ["plain", "whsec_" + base64.b64encode(b"plain").decode()])
def test_the_signature_is_over_id_time_and_body(secret: str) -> None:
    expected = base64.b64encode(hmac.digest(b"plain", b"e1.17.{}", hashlib.sha256)).decode()

    assert headers("e1", 17, b"{}", secret)["webhook-signature"] == f"v1,{expected}"
    assert sign("e1", 18, b"{}", secret) != expected


def test_without_a_secret_nothing_is_signed() -> None:
    assert "webhook-signature" not in headers("e1", 17, b"{}", "")
