"""Features: one unit of state for each, across its runs, and only so many."""

from __future__ import annotations

from spanfuse_processor.engine.nouns import BreakerKey, Identity, Level
from spanfuse_processor.engine.runs.features import Features
from spanfuse_processor.engine.runs.watches import Crew, Posts, Watch


def new_watch(who: Identity) -> Watch:
    """The detectors of a feature that is new."""
    return (Crew(Posts({})), "what it has seen")


def test_calls_of_one_feature_meet_in_one_unit() -> None:
    features = Features(new_watch)

    one = features.of(Identity(feature="chat", user="ann"))
    other = features.of(Identity(feature="chat", user="bob"))

    assert one is other
    assert one.key == BreakerKey(Level.FEATURE, "chat")


def test_the_same_feature_of_two_tenants_or_services_is_two() -> None:
    features = Features(new_watch)
    owners = [Identity(feature="chat"), Identity(feature="chat", tenant="t"), Identity("svc", feature="chat")]

    assert len({id(features.of(owner)) for owner in owners}) == 3


def test_the_least_recently_used_goes_first() -> None:
    features = Features(new_watch, limit=2)
    kept = features.of(Identity(feature="a"))
    dropped = features.of(Identity(feature="b"))
    features.of(Identity(feature="a"))

    features.of(Identity(feature="c"))

    assert features.of(Identity(feature="a")) is kept
    assert features.of(Identity(feature="b")) is not dropped
    assert len(features) == 2


def test_renewing_forgets_what_was_seen_of_that_feature_only() -> None:
    features = Features(new_watch)
    chat, mail = features.of(Identity(feature="chat")), features.of(Identity(feature="mail"))
    before = chat.watch, mail.watch
    chat.ordered = True

    features.renew(BreakerKey(Level.FEATURE, "chat"))

    assert chat.watch is not before[0]
    assert mail.watch is before[1]
    assert chat.ordered is False
