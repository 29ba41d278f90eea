"""The webhook for Alertmanager of a real service, asked over its own port."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from tests.control.alerting import message, one
from tests.processes import ADMIN_TOKEN, Processor

from spanfuse_processor.control.alertmanager import MAX_BODY

TELLER, CLIENT = "alertmanager-token", "client-token"
CONFIG = f"""\
auth: {{client_tokens: [{CLIENT}]}}
alerts:
  alertmanager_token: {TELLER}
  obey:
    - {{alert: Burn*, action: stop, target: {{level: agent, label: agent}}}}
    - {{alert: Slow, action: throttle, target: {{level: feature, label: feature}}, calls_per_second: 0.5}}
    - {{alert: Budget, action: throttle, target: {{level: budget, label: budget}}}}
policy:
  budgets:
    daily: {{usd: 5}}
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processor]:
    """A service with a policy for alerts."""
    file = tmp_path_factory.mktemp("service") / "c.yaml"
    file.write_text(CONFIG)
    service = Processor(environment={"SPANFUSE_CONFIG": str(file)})
    service.start()
    yield service
    assert service.stop() == 0


def ask(
    running: Processor, path: str, body: bytes | None, token: str = TELLER, kind: str = "application/json"
) -> tuple[int, Any]:
    """The status and the body of an answer."""
    headers = {"content-type": kind} | ({"authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(running.http + path, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as refused:
        return refused.code, json.loads(refused.read())


def tell(running: Processor, *alerts: dict[str, Any]) -> list[dict[str, Any]]:
    """What came of each alert."""
    status, body = ask(running, "/v1/alertmanager", message(*alerts))
    assert status == 200
    return [*body["alerts"]]


def standing(running: Processor) -> dict[str, Any]:
    """What stands, by id."""
    _, body = ask(running, "/v1/directives", None, ADMIN_TOKEN)
    return {each["id"]: each for each in body["directives"]}


def test_alerts_stop_and_slow_what_they_name_until_they_are_over(running: Processor) -> None:
    told = [one(), one("Slow", feature="chat"), one("Budget", budget="daily"), one("Elsewhere")]
    slow, budget = (f"alert/{each['fingerprint']}/throttle" for each in told[1:3])

    assert [each["outcome"] for each in tell(running, *told)] == ["obeyed"] * 3 + ["ignored"]
    stands = standing(running)
    assert set(stands) == {"agent/coder/stop", slow, budget}
    assert [stands[name]["key"] for name in (slow, budget)] == ["feature/chat", "budget/daily"]
    assert {each["issuer"] for each in stands.values()} == {"alert/Burning", "alert/Slow", "alert/Budget"}

    over = [each | {"status": "resolved"} for each in told]
    assert [each["outcome"] for each in tell(running, *over)] == ["cleared"] * 3 + ["ignored"]
    assert standing(running) == {}


def test_a_message_that_comes_twice_orders_once(running: Processor) -> None:
    tell(running, one())
    before = standing(running)

    tell(running, one())

    after = standing(running)
    assert [each["revision"] for each in after.values()] == [each["revision"] for each in before.values()]
    tell(running, one(status="resolved"))


def test_an_operator_takes_back_what_an_alert_ordered(running: Processor) -> None:
    tell(running, one())
    released, _ = ask(running, "/v1/release", json.dumps({"key": "agent/coder"}).encode(), ADMIN_TOKEN)

    [again] = tell(running, one())

    assert released == 200
    assert (again["outcome"], again["why"]) == ("ignored", "an operator took it back")
    assert standing(running) == {}
    tell(running, one(status="resolved"))


@pytest.mark.parametrize(("token", "status"), [("", 401), ("wrong", 401), (CLIENT, 403)])
def test_only_alertmanager_and_operators_tell_of_alerts(running: Processor, token: str, status: int) -> None:
    assert ask(running, "/v1/alertmanager", message(one()), token)[0] == status
    assert standing(running) == {}


def test_an_operator_may_tell_of_alerts(running: Processor) -> None:
    assert ask(running, "/v1/alertmanager", message(), ADMIN_TOKEN) == (200, {"alerts": []})


@pytest.mark.parametrize("path", ["/v1/kill", "/v1/release"])
def test_the_token_of_alertmanager_opens_nothing_else(running: Processor, path: str) -> None:
    assert ask(running, path, b'{"key": "everything"}')[0] == 401
    assert ask(running, "/v1/directives", None)[0] == 401


@pytest.mark.parametrize(
    ("body", "kind", "status", "says"),
    [
        (b"{", "application/json", 400, "not JSON"),
        (message(version="3"), "application/json", 400, "version"),
        (message(one() | {"status": "?"}), "application/json", 400, "alerts.0.status"),
        (message(one()), "text/plain", 415, "application/json"),
    ],
)
def test_what_is_no_message_of_alertmanagers_is_refused(
    running: Processor, body: bytes, kind: str, status: int, says: str
) -> None:
    code, answer = ask(running, "/v1/alertmanager", body, kind=kind)

    assert (code, says in answer["message"]) == (status, True)
    assert standing(running) == {}


def test_a_message_that_says_it_is_too_long_is_not_read(running: Processor) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", running.http_port, timeout=10)
    connection.putrequest("POST", "/v1/alertmanager")
    connection.putheader("content-type", "application/json")
    connection.putheader("authorization", f"Bearer {TELLER}")
    connection.putheader("content-length", str(MAX_BODY + 1))
    connection.endheaders()

    assert connection.getresponse().status == 413
    connection.close()
