"""What one subscriber may be sent: the actions that it supports, and what it asked to hear of.

Rule 1: who names nothing is sent everything. Rule 2: a directive that a subscriber does not see is told to
it as withdrawn, because an earlier revision of the same id may have been seen. Views compare, so that equal
subscribers share what is sent.
"""

from __future__ import annotations

from dataclasses import dataclass

from spanfuse_processor.engine.verdicts import Action, Directive, Removal
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire import scopes
from spanfuse_processor.wire.messages import Change, decode_instance
from spanfuse_processor.wire.scopes import Interests

NOT_SEEN = "not for this subscriber"


@dataclass(frozen=True, slots=True)
class View:
    """The part of the log that concerns one subscriber."""

    actions: frozenset[Action] = frozenset()
    interests: Interests = frozenset()

    def sees(self, directive: Directive) -> bool:
        """Whether the directive is for this subscriber."""
        supported = not self.actions or directive.action in self.actions
        return supported and scopes.concerns(self.interests, directive.key)

    def through(self, change: Change) -> Change:
        """The change as this subscriber is told of it."""
        if isinstance(change, Removal) or self.sees(change):
            return change
        return Removal(change.id, change.revision, NOT_SEEN)


def view_of(request: pb.WatchRequest | pb.ListRequest) -> View:
    """What the sender of a request may be sent."""
    return View(decode_instance(request.instance).supported, scopes.interests(request.interests))
