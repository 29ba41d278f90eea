"""One agent at work: its tools' calls, its models' and its launches of agents apart, and whose turn it is.

Rule 1: neither kind hides the other's repeats. Rule 2: what a person says begins anew; what an agent says
to another does not. Rule 3: a read that is asked for twice in one turn, or side by side, is one wish. It
knows neither limits nor findings.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from struct import Struct
from typing import Any, Final

from spanfuse_processor.engine import effects
from spanfuse_processor.engine.calls import News
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.lanes.alike import MANY
from spanfuse_processor.engine.lanes.history import History, failed
from spanfuse_processor.engine.lanes.keys import keys_of
from spanfuse_processor.engine.nouns import ErrorClass, Fingerprints, Kind, MicroUsd

_TIME: Final = Struct(">Q")  # the larger byte first: times follow one another as their bytes do
_pack_time: Final = _TIME.pack

MAX_ANSWERS: Final = 64
"""Answers of models that are remembered, to tell turns apart."""

_NOBODY: Final = ("", "")
EMPTY: Final = "empty"
"""How all results end that say that there is nothing, whatever else is in them."""

WORK: Final = 60
"""Output tokens from which an answer is a piece of work."""

MAX_FORGIVEN: Final = 4
"""Further equal reads of one turn that are one wish."""

_CHANGES: Final = (effects.WRITE, effects.SEND, effects.SPAWN)
_ACTS: Final = (effects.EXEC, effects.WRITE, effects.SEND, effects.SPAWN)

MODEL, AGENT = Kind.MODEL, Kind.AGENT  # a member looked up in its enum costs four times as much
SPAWN, WAIT = effects.SPAWN, effects.WAIT
UNKNOWN, NEW, KNOWN, FORGIVEN = News.UNKNOWN, News.NEW, News.KNOWN, News.FORGIVEN
TRANSIENT = ErrorClass.TRANSIENT


class Given:
    """What was given to others to do, and found since, counted in new results of the run.

    `spare`: of what helpers side by side have found, how much none of them has answered for.
    """

    __slots__ = ("_brought", "_found", "_started", "spare")

    def __init__(self, found: int) -> None:
        self._found = self._brought = found  # at the last call of a tool; of an agent
        self._started = True  # whether the last call started an agent, or handed over to one
        self.spare = 0

    def has_moved(self, found: int, hands_over: bool, by_agent: bool) -> bool:
        """Whether something was found since the last call, if that handed over or this does."""
        before = self._brought if by_agent else self._found
        moved = found != before and (hands_over or self._started)
        self._brought = found
        if not by_agent:
            self._found = found
        elif moved:  # ... is news for the call after it, too; and for helpers beside it, one each
            self.spare = found - before - 1
        self._started = hands_over
        return moved


class Lane:
    """The calls of one agent at work.

    Attributes:
        agent: by what lanes of the same agent are known.
        last_ns: the latest end.
        idle_ns: for how long, up to the latest start, no call of it was open.
        working: whether anything was called since a model answered.
        spared: whether the last call is known, and counts as new only for what others found meanwhile.
        talk: how many answers of its models were not those before.
        work: how many of them were pieces of work.
        silent: how many models' answers in a row called nothing, while nobody else found anything either.
        tools, models, agents: what was called, None before the first.
        cost: micro-dollars of its model calls, as far as known when they ended.
        watch: the detectors of this lane; the engine's.
    """

    __slots__ = (
        "_answers",
        "_given",
        "_heard",
        "_user",
        "agent",
        "agents",
        "cost",
        "idle_ns",
        "last_ns",
        "models",
        "silent",
        "spared",
        "talk",
        "tools",
        "watch",
        "work",
        "working",
    )

    def __init__(self, agent: Hashable) -> None:
        self.agent = agent
        self.last_ns = self.idle_ns = 0
        self.working = False
        self.silent = 0
        self.cost: MicroUsd = 0
        self.tools: History | None = None
        self.models: History | None = None
        self.agents: History | None = None
        self.watch: Any = None
        self._user = _NOBODY  # what a person asked last, and what a fresh request was told
        self._heard = 0  # what the run had found and others had said when a model last answered here
        self._given: Given | int | None = None  # after the first such call no more than what was found then
        self.work = 0
        self.spared = False
        self.talk = 0
        self._answers = b""  # when models answered of which their history does not tell, in order, packed

    def history(self, kind: Kind) -> History:
        """What was called of a kind, begun when there is none."""
        if kind is MODEL:
            self.models = known = self.models or History()
        elif kind is AGENT:
            self.agents = known = self.agents or History()
        else:
            self.tools = known = self.tools or History()
        return known

    def take(
        self, event: CallEnded, effect: str, repeatable: bool, found: int = 0, said: int = 0, work: int = 0
    ) -> News:
        """A call has ended, when the whole run has `found` so much that was new, and others have `said` so
        much, and so much of that at length, which is `work`.

        Returns what it brought.
        """
        prints, kind = event.prints, event.kind
        self.spared = moved = False
        if kind is MODEL:
            self._listen(event, found + said)
        else:
            self.working, self.silent = True, 0
            if prints is not None:
                moved = self._is_moved(event, effect, found + work)
        news = UNKNOWN
        if prints is not None:
            news = self._brought(event, prints, effect, repeatable, moved)
        if kind is MODEL and (news is UNKNOWN or news is FORGIVEN):
            self._note(event.ended_ns)
        return news

    def _listen(self, event: CallEnded, heard: int) -> None:
        """A model has answered, when others have found and said so much."""
        if event.user_turn:
            self._hear(event.prints, event.fresh)
        self.working = False  # a new turn
        if self.tools is not None:
            self.tools.turn()
        if event.asks or event.handed or heard != self._heard:
            self.silent = 0  # something was called, or said, though not here
        self._heard = heard
        self.silent += not event.asks

    def resembles(self, kind: Kind) -> bool:
        """Whether the latest call of a kind is like those before it, or follows on silence, in any way."""
        if kind is MODEL:
            return self.silent > 1
        if kind is AGENT or self.tools is None:
            return False
        _, kin, akin, ends = self.tools.alike()
        return ends > 1 or kin > 1 or akin >= MANY

    def _is_moved(self, event: CallEnded, effect: str, found: int) -> bool:
        """Whether agents that it had started, or handed over to, have found something since its last call."""
        kind, given = event.kind, self._given
        hands_over = kind is AGENT or effect == SPAWN or effects.hands_over(event.name)
        if given is None:
            if hands_over:
                self._given = found  # most do so once, at their end
            return False
        if isinstance(given, int):
            given = self._given = Given(given)
        waits = hands_over or effects.hooks(event.name)  # whoever is sent on meanwhile waits for them
        return given.has_moved(found, waits, kind is AGENT)

    def _brought(
        self, event: CallEnded, prints: Fingerprints, effect: str, repeatable: bool, moved: bool
    ) -> News:
        """What a call brought of which something is known."""
        kind = event.kind
        history = self.models if kind is MODEL else self.agents if kind is AGENT else self.tools
        if history is None:
            history = self.history(kind)
        if error := prints.error:
            history.take(event, prints, error)
        elif prints.result:
            history.take(event, prints, EMPTY if prints.result_empty else prints.result)
        # An agent is judged by what it was asked, and what was found meanwhile.
        if not prints.arguments or not (prints.error or prints.result or kind is AGENT):
            return UNKNOWN
        keys = keys_of(event, prints)
        known = history.knows(keys)
        if known:
            self.spared, known = moved, not moved
            if known and (repeatable or self._is_one_wish(history, history.latest(keys), event, effect)):
                return FORGIVEN
        waits = prints.error_class is TRANSIENT or effect == WAIT  # nearly never
        history.add(event, keys, waits and _waits(event, prints, effect), self.idle_ns, known)
        return KNOWN if known else NEW

    def _is_one_wish(self, history: History, before: Any, event: CallEnded, effect: str) -> bool:
        """Whether a read was asked for together with an equal one: side by side, or in the same turn."""
        if before is None:
            return False
        if before.ended_ns > event.started_ns and event.ended_ns > before.started_ns:
            given = self._given
            if event.kind is AGENT and isinstance(given, Given) and given.spare > 0 and not failed(event):
                given.spare -= 1
                return True
            return effect not in _ACTS or before.failed  # whoever asked had not seen it fail
        if effect in _ACTS:
            return False
        if before.failed or event.kind is MODEL or history.forgiven >= MAX_FORGIVEN:
            return False
        if not self._same_turn(before.started_ns, event.started_ns):
            return False
        history.forgive()
        return True

    def _hear(self, prints: Fingerprints | None, fresh: bool) -> None:
        """A user's message came with a request, maybe to begin anew.

        One that comes while tools' results are still to be told, or that equals the one before, does not.
        Programs, too, speak in the user's name: they hand on what tools gave, and ask again. But a `fresh`
        request, which goes on with nothing that was said before, and gets an answer that the last one did
        not get, is another matter.
        """
        asked, told = (prints.arguments, prints.result) if prints is not None else ("", "")
        before, was_told = self._user
        news = fresh and told != "" and told != was_told
        if (news or not self.working) and (asked != before or not asked):
            self._answers = b"".join(map(_pack_time, self._answered()))
            self.tools = self.models = self.agents = self.watch = None
            self.silent = 0
        self._user = asked, told if fresh else was_told

    def _note(self, at_ns: int) -> None:
        """A model has answered, and no history tells of it."""
        answers, mark = self._answers, _pack_time(at_ns)
        if answers[-_TIME.size :] <= mark:
            answers += mark
        else:  # spans may arrive in any order
            at = _TIME.size * bisect_right(_times(answers), at_ns)
            answers = answers[:at] + mark + answers[at:]
        self._answers = answers[-_TIME.size * MAX_ANSWERS :]

    def _answered(self) -> list[int]:
        """When models answered lately, in order of time."""
        steps = self.models.steps if self.models is not None else ()
        return sorted((*_times(self._answers), *(step.ended_ns for step in steps)))[-MAX_ANSWERS:]

    def _same_turn(self, earlier_ns: int, later_ns: int) -> bool:
        """Whether both times are known to lie between the same two answers."""
        answers = self._answered()
        turn = bisect_right(answers, earlier_ns)
        return turn > 0 and turn == bisect_right(answers, later_ns)


def is_long(event: CallEnded, prints: Fingerprints) -> bool:
    """Whether a model's answer is long enough for a piece of work."""
    if event.error or not prints.result:
        return False
    usage = event.usage
    return (usage.output_tokens if usage is not None else prints.result_size // 4) >= WORK


def _times(packed: bytes) -> Sequence[int]:
    return [at for (at,) in _TIME.iter_unpack(packed)]


def _waits(event: CallEnded, prints: Fingerprints, effect: str) -> bool:
    """Whether a call only let time pass: its tool waits, or what it tells of passes by itself."""
    if event.kind is MODEL and not failed(event):
        return False  # that something runs is told by tools; a model may say so for ever
    if failed(event):
        return prints.error_class is TRANSIENT
    if prints.error_class is TRANSIENT:  # of what it has made itself, only if that is another thing
        return effect not in _CHANGES or prints.result != prints.result_masked
    return effect == effects.WAIT
