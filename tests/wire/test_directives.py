"""Directives and withdrawals on the wire."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wire.builders import budget_directive, full_directive, measured_directive, removal, stop
from tests.wire.builders import directives as any_directive

from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.reach import Degrading, Reach
from spanfuse_processor.engine.verdicts import Action, Directive, Mode, OnExpiry
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire import directives
from spanfuse_processor.wire.directives import MAX_TEXT, Refused


def sent(directive: Directive) -> Directive | Refused:
    """What arrives of `directive`."""
    return directives.decode(pb.Directive.FromString(directives.encode(directive).SerializeToString()))


@given(any_directive)
def test_a_directive_survives_the_wire(directive: Directive) -> None:
    arrived = sent(directive)

    assert isinstance(arrived, Directive)
    assert replace(arrived, params=()) == replace(directive, params=())
    assert set(arrived.params) == set(directive.params)


@given(st.binary(max_size=300))
def test_any_bytes_that_parse_are_a_directive_or_a_refusal(data: bytes) -> None:
    try:
        message = pb.Directive.FromString(data)
    except Exception:
        return

    assert isinstance(directives.decode(message), Directive | Refused)


def test_every_action_mode_and_expiry_has_a_number() -> None:
    assert set(directives.ACTIONS) == set(Action)
    assert set(directives.MODES) == set(Mode)
    assert set(directives.ON_EXPIRY) == set(OnExpiry)


LATER = b"\xfa\x01\x01x"  # field 31, a string


def spoiled(change: Callable[[pb.Directive], object]) -> pb.Directive:
    """A good message with one thing made bad."""
    message = directives.encode(full_directive())
    change(message)
    return message


def unset(field: str) -> Callable[[pb.Directive], object]:
    return lambda message: message.ClearField(field)  # type: ignore[arg-type]


def put(field: str, value: object) -> Callable[[pb.Directive], object]:
    return lambda message: setattr(message, field, value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (unset("action"), "action 0"),
        (put("action", 99), "action 99"),
        (unset("mode"), "mode 0"),
        (put("mode", 7), "mode 7"),
        (unset("scope"), "scope"),
        (lambda message: setattr(message.scope, "tenant", "acme"), "scope"),
        (unset("ttl"), "time to live"),
        (lambda message: message.reach.user.append("ann"), "a reach that belongs to no budget"),
        (lambda message: message.scope.CopyFrom(pb.Scope(budget="b")), "without its reach"),
        (lambda message: message.degrade.MergeFromString(LATER), "given up"),
        (lambda message: setattr(message.degrade, "temperature", -1.0), "given up"),
        (lambda message: setattr(message.degrade, "temperature", float("nan")), "given up"),
        (unset("id"), "no id"),
    ],
)
def test_what_cannot_be_obeyed_is_refused_by_name(
    change: Callable[[pb.Directive], object], says: str
) -> None:
    refused = directives.decode(spoiled(change))

    assert isinstance(refused, Refused)
    assert refused.revision == 7
    assert says in refused.reason


def test_a_reach_that_a_later_version_narrows_is_refused() -> None:
    message = directives.encode(budget_directive())
    message.reach.MergeFromString(LATER)
    refused = directives.decode(message)

    assert isinstance(refused, Refused)
    assert refused.reason == "the reach is not all known here"


def test_whoever_knows_no_budgets_refuses_their_orders_by_the_scope() -> None:
    """What an older version reads: the field of its scope is unknown to it, so it names nothing."""
    message = directives.encode(budget_directive())
    unknown = message.scope.SerializeToString().replace(b"\x82\x01", b"\xfa\x01")  # 16 becomes 31
    message.scope.CopyFrom(pb.Scope.FromString(unknown))
    refused = directives.decode(message)

    assert isinstance(refused, Refused)
    assert refused.id == "budget/daily"
    assert "scope" in refused.reason


def test_to_give_up_nothing_is_not_the_same_as_not_to_say_what() -> None:
    nothing, unsaid = (stop(action=Action.DEGRADE, degrading=each) for each in (Degrading(), None))

    assert sent(nothing) == nothing
    assert sent(unsaid) == unsaid


def test_an_expiry_that_is_unknown_is_read_as_the_tightest() -> None:
    arrived = directives.decode(spoiled(put("on_expiry", 9)))

    assert isinstance(arrived, Directive)
    assert arrived.on_expiry is OnExpiry.DENY


def test_an_expiry_that_is_not_said_allows() -> None:
    arrived = directives.decode(spoiled(unset("on_expiry")))

    assert isinstance(arrived, Directive)
    assert arrived.on_expiry is OnExpiry.ALLOW


def test_texts_are_clipped_and_ids_are_not() -> None:
    name = "r" * (2 * MAX_TEXT)
    arrived = sent(stop(name, message="m" * (2 * MAX_TEXT)))

    assert isinstance(arrived, Directive)
    assert arrived.key.id == name
    assert len(arrived.message) == MAX_TEXT


@pytest.mark.parametrize(
    "directive",
    [
        stop(params=(("calls_per_second", 1.0),)),
        stop(action=Action.THROTTLE, params=(("max_calls", 1.0),)),
        stop(revision=-1),
        stop(priority=2**40),
        stop(reach=Reach(user=("ann",))),
        stop(key=BreakerKey(Level.BUDGET, "daily")),
        stop(degrading=Degrading()),
        stop(action=Action.DEGRADE, degrading=Degrading(models=(("m", "a"), ("m", "b")))),
    ],
    ids=[
        "a stop has none",
        "of another action",
        "negative revision",
        "priority too large",
        "a run has no reach",
        "a budget has one",
        "a stop gives nothing up",
        "two models instead of one",
    ],
)
def test_what_has_no_place_on_the_wire_is_an_error_of_ours(directive: Directive) -> None:
    with pytest.raises(ValueError):
        directives.encode(directive)


def test_a_withdrawal_survives_the_wire() -> None:
    message = directives.encode_removal(removal("r1", 9)).SerializeToString()

    assert directives.decode_removal(pb.Removal.FromString(message)) == removal("r1", 9)


def test_evidence_of_a_budget_keeps_its_unit() -> None:
    order = measured_directive()

    assert directives.decode(directives.encode(order)) == order
