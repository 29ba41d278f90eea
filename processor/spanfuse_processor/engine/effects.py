"""What a tool does, guessed from its name when nobody declared it: read, write, exec, send, spawn or wait.

Rule 1: lenient. A tool that may be waiting is taken to wait, a doubtful name gets no effect at all (empty),
and only a plain word for it makes a tool one that acts on the outside. Rule 2: arguments are looked at only
where a name says nothing: a shell that sleeps is waiting. What a tool or a policy declares goes before any
guess.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from spanfuse_processor.engine.fingerprints.canonical import parsed

READ, WRITE, EXEC, SEND, SPAWN, WAIT = "read", "write", "exec", "send", "spawn", "wait"

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WAITING: Final = _words("wait waiting poll polling sleep await monitor watch progress pause idle tail peek")
_STEERING: Final = _words(  # each takes a state one further: equal calls with equal short answers are usual
    "scroll press swipe hover keypress next previous prev undo redo tick keepalive ping heartbeat forward "
    "backward rotate turn advance drag"
)
_LOOKING: Final = _words("get check fetch query view read describe show retrieve list")
_LASTING: Final = _words("job run build deployment execution operation pipeline workflow export background")
_CHANGING: Final = _words("edit write insert append patch replace apply update create save str")
_THINKING: Final = _words("think thinking thought thoughts scratchpad ultrathink")
_POSTED: Final = _words("message comment slack reply tweet chat channel review")
_VERBS: Final = {
    verb: effect
    for effect, verbs in {
        SEND: "send notify publish tweet pay charge refund",
        SPAWN: "spawn delegate subagent handoff dispatch fork",
        EXEC: "bash shell exec execute run terminal command cmd powershell eval python script",
        WRITE: "write edit create update delete remove insert patch save set add put append replace move "
        "rename commit upload click type fill book cancel modify apply mkdir install submit label str",
        READ: "read get list search fetch find query lookup grep glob ls view show describe browse google "
        "retrieve cat load count scan scrape calculate check open navigate go goto visit inspect recall",
    }.items()
    for verb in verbs.split()
}
_SLEEPS: Final = re.compile(r"\s*(?:sleep|wait|tail\s+-f)\b|\s*$")
_WAITING_ACTIONS: Final = _words("poll log logs status wait sleep progress")


def guess(tool: str, arguments: object = None) -> str:
    """The effect that a tool's name, or else its arguments, let one expect; empty when they do not.

    >>> guess("mcp__jobs__get_job_status"), guess("slack.sendMessage"), guess("bash"), guess("frobnicate")
    ('wait', 'send', 'exec', '')
    >>> guess("bash", {"command": "sleep 110"})
    'wait'
    """
    effect = by_name(tool)
    if arguments is not None and effect in (EXEC, "") and _waits(arguments):
        return WAIT
    return effect


@lru_cache(maxsize=4_096)
def by_name(tool: str) -> str:
    """The effect that a tool's name alone lets one expect."""
    words = [word.lower() for word in _WORD.findall(tool[:128])]
    present = frozenset(words)
    if _sounds_waiting(words, present):
        return WAIT
    if "post" in present and present & _POSTED:
        return SEND
    return next((_VERBS[word] for word in words if word in _VERBS), "")


@lru_cache(maxsize=4_096)
def changes(tool: str) -> bool:
    """Whether a tool's name says that it changes something to what its arguments say: an edit, no click.

    >>> changes("str_replace_editor"), changes("click"), changes("increment")
    (True, False, False)
    """
    return any(word.lower() in _CHANGING for word in _WORD.findall(tool[:128]))


@lru_cache(maxsize=4_096)
def thinks(tool: str) -> bool:
    """Whether a tool only lets the model write down a thought: calls of it say nothing of what goes on.

    >>> thinks("sequential_thinking"), thinks("think_tank_search")
    (True, False)
    """
    words = [word.lower() for word in _WORD.findall(tool[:128])]
    return bool(words) and words[-1] in _THINKING


def _sounds_waiting(words: list[str], present: frozenset[str]) -> bool:
    if present & _WAITING or present & _STEERING or {"send", "keys"} <= present:
        return True
    if "status" in present:
        return not any(_VERBS.get(word) in (WRITE, SEND) for word in words)
    looking = next((at for at, word in enumerate(words) if word in _LOOKING), len(words))
    return any(word in _LASTING for word in words[looking + 1 :])


def _waits(arguments: Any) -> bool:
    """Whether a command only lets time pass: a sleep, an empty line to a session, a look at its log."""
    data = parsed(arguments) if isinstance(arguments, str) else arguments
    if not isinstance(data, dict):
        return False
    action = data.get("action") or data.get("op")
    if isinstance(action, str) and action.lower() in _WAITING_ACTIONS:
        return True
    command = next((data[name] for name in ("command", "cmd") if name in data), None)
    return isinstance(command, str) and _SLEEPS.match(command) is not None
