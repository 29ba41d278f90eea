"""What the breaker does is recorded as events: each once, with who it was about and what it rested on."""

from __future__ import annotations

import pytest
from tests.bookkeeping.host import ANN, SOON, WALL, Host, body, run_of
from tests.engine.making import agent, ended, model, span, trace

from spanfuse_processor.bookkeeping.policies import version_of
from spanfuse_processor.engine import Policy
from spanfuse_processor.engine.alerts import BudgetEvent, Condition
from spanfuse_processor.engine.budget import Account, Measure, Reaction
from spanfuse_processor.engine.events import RawSpan
from spanfuse_processor.engine.orders import OrderKind
from spanfuse_processor.engine.verdicts import Mode
from spanfuse_processor.wire.effects import Effect, EffectState
from spanfuse_processor.wire.messages import Instance

APP = Instance("chat", "pod-1")


def test_a_trip_is_recorded_with_what_it_rests_on() -> None:
    host = Host()
    host.loop()

    (trip,) = host.kept("trip")

    assert (trip.at, trip.severity, trip.key) == (WALL, "red", str(run_of()))
    assert (trip.trace_id, trip.span_id) == (trace(1).hex(), span(7).hex())
    assert (trip.tenant, trip.feature, trip.user, trip.agent, trip.tool) == (
        "acme",
        "mail",
        "ann",
        "planner",
        "read_page",
    )
    said = body(trip)
    assert (said["detector"], said["rule"], said["reason"], said["action"]) == (
        "repeat",
        "equal",
        "LOOP",
        "stop",
    )
    assert (said["mode"], said["level"], said["observed"], said["limit"], said["call"]) == (
        "enforce",
        "run",
        5.0,
        5.0,
        7,
    )
    assert (said["first_span"], said["spans"]) == (
        span(3).hex(),
        [span(number).hex() for number in range(3, 8)],
    )
    assert (said["prints"], said["spent_usd"], said["run_calls"], said["run_tokens"]) == (
        ["a" * 16, "b" * 16],
        0.00011,
        7,
        110,
    )
    assert said["cleared_by"]
    assert "Answer with what you have" in said["model_message"]
    assert said["policy"] == version_of(Policy())
    assert said["generation"] == 1


def test_the_revision_is_that_by_which_applications_answer() -> None:
    host = Host()
    verdicts = host.loop()

    directive = verdicts[-1].directive
    assert directive is not None
    assert body(host.kept("trip")[0])["revision"] == directive.revision + 1_000


def test_a_warning_is_recorded_as_one() -> None:
    host = Host()
    host.loop(calls=3)

    assert [(row.kind, row.severity, body(row)["action"]) for row in host.kept()] == [
        ("warn", "yellow", "warn")
    ]


@pytest.mark.parametrize("mode", [Mode.SHADOW, Mode.WARN])
def test_a_stop_that_is_only_said_is_withheld(mode: Mode) -> None:
    host = Host(Policy(mode=mode))
    host.loop()

    assert [row.kind for row in host.kept()] == ["warn", "withheld"]
    assert body(host.kept("withheld")[0])["mode"] == mode.value


def test_what_is_deserved_again_is_recorded_once() -> None:
    host = Host()
    host.loop(calls=40)

    assert [row.kind for row in host.kept()] == ["warn", "trip"]


def test_the_same_spans_make_the_same_events_in_another_processor() -> None:
    one, other = Host(), Host()
    one.loop()
    other.wall += 1.0
    other.loop()

    assert one.ids == other.ids
    assert len(set(one.ids)) == 2


def test_other_spans_make_other_events() -> None:
    host = Host()
    host.loop()
    host.loop(of=2)

    assert len(set(host.ids)) == 4


def test_an_order_is_recorded_and_what_came_of_it() -> None:
    host = Host()
    host.tell(model(1, identity=ANN))
    host.order(OrderKind.KILL, run_of())
    host.advance(5.0)
    host.order(OrderKind.RELEASE, run_of())

    trip, kill, release, order = host.kept()

    assert [row.kind for row in (trip, kill, release, order)] == ["trip", "order", "release", "order"]
    assert (body(trip)["detector"], body(trip)["issuer"], body(trip)["reason"]) == (
        "operator",
        "alice",
        "MANUAL",
    )
    assert (body(kill)["action"], body(kill)["issuer"], body(kill)["why"], body(kill)["done"]) == (
        "kill",
        "alice",
        "it was enough",
        True,
    )
    assert (kill.feature, kill.user, kill.run) == ("mail", "ann", run_of().id)
    assert (body(release)["trip"], body(release)["held_seconds"]) == (trip.id, 5.0)
    assert (body(order)["action"], body(order)["done"]) == ("release", True)


