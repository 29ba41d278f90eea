"""The nouns of a call: what kind it is, what it used, who made it, whose breaker it touches.

Rule 1: plain data; nothing here decides anything. Rule 2: money is integer micro-dollars.
Rule 3: a missing count is None, a counted nothing is 0; the two are never mixed.
This file does not know OpenTelemetry, nor which attribute a value came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

Instant = float
"""Host time in seconds on a clock that never goes back; only breakers and evictions use it."""

MicroUsd = int
"""Money inside the engine: millionths of a US dollar."""


class Kind(StrEnum):
    """What a call is; the family of its `gen_ai.operation.name`."""

    MODEL = "model"  # chat, text_completion, generate_content
    EMBEDDINGS = "embeddings"
    TOOL = "tool"  # execute_tool
    AGENT = "agent"  # invoke_agent
    WORKFLOW = "workflow"  # invoke_workflow: a container, never a level of nesting
    OTHER = "other"  # retrieval, memory operations, create_agent ...


class Level(StrEnum):
    """Whose circuit a breaker is, narrowest first."""

    RUN = "run"
    AGENT = "agent"
    USER = "user"
    FEATURE = "feature"
    NAMESPACE = "namespace"
    TENANT = "tenant"
    TOOL = "tool"
    MODEL = "model"
    BUDGET = "budget"  # the calls that its directive reaches
    EVERYTHING = "everything"


class BreakerKey(NamedTuple):
    """Names one breaker: a level and the id at that level."""

    level: Level
    id: str

    def __str__(self) -> str:
        return f"{self.level.value}/{self.id}"


class Details(NamedTuple):
    """Parts of a usage that few models price apart; each is in a total, and in what its name says, too.

    `kept` are tokens written to a cache for an hour. The cached ones are among the input of their kind.
    `searches` are no tokens: what the provider itself looked up in the web for the call.
    """

    kept: int = 0
    audio_input: int = 0
    audio_cached: int = 0
    audio_output: int = 0
    image_input: int = 0
    image_cached: int = 0
    image_output: int = 0
    searches: int = 0


@dataclass(slots=True)
class Usage:
    """Tokens of one model call, as the provider reported them.

    `input_tokens` includes cached and cache-written tokens, `output_tokens` includes reasoning
    (OTel GenAI convention: the parts are subsets of the totals). `details` is None where there are none.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    details: Details | None = None


@dataclass(slots=True, frozen=True)
class Identity:
    """Who a call was made for and by (row W7), and what kind of run it says that it is (`profile`).

    Empty strings where it is not known.
    """

    service: str = ""
    instance: str = ""
    tenant: str = ""
    namespace: str = ""
    feature: str = ""
    user: str = ""
    session: str = ""
    profile: str = ""


NOBODY = Identity()


class ErrorClass(StrEnum):
    """What a failure promises to whoever tries again."""

    NONE = ""  # it did not fail, or nobody knows how
    PERMANENT = "permanent"  # it can never work as it is: unknown tool, missing parameter, over size
    DENIED = "denied"  # nor in any other way: forbidden, locked, not authorised
    TRANSIENT = "transient"  # it passes by itself: 429, 503, timeout; without an error: it is not over yet
    FAILED = "failed"  # it might work when something else changes: an edit that misses, a failing test


@dataclass(slots=True)
class Fingerprints:
    """What can be compared about a call without its content: keyed digests, 16 hex digits each.

    `arguments` and `result` are digests of the canonical values; the `_masked` twins are of the same
    values with noise removed (attempt counters, timestamps, request ids). `error` is the digest of the
    error's class and masked message, empty when the call succeeded. An empty digest means unknown.

    `scope` is the digest of the arguments without those that say where to go on (page, offset, cursor);
    empty when they have none. The sketches are 64 bits that differ in few when the texts do, digits apart;
    0 is unknown. `chant` is how many times one piece comes back inside the result, 0 when it does not.
    """

    arguments: str = ""
    arguments_masked: str = ""
    result: str = ""
    result_masked: str = ""
    error: str = ""
    result_size: int = 0
    result_empty: bool = False
    error_class: ErrorClass = ErrorClass.NONE
    scope: str = ""
    sketch: int = 0
    result_sketch: int = 0
    chant: int = 0
