"""What one subscriber may be sent."""

from __future__ import annotations

import pytest
from tests.wire.builders import removal, stop

from spanfuse_processor.control.view import NOT_SEEN, View, view_of
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import Action, Directive, Removal
from spanfuse_processor.wire import requests
from spanfuse_processor.wire.messages import Instance

STOPS = View(actions=frozenset({Action.STOP}))
CHAT = BreakerKey(Level.FEATURE, "chat")


@pytest.mark.parametrize(
    ("view", "directive", "sees"),
    [
        (View(), stop(action=Action.PAUSE), True),
        (STOPS, stop(), True),
        (STOPS, stop(action=Action.PAUSE), False),
        (View(interests=frozenset({CHAT})), stop(), True),
        (View(interests=frozenset({CHAT})), stop(key=BreakerKey(Level.FEATURE, "search")), False),
    ],
)
def test_a_view_sees_what_is_supported_and_asked_for(view: View, directive: Directive, sees: bool) -> None:
    assert view.sees(directive) is sees


def test_what_is_not_seen_is_told_as_withdrawn_for_an_earlier_revision_may_have_been_seen() -> None:
    assert STOPS.through(stop("r1", 7, action=Action.PAUSE)) == Removal("run/r1/stop", 7, NOT_SEEN)
    assert STOPS.through(stop("r1", 7)) == stop("r1", 7)
    assert STOPS.through(removal("r1", 8)) == removal("r1", 8)


def test_a_request_says_what_its_sender_supports_and_wants() -> None:
    instance = Instance("svc", supported=frozenset({Action.STOP}))

    assert view_of(requests.watch(instance, None, frozenset({CHAT}))) == View(
        STOPS.actions, frozenset({CHAT})
    )
    assert view_of(requests.poll(Instance(), None)) == View()
