"""What Alertmanager posts is read whole, or refused with the place that is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from tests.control.alerting import message, one

from spanfuse_processor.control.alert_payload import MAX_ALERTS, MAX_TEXT, read_alerts
from spanfuse_processor.control.payloads import BadRequest


def test_an_alert_is_read_with_its_labels_and_its_summary() -> None:
    [alert] = read_alerts(message(one(budget="daily"))).alerts

    assert (alert.name, alert.firing, alert.summary) == ("Burning", True, "Too much.")
    assert alert.labels == {
        "alertname": "Burning",
        "severity": "critical",
        "agent": "coder",
        "budget": "daily",
    }
    assert alert.starts == "2026-11-30T12:00:00.000Z"


def test_an_alert_that_is_over_does_not_fire() -> None:
    assert not read_alerts(message(one(status="resolved"))).alerts[0].firing


def test_a_message_says_how_many_alerts_it_left_out() -> None:
    assert read_alerts(message(truncatedAlerts=7)).truncated == 7


def test_what_later_versions_add_is_passed_over() -> None:
    told = read_alerts(message(one() | {"silenced": []}, notificationReason="repeat"))

    assert len(told.alerts) == 1


def test_a_summary_is_one_short_line() -> None:
    [alert] = read_alerts(message(one() | {"annotations": {"summary": "a\nb\x07" + "c" * 999}})).alerts

    assert alert.summary.startswith("a b c")
    assert len(alert.summary) == MAX_TEXT


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"status": "maybe"}, "alerts.1.status"),
        ({"labels": {"agent": "coder"}}, "alerts.1.labels.alertname"),
        ({"labels": {"alertname": 5}}, "alerts.1.labels"),
        ({"labels": []}, "alerts.1.labels"),
        ({"annotations": {"summary": None}}, "alerts.1.annotations"),
        ({"fingerprint": ""}, "alerts.1.fingerprint"),
        ({"fingerprint": "../etc"}, "alerts.1.fingerprint"),
        ({"fingerprint": "a" * 65}, "alerts.1.fingerprint"),
        ({"startsAt": None}, "alerts.1.startsAt"),
    ],
)
def test_an_alert_that_is_wrong_spoils_the_message_and_is_named(change: dict[str, Any], where: str) -> None:
    with pytest.raises(BadRequest, match=rf"^{where}: "):
        read_alerts(message(one(), one() | change))


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"{", "the body is not JSON"),
        (b"[" * 100_000, "the body is not JSON"),
        (b"[]", "the body must be a message of Alertmanager"),
        (b'{"alerts": {}}', "the body must be a message of Alertmanager"),
        (message(version="5"), "version: expected '4', got '5'"),
        (message(*[None] * (MAX_ALERTS + 1)), "alerts: more than 1000"),  # type: ignore[arg-type]
        (message(None), "alerts.0: expected an object"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_message_is_refused(body: bytes, says: str) -> None:
    with pytest.raises(BadRequest, match=says):
        read_alerts(body)