def test_what_an_application_answers_stands_beside_the_trip() -> None:
    host = Host()
    host.loop()
    host.journal.effects(
        APP,
        [Effect(f"{run_of()}/stop", 1_001, EffectState.APPLIED, calls_refused=1, kill_latency=0.0125)],
        WALL + 0.1,
    )

    (trip,) = host.kept("trip")
    (answer,) = host.kept("effect")

    assert (answer.key, answer.run, answer.agent, answer.service) == (
        trip.key,
        trip.run,
        "planner",
        "chat",
    )
    said = body(answer)
    assert (said["directive"], said["revision"], said["trip"]) == (f"{run_of()}/stop", 1_001, trip.id)
    assert (said["instance"], said["state"], said["kill_latency_ms"], said["calls_refused"]) == (
        "pod-1",
        "applied",
        12.5,
        1,
    )


def test_only_answers_that_say_something_new_are_recorded() -> None:
    host = Host()

    for refused in range(1, 101):
        effect = Effect("x/stop", 1, EffectState.APPLIED, calls_refused=refused)
        host.journal.effects(APP, [effect], WALL + refused)
    host.journal.effects(APP, [Effect("x/stop", 1, EffectState.EXPIRED, calls_refused=100)], WALL + 200)

    assert [body(row)["calls_refused"] for row in host.kept("effect")] == [1, 3, 7, 15, 31, 63, 100]


def test_a_budget_is_recorded_with_the_call_that_brought_it() -> None:
    host = Host()
    host.tell(model(1, identity=ANN))
    mark = BudgetEvent(
        Account("daily", ("ann",)),
        Measure.USD,
        Condition.MARK,
        Reaction.WARN,
        Mode.ENFORCE,
        WALL,
        WALL - 10,
        WALL + 10,
        8_100_000,
        10_000_000,
        share=0.8,
        trace_id=trace(1),
        span_id=span(1),
    )

    host.journal.budgets([mark, mark._replace(condition=Condition.RUNAWAY, share=0.0)])

    (row,) = host.kept("budget")
    (foreseen,) = host.kept("forecast")
    assert (row.id, row.feature, row.user, row.model) == (mark.id, "mail", "ann", "good")
    assert (body(row)["budget"], body(row)["spent_usd"], body(row)["limit_usd"]) == ("daily", 8.1, 10.0)
    assert (body(foreseen)["rule"], body(foreseen)["message"]) == (
        "runaway",
        mark._replace(condition=Condition.RUNAWAY, share=0.0).words(),
    )


def test_steps_are_kept_of_every_kind_unless_only_the_bill_is_asked_for() -> None:
    everything, bill = Host(), Host(steps=False)
    for host in (everything, bill):
        host.tell(agent(1, name="planner"), model(2, 1), ended(3, 1))
        host.kept()

    assert [row.kind for row in everything.store.steps()] == ["agent", "model", "tool"]
    assert [row.kind for row in bill.store.steps()] == ["model", "tool"]


def test_contents_are_kept_only_where_that_is_asked() -> None:
    attributes = {"gen_ai.tool.call.arguments": "secret" * 10}
    seen = RawSpan(trace(1), span(1), b"", "execute_tool search", 1, 2, attributes)
    capturing, usual = Host(capture_bytes=12), Host()
    for host in (capturing, usual):
        host.journal.look(seen)
        host.tell(ended(1))
        host.kept()

    assert [row.content for row in capturing.store.steps()] == ['{"arguments":"secretsecret"}']
    assert [row.content for row in usual.store.steps()] == [""]


def test_another_policy_is_another_version() -> None:
    host = Host()
    host.loop()
    changed = Policy(suspicion=0.5)
    host.journal.obey(changed)
    host.loop(of=2)

    assert [body(row)["policy"] for row in host.kept("trip")] == [
        version_of(Policy()),
        version_of(changed),
    ]


def test_what_nobody_takes_any_more_is_counted() -> None:
    host = Host()
    host.writer.close(SOON)

    host.loop()

    assert host.writer.by_kind()["events"].dropped == 2
