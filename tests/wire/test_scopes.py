"""Keys as scopes, and what subscribers asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.wire.builders import keys

from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire import scopes


@given(keys)
def test_a_key_survives_the_wire(key: BreakerKey) -> None:
    sent = scopes.encode(key).SerializeToString()

    assert scopes.decode(pb.Scope.FromString(sent)) == key


def test_every_level_has_a_field_of_its_own() -> None:
    assert set(scopes.FIELDS) == set(Level)
    assert len(set(scopes.FIELDS.values())) == len(Level)


@pytest.mark.parametrize(
    "scope",
    [
        pb.Scope(),
        pb.Scope(run_id="r1", tool_name="search"),
        pb.Scope(instance_id="i-1"),
        pb.Scope(trace_id=b"t" * 16),
        pb.Scope(everything=True, tenant="acme"),
    ],
    ids=["nothing", "two fields", "no level of ours", "a trace", "everything of a tenant"],
)
def test_a_scope_that_is_not_one_known_thing_is_no_key(scope: pb.Scope) -> None:
    assert scopes.decode(scope) is None


def test_a_field_of_a_later_version_narrows_so_the_scope_is_no_key() -> None:
    later = pb.Scope(run_id="r1").SerializeToString() + b"\xfa\x01\x01x"  # field 31, a string

    assert scopes.decode(pb.Scope.FromString(later)) is None


CHAT, SEARCH = BreakerKey(Level.FEATURE, "chat"), BreakerKey(Level.FEATURE, "search")
RUN = BreakerKey(Level.RUN, "r1")


@pytest.mark.parametrize(
    ("asked", "key", "told"),
    [
        (set(), CHAT, True),
        ({CHAT}, CHAT, True),
        ({CHAT}, SEARCH, False),
        ({CHAT}, RUN, True),
        ({CHAT}, BreakerKey(Level.EVERYTHING, ""), True),
        ({CHAT, SEARCH}, SEARCH, True),
        ({CHAT, RUN}, BreakerKey(Level.RUN, "r2"), False),
    ],
)
def test_interests_narrow_their_own_level_only(asked: set[BreakerKey], key: BreakerKey, told: bool) -> None:
    assert scopes.concerns(frozenset(asked), key) is told


def test_interests_are_read_field_by_field() -> None:
    asked = scopes.interests([pb.Scope(feature="chat", instance_id="i-1"), pb.Scope(run_id="r1")])

    assert asked == {CHAT, RUN}


def test_who_names_too_much_hears_everything() -> None:
    named = [pb.Scope(run_id=f"r{number}") for number in range(scopes.MAX_INTERESTS + 1)]

    assert len(scopes.interests(named[1:])) == scopes.MAX_INTERESTS
    assert scopes.interests(named) == frozenset()
