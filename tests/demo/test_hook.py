"""The webhook of the demo: what is signed is believed, nothing else is."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping

import pytest

from spanfuse.demo.hook import FRESH, Hook
from spanfuse_processor.alerting.payload import body_of, headers
from spanfuse_processor.engine.alerts import BudgetEvent, Condition
from spanfuse_processor.engine.budget import Account, Measure, Reaction
from spanfuse_processor.engine.verdicts import Mode

NOW = 1_700_000_000
EVENT = BudgetEvent(
    Account("research"),
    Measure.USD,
    Condition.IMMINENT,
    Reaction.DEGRADE,
    Mode.ENFORCE,
    wall=NOW - 0.5,
    start=NOW - 60.0,
    end=NOW + 0.0,
    spent=300_000,
    limit=1_000_000,
    exhausted_at=NOW + 9.5,
)
BODY = body_of(EVENT)


def signed(secret: str, seconds: int = NOW, body: bytes = BODY) -> Mapping[str, str]:
    """What the processor sends with a body."""
    return {name.lower(): value for name, value in headers(EVENT.id, seconds, body, secret).items()}


@pytest.fixture
def hook() -> Hook:
    """One that does not listen."""
    made = Hook()
    made._server.server_close()
    return made


def test_what_the_processor_signs_is_genuine(hook: Hook) -> None:
    assert hook.take(signed(hook.secret), BODY, NOW) == 204

    (alert,) = hook.alerts
    assert (alert.kind, alert.budget, alert.reaction) == ("imminent", "research", "degrade")
    assert (alert.signed, alert.at, alert.raised, alert.seconds_left) == (True, NOW, NOW - 0.5, 10.0)
    assert "runs out in 10 s" in alert.message


@pytest.mark.parametrize(
    ("changed", "now"),
    [
        ({"webhook-signature": "v1,AAAA"}, NOW),
        ({"webhook-signature": ""}, NOW),
        ({"webhook-id": "another"}, NOW),
        ({"webhook-timestamp": str(NOW + 1)}, NOW),
        ({"webhook-timestamp": "now"}, NOW),
        ({}, NOW + FRESH + 1),
    ],
    ids=["wrong", "none", "another id", "another time", "no time", "old"],
)
def test_what_is_not_genuine_is_refused_and_kept_as_such(
    hook: Hook, changed: dict[str, str], now: float
) -> None:
    assert hook.take({**signed(hook.secret), **changed}, BODY, now) == 401
    assert [alert.signed for alert in hook.alerts] == [False]


def test_a_body_that_was_changed_is_not_genuine(hook: Hook) -> None:
    assert hook.take(signed(hook.secret), BODY.replace(b"degrade", b"warn"), NOW) == 401


def test_another_secret_is_not_genuine(hook: Hook) -> None:
    assert hook.take(signed("whsec_c2VjcmV0"), BODY, NOW) == 401


@pytest.mark.parametrize("body", [b"{", b"[]", b"{}"])
def test_what_is_no_alert_is_no_alert(hook: Hook, body: bytes) -> None:
    assert hook.take(signed(hook.secret, body=body), body, NOW) == 400
    assert hook.alerts == []


def test_it_listens_on_loopback_and_answers() -> None:
    with Hook() as hook:
        request = urllib.request.Request(hook.url, BODY, {"content-type": "application/json"})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=5)

        assert refused.value.code == 401
        refused.value.close()
        assert json.loads(BODY)["message"] == hook.alerts[0].message
