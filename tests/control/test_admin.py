"""The operators' endpoint, through the application that serves it, with a real engine behind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.control.serving import CLIENT, OPERATOR, TOKENS, FakeClock, make_hub
from tests.wire.builders import stop

from spanfuse_processor.asgi import Application
from spanfuse_processor.auth import Tokens
from spanfuse_processor.control.admin import MAX_BODY, Admin, Audit
from spanfuse_processor.control.hub import Hub
from spanfuse_processor.control.view import View
from spanfuse_processor.engine import Engine, NoPrices, Order, OrderKind, Policy, Verdict
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import Removal
from spanfuse_processor.wire.messages import Cursor

BY_OPERATOR = {"authorization": f"Bearer {OPERATOR}", "content-type": "application/json"}


@dataclass
class Answer:
    """An HTTP answer."""

    status: int
    headers: Mapping[str, str]
    body: Any


@dataclass
class Endpoint:
    """The endpoint over a hub and an engine, as the service puts them together."""

    hub: Hub
    clock: FakeClock
    engine: Engine = field(default_factory=lambda: Engine(Policy(), NoPrices()))
    audits: list[Audit] = field(default_factory=list)
    faults: list[BaseException] = field(default_factory=list)
    seen: set[BreakerKey] = field(default_factory=set)
    tokens: Tokens = TOKENS

    def order(self, order: Order) -> tuple[Verdict, ...]:
        verdicts = self.engine.command(order, self.clock.now)
        self.hub.publish(
            [verdict.directive for verdict in verdicts if verdict.directive],
            [verdict.removal for verdict in verdicts if verdict.removal],
        )
        return verdicts

    def runs(self, most: int) -> list[Mapping[str, Any]]:
        return [{"run": f"r{number}"} for number in range(min(most, 3))]

    def knows(self, run: BreakerKey) -> bool:
        return run in self.seen

    async def ask(
        self, method: str, path: str, body: Any = b"", headers: Mapping[str, str] = BY_OPERATOR
    ) -> Answer:
        """One request through ASGI."""
        note = self.audits.append
        admin = Admin(self.hub, self.tokens, self.order, self.runs, self.knows, note, self.clock)
        application = Application(admin.routes(), lambda _, error: self.faults.append(error))
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        where, _, query = path.partition("?")
        scope = {
            "type": "http",
            "method": method,
            "path": where,
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": data}

        async def send(message: Any) -> None:
            sent.append(message)

        await application(scope, receive, send)
        received = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], received, json.loads(sent[1]["body"]))


@pytest.fixture
def endpoint() -> Endpoint:
    return Endpoint(*make_hub())


async def test_a_kill_is_published_answered_and_audited(endpoint: Endpoint) -> None:
    headers = BY_OPERATOR | {"x-spanfuse-operator": "ann"}

    answer = await endpoint.ask("POST", "/v1/kill", {"key": "feature/chat", "reason": "too costly"}, headers)

    [directive] = endpoint.hub.standing(View())
    assert answer.status == 200
    assert answer.body["key"] == "feature/chat"
    assert [each["id"] for each in answer.body["directives"]] == [directive.id]
    assert (directive.key, directive.issuer) == (BreakerKey(Level.FEATURE, "chat"), "ann")
    order = Order(OrderKind.KILL, directive.key, "too costly", "ann")
    assert endpoint.audits == [Audit(endpoint.clock.wall_ns(), "ann", order, True)]


async def test_a_plain_id_is_a_run(endpoint: Endpoint) -> None:
    answer = await endpoint.ask("POST", "/v1/kill", {"key": "7f3a"})

    assert answer.body["key"] == "run/7f3a"
    assert endpoint.hub.under(BreakerKey(Level.RUN, "7f3a"))


async def test_a_kill_of_what_is_killed_says_what_stands(endpoint: Endpoint) -> None:
    await endpoint.ask("POST", "/v1/kill", {"key": "r1"})

    again = await endpoint.ask("POST", "/v1/kill", {"key": "r1"})

    assert again.status == 200
    assert again.body["changed"] is False
    assert [each["id"] for each in again.body["directives"]] == ["run/r1/stop"]
    assert [audit.done for audit in endpoint.audits] == [True, False]


async def test_a_kill_says_that_it_changed_something_and_whether_the_run_was_ever_seen(
    endpoint: Endpoint,
) -> None:
    endpoint.seen = {BreakerKey(Level.RUN, "r1")}

    seen = await endpoint.ask("POST", "/v1/kill", {"key": "r1"})
    unseen = await endpoint.ask("POST", "/v1/kill", {"key": "r2"})

    assert (seen.body["changed"], seen.body["known"]) == (True, True)
    assert (unseen.body["changed"], unseen.body["known"]) == (True, False)


@pytest.mark.parametrize("key", ["feature/chat", "everything"])
async def test_only_of_runs_it_is_said_whether_they_were_seen(endpoint: Endpoint, key: str) -> None:
    answer = await endpoint.ask("POST", "/v1/kill", {"key": key})

    assert answer.body["changed"] is True
    assert "known" not in answer.body


async def test_a_kill_of_which_no_directive_comes_is_a_conflict(endpoint: Endpoint) -> None:
    await endpoint.ask("POST", "/v1/kill", {"key": "r1"})
    endpoint.hub.publish(removals=[Removal("run/r1/stop", 0)])

    assert (await endpoint.ask("POST", "/v1/kill", {"key": "r1"})).status == 409


async def test_a_release_takes_down_what_stands(endpoint: Endpoint) -> None:
    await endpoint.ask("POST", "/v1/kill", {"key": "everything"})

    answer = await endpoint.ask("POST", "/v1/release", {"key": "everything", "reason": "over"})

    assert (answer.status, answer.body["key"]) == (200, "everything")
    assert len(endpoint.hub) == 0
    assert endpoint.audits[-1].done


async def test_a_release_takes_down_what_the_engine_has_forgotten(endpoint: Endpoint) -> None:
    endpoint.hub.publish([stop("r1")])

    answer = await endpoint.ask("POST", "/v1/release", {"key": "r1"})

    assert (answer.status, answer.body["released"]) == (200, ["run/r1/stop"])
    assert len(endpoint.hub) == 0


async def test_a_release_of_nothing_says_so_and_is_told_to_applications_all_the_same(
    endpoint: Endpoint,
) -> None:
    before = endpoint.hub.cursor

    answer = await endpoint.ask("POST", "/v1/release", {"key": "r1"})

    assert answer.status == 404
    told = "nothing stood under run/r1; applications were told to forget it all the same"
    assert answer.body["message"] == told
    assert endpoint.hub.cursor == Cursor(before.epoch, before.revision + 1)
    assert not endpoint.audits[-1].done


async def test_directives_are_shown_newest_first(endpoint: Endpoint) -> None:
    endpoint.hub.publish([stop("r1", 1), stop("r2", 2), stop("r3", 3)])

    answer = await endpoint.ask("GET", "/v1/directives?limit=2")

    assert [each["key"] for each in answer.body["directives"]] == ["run/r3", "run/r2"]
    assert answer.headers["cache-control"] == "no-store"


async def test_runs_are_shown_as_many_as_asked_for(endpoint: Endpoint) -> None:
    assert (await endpoint.ask("GET", "/v1/runs")).body == {"runs": [{"run": f"r{n}"} for n in range(3)]}
    assert len((await endpoint.ask("GET", "/v1/runs?limit=1")).body["runs"]) == 1


ROUTES = [("POST", "/v1/kill"), ("POST", "/v1/release"), ("GET", "/v1/directives"), ("GET", "/v1/runs")]
NOBODY: dict[str, str] = {"content-type": "application/json"}


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    ("authorization", "status"),
    [("", 401), ("Bearer wrong", 401), (f"Basic {OPERATOR}", 401), (f"Bearer {CLIENT}", 403)],
)
async def test_only_operators_are_let_in(
    endpoint: Endpoint, method: str, path: str, authorization: str, status: int
) -> None:
    headers = NOBODY | ({"authorization": authorization} if authorization else {})

    answer = await endpoint.ask(method, path, {"key": "r1"}, headers)

    assert answer.status == status
    assert ("www-authenticate" in answer.headers) == (status == 401)
    assert len(endpoint.hub) == 0
    assert endpoint.audits == []


async def test_nobody_is_an_operator_because_clients_need_no_token(endpoint: Endpoint) -> None:
    endpoint.tokens = Tokens((), [OPERATOR])

    nobody = await endpoint.ask("POST", "/v1/kill", {"key": "r1"}, NOBODY)
    wrong = await endpoint.ask("POST", "/v1/kill", {"key": "r1"}, NOBODY | {"authorization": "Bearer x"})

    assert (nobody.status, wrong.status) == (401, 403)


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
)
async def test_what_a_browsers_form_can_send_is_refused(endpoint: Endpoint, kind: str) -> None:
    answer = await endpoint.ask("POST", "/v1/kill", {"key": "r1"}, BY_OPERATOR | {"content-type": kind})

    assert answer.status == 415
    assert len(endpoint.hub) == 0


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), ({"key": "agnet/x"}, 400), ({"key": "r1", "reason": "x" * MAX_BODY}, 413)],
)
async def test_a_bad_body_is_refused_with_a_message(endpoint: Endpoint, body: Any, status: int) -> None:
    answer = await endpoint.ask("POST", "/v1/kill", body)

    assert answer.status == status
    assert answer.body["message"]
    assert endpoint.audits == []


async def test_a_bad_limit_is_refused(endpoint: Endpoint) -> None:
    assert (await endpoint.ask("GET", "/v1/runs?limit=many")).status == 400


@pytest.mark.parametrize("claimed", ["", "x\ty", "a" * 1000])
async def test_a_name_that_an_operator_claims_is_bounded_and_printable(
    endpoint: Endpoint, claimed: str
) -> None:
    await endpoint.ask("POST", "/v1/kill", {"key": "r1"}, BY_OPERATOR | {"x-spanfuse-operator": claimed})

    assert endpoint.audits[0].who in ("operator", "a" * 100)
