"""The contract of a provider adapter: how the calls of one SDK are seen and gated.

Rule 1: an adapter translates; admitting, spans and errors are `wrapping.py`'s. Rule 2: it imports its SDK
only when the SDK itself has been imported. Rule 3: `patch` twice is once, `unpatch` leaves the SDK as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from spanfuse_processor.engine.nouns import Kind, Usage
from spanfuse_processor.engine.reach import Degrading


@dataclass(slots=True)
class ToolRequest:
    """A tool call that a model asked for: its id, name and arguments (JSON text, as sent)."""

    id: str
    name: str
    arguments: str


@dataclass(slots=True)
class ToolAnswer:
    """The result of a tool call as the application hands it back to the model."""

    id: str
    content: object


class Request(Protocol):
    """A request that has not been sent yet. What the application handed over is never changed itself."""

    def degrade(self, degrading: Degrading) -> Mapping[str, object] | None:
        """Gives up what is asked, as far as that is safe; returns the span's attributes that are others now.

        One that is None is not there any more. No mapping: nothing was given up. An error leaves the request
        as it was.
        """

    def restore(self) -> Mapping[str, object]:
        """Makes it again what the application asked for; returns the attributes that are others again."""

    def spurned(self, error: BaseException) -> bool:
        """Whether the provider will not have the request, by this error."""


@dataclass(slots=True)
class Intent:
    """What is about to be called.

    `name` is the model, tool or agent. `arguments` is the plain value that is fingerprinted (a request's body
    or a tool's arguments). `answers` are results of earlier tool calls found in this request;
    `previous` is the id of the response that it continues. `user_turn`: a user's words came last; `fresh`:
    and nothing that a model or a tool said came before. `attributes` go on the span as they are. `resends`
    counts, while the call is under way, how many times the SDK itself tried again. `request` is what can be
    made cheaper before it is sent, None where nothing can. `beside` is what the model is told besides
    `arguments` (tools, instructions), for its length only; `media`: it is to answer with more than text.
    `length` is how many characters both have, and whether there is more than text, once it was measured.
    """

    kind: Kind
    operation: str
    name: str
    provider: str = ""
    arguments: object = None
    stream: bool = False
    answers: Sequence[ToolAnswer] = ()
    previous: str = ""
    tool_call_id: str = ""
    effect: str = ""
    repeatable: bool = False
    volatile: tuple[str, ...] = ()
    identity: tuple[str, ...] = ()
    transient: tuple[str, ...] = ()
    user_turn: bool = False
    fresh: bool = False
    resends: int = 0
    beside: object = None
    media: bool = False
    length: tuple[int, bool] | None = None
    request: Request | None = None
    attributes: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Outcome:
    """How a call went. `result` is the plain value that is fingerprinted; `usage` None: none was reported.

    `service` is how the provider says that it served the call: default, flex, priority. `pieces` are those of
    a stream that had something of the answer in them; a provider sends about a token in each.
    """

    result: object = None
    usage: Usage | None = None
    model: str = ""
    response_id: str = ""
    finish_reasons: tuple[str, ...] = ()
    tool_requests: Sequence[ToolRequest] = ()
    service: str = ""
    pieces: int = 0
    complete: bool = True  # False: a stream that was dropped before its end


class ProviderAdapter(Protocol):
    """Patches one SDK. Registered in `PROVIDERS` under the SDK's import name."""

    def patch(self) -> None:
        """Puts the wrappers in place. The SDK is imported by now."""

    def unpatch(self) -> None:
        """Takes the wrappers out again."""
