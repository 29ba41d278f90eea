"""The agent talks and does nothing: the same message again, in other words, or none at all.

Rule 1: only models' calls with nothing called between them. Rule 2: a batch of independent requests may get
equal answers, so a message counts when the conversation goes on (each request is longer than the one
before, for it carries what was said), or when it is too long to be the answer to many things. Rule 3:
messages in other words are alike but for digits and a few words, one of the last few; of talk in ever other
words, which may be thinking, it only warns. Rule 4: a word or two is the answer to many things, and none to
things of one size: where request after request grows by exactly the same few tokens, nobody brings anything
to answer. Rule 5: a message that began before the latest one was said beside it. It does not know what a
person said, nor what others did meanwhile: either began the lane or its silence anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.findings import found
from spanfuse_processor.engine.fingerprints.sketch import resemblance
from spanfuse_processor.engine.lanes.lane import Lane
from spanfuse_processor.engine.nouns import Fingerprints, Kind, Usage
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity
from spanfuse_processor.engine.window import NS

LONG: Final = 100
"""Output tokens of a message that is too long to be the answer to many things."""

LONG_TEXT: Final = 80
"""The same in characters, where no tokens are known."""

BLANK: Final = 2
"""Output tokens up to which a message says nothing."""

RECENT: Final = 8
"""Messages that the newest may be like."""

MOST_SPANS: Final = 16

TALK: Final = "talk_warn"
BLANKS: Final = "blank_warn"
STUTTER: Final = "stutter"

STEADY: Final = 2.0
"""By how much a conversation may grow faster or slower than a message before, or than was said."""

ASIDE: Final = 200
"""Tokens that a program may add to each request beside what was said."""

PROMPT: Final = 100
"""Tokens up to which what a request has more than the one before is but a word to go on."""


@dataclass(frozen=True, slots=True)
class MonologueLimits(DetectorLimits):
    """Numbers of messages in a row, with nothing called between them, that stop a run; 0 switches a rule off.

    `equal` messages, `alike` ones of which at least `likeness` (0 to 1) of the words are in one of the last
    eight; each of `words` tokens or more, for a word or two is the answer to many things. Of fewer tokens,
    `stutter` equal ones do, when each request is longer than the one before by the very same few tokens and
    began less than `idle` seconds after it. Two fewer than `equal` and `alike` warn; and so do shorter ones,
    `blank_warn` of so few tokens that there is no word in them, and `talk_warn` messages of any words, when
    each request goes on from the one before.
    """

    equal: int = 5
    alike: int = 6
    likeness: float = 0.8
    words: int = 20
    stutter: int = 12
    idle: float = 30.0
    blank_warn: int = 6
    talk_warn: int = 12


class MonologueDetector:
    """Watches the messages of one agent's model.

    >>> from spanfuse_processor.engine.lanes.lanes import Lanes
    >>> from spanfuse_processor.engine.fingerprint import Fingerprinter
    >>> from spanfuse_processor.engine.nouns import Usage
    >>> detector, lanes, prints = MonologueDetector(MonologueLimits(), {}), Lanes({}), Fingerprinter()
    >>> for number in range(1, 6):
    ...     event = CallEnded(bytes(16), bytes([number]), b"", number, Kind.MODEL, "gpt-4o")
    ...     event.prints = prints.fingerprints(result="I will now look at the file and tell what is in it.")
    ...     event.usage = Usage(1_000 + 40 * number, 24)
    ...     call = Call(event, "run", number, 0, 0, (), True)
    ...     _ = lanes.place(call)
    ...     finding = detector.ended(call) if detector.wakes(call) else None
    ...     print(number, finding and (finding.severity.value, finding.message))
    1 None
    2 None
    3 ('warn', 'gpt-4o said the same 3 times in a row and called nothing')
    4 None
    5 ('stop', 'gpt-4o said the same 5 times in a row and called nothing')
    """

    name: ClassVar[str] = "monologue"
    per: ClassVar[tuple[Unit, ...]] = (Unit.LANE,)
    heeds: ClassVar[frozenset[Kind]] = frozenset({Kind.MODEL})
    minds_plain: ClassVar[bool] = False

    __slots__ = (
        "_counts",
        "_grown",
        "_input",
        "_last_ns",
        "_limits",
        "_result",
        "_said_tokens",
        "_sketches",
        "_spans",
        "_step",
        "_told",
    )

    def __init__(self, limits: MonologueLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._sketches: list[int] = []
        self._spans: list[bytes] = []
        self._begin()

    @staticmethod
    def wakes(call: Call) -> bool:
        """Only when a model speaks for the second time and nothing was called."""
        return bool(call.lane.silent > 1)

    def started(self, call: Call) -> None:
        """A start says nothing yet."""

    def ended(self, call: Call) -> Finding | None:
        """Compares a message with those before it."""
        event = call.event
        if not isinstance(event, CallEnded) or event.error:
            return None
        if call.lane.silent <= 1:
            self._begin()
        if event.started_ns < self._last_ns:
            return None
        self._hear(call.lane, event, event.prints or Fingerprints())
        for rule, count in self._counts.items():
            limit = getattr(self._limits, rule)
            warn = limit - _EARLIER[rule]
            if 0 < limit <= count and rule in _STOPS and (rule == STUTTER or self._is_long(event)):
                return self._said(call, Severity.STOP, rule, count, limit)
            if limit and 0 < warn <= count and rule != STUTTER and Severity.WARN not in self._told:
                return self._said(call, Severity.WARN, rule, count, warn)
        return None

    def _is_long(self, event: CallEnded) -> bool:
        """Whether a message says so much that few questions have it for an answer."""
        usage, prints = event.usage, event.prints
        if usage is not None:
            return usage.output_tokens >= self._limits.words
        return prints is not None and prints.result_size >= LONG_TEXT

    def _begin(self) -> None:
        """Something was called: what was said before is another matter."""
        self._input, self._result = 0, ""
        self._sketches.clear()
        self._spans.clear()
        self._grown = self._said_tokens = self._step = self._last_ns = 0
        self._counts = {"equal": 1, "alike": 1, BLANKS: 0, TALK: 1, STUTTER: 0}
        self._told: tuple[Severity, ...] = ()

    def _hear(self, lane: Lane, event: CallEnded, prints: Fingerprints) -> None:
        silent = prints.result_empty or not prints.result
        least = BLANK if prints.result else 0  # where no text is known, a token may be a word: a label
        blank = silent and event.usage is not None and event.usage.output_tokens <= least
        if self._spans:
            self._counts[STUTTER] = self._stutters(event, prints)
            self._compare(event.usage, prints, blank)
        else:
            self._find(lane, blank)
        self._last_ns = event.started_ns
        self._input = event.usage.input_tokens if event.usage is not None else 0
        self._said_tokens = event.usage.output_tokens if event.usage is not None else 0
        self._result = prints.result
        self._sketches.append(prints.result_sketch)
        self._spans.append(event.span_id)
        del self._sketches[:-RECENT], self._spans[:-MOST_SPANS]

    def _find(self, lane: Lane, blank: bool) -> None:
        """The first message, or the second: the one before had woken nobody, but the lane has compared it."""
        before = lane.models if lane.silent > 1 else None
        if before is not None:
            self._counts["equal"] += before.ends > 1
            self._counts["alike"] += before.kin > 1
            self._counts[TALK] += 1
            self._spans += [step.span_id for step in before.steps[-2:-1]]
        self._counts[BLANKS] = blank + (blank and before is not None and before.ends > 1)

    def _compare(self, usage: Usage | None, prints: Fingerprints, blank: bool) -> None:
        counts = self._counts
        goes_on = usage is not None and self._goes_on(usage)
        long = usage.output_tokens >= LONG if usage is not None else prints.result_size >= LONG_TEXT
        equal = prints.result != "" and prints.result == self._result and (goes_on or long)
        counts["equal"] = counts["equal"] + 1 if equal else 1
        counts["alike"] = counts["alike"] + 1 if goes_on and self._is_alike(prints) else 1
        counts[BLANKS] = (counts[BLANKS] + 1 if goes_on else 1) if blank else 0
        counts[TALK] = counts[TALK] + 1 if goes_on else 1
        if counts["equal"] == counts["alike"] == 1 and not counts[BLANKS]:
            self._grown = 0  # how much this message was longer says nothing of the next

    def _stutters(self, event: CallEnded, prints: Fingerprints) -> int:
        """How many messages of a word or two were equal, and their requests longer by the same few tokens."""
        usage, before = event.usage, self._step
        self._step = usage.input_tokens - self._input if usage is not None and self._input else 0
        if usage is None or usage.output_tokens >= self._limits.words or not 0 < self._step <= PROMPT:
            return 0
        paced = 0 < self._limits.idle * NS <= event.started_ns - self._last_ns
        if self._step != before or paced or not prints.result or prints.result != self._result:
            return 0
        return self._counts[STUTTER] + 1 if self._counts[STUTTER] else 3  # a step was compared with another

    def _goes_on(self, usage: Usage) -> bool:
        """Whether a request carries the one before, and what was answered, and not just happens to be longer.

        A conversation grows by about as much each time; requests of a batch do not, however they are sorted.
        """
        before, said = self._grown, self._said_tokens
        self._grown = grown = usage.input_tokens - self._input if self._input else 0
        if not said / STEADY <= grown <= STEADY * 2 * said + ASIDE or grown <= 0:
            return False
        return before <= 0 or before / STEADY <= grown <= before * STEADY

    def _is_alike(self, prints: Fingerprints) -> bool:
        sketch, likeness = prints.result_sketch, self._limits.likeness
        return sketch != 0 and any(
            known and resemblance(sketch, known) >= likeness for known in self._sketches
        )

    def _said(self, call: Call, severity: Severity, rule: str, count: int, limit: int) -> Finding | None:
        if severity in self._told or Severity.STOP in self._told:
            return None
        self._told += (severity,)
        event = call.event
        prints = event.prints if isinstance(event, CallEnded) else None
        return found(
            call,
            self.name,
            severity,
            "MONOLOGUE",
            f"{event.name} said {_WHAT[rule]} {count} times in a row and called nothing",
            observed=count,
            limit=limit,
            cleared_by="a tool call, another message, or new user input",
            spans=tuple(self._spans)[-count:],
            rule=rule,
            prints=(prints.result,) if prints is not None and prints.result else (),
        )


_STOPS: Final = ("equal", "alike", STUTTER)
_EARLIER: Final = {
    "equal": 2,
    "alike": 2,
    BLANKS: 0,
    TALK: 0,
    STUTTER: 0,
}  # by how many messages a warning comes first
_WHAT: Final = {
    "equal": "the same",
    "alike": "nearly the same",
    BLANKS: "nothing",
    TALK: "something",
    STUTTER: "the same word or two",
}
