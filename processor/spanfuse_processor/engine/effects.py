"""What a tool does, guessed from its name when nobody declared it: read, write, exec, send, spawn or wait.

Rule 1: lenient. A tool that may be waiting is taken to wait, a doubtful name gets no effect at all (empty),
and only a plain word for it makes a tool one that acts on the outside. Rule 2: arguments are looked at where
a name says little: a shell that sleeps is waiting, one that does nothing but push sends, an editor that views
reads. What a tool or a policy declares goes before any guess.
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
    "backward rotate turn advance drag increment decrement zoom volume roll dice coin toss shuffle"
)
_FURTHER: Final = _words(
    "key more older newer plus increase decrease"
)  # ... and what is pressed, by its label
_ARRIVING: Final = _words("inbox mailbox receive dequeue consume latest")  # what others may have sent
_LIVE: Final = _words("sensor temperature telemetry metrics ticker screenshot")  # what changes by itself
_PRINTED: Final = _words("bash shell terminal task process command job cmd")
_STEPS: Final = (  # words that say so together
    *map(_words, ("send keys", "page down", "page up", "go back", "env step", "sim step", "simulation step")),
    *map(_words, ("game step", "step over", "step into", "step out", "draw card", "debugger continue")),
    _words("remote button"),
)
_ALONE: Final = (["step"], ["drive"], ["walk"], ["flip"], ["spin"])
_LOOKING: Final = _words("get check fetch query view read describe show retrieve list")
_LASTING: Final = _words(
    "job run build deployment execution operation pipeline workflow export background "
    "instance cluster stack rollout migration snapshot backup"
)
_CHANGING: Final = _words("edit write insert append patch replace apply update create save str")
_EDITING: Final = _words("edit replace patch str rewrite sed click tap type fill")
_SEARCHING: Final = _words("search retrieve retrieval google recall")
_HANDING: Final = _words("handoff handover delegate subagent")
_PASSING: Final = _words("transfer hand route assign switch pass forward escalate")
_THINKING: Final = _words("think thinking thought thoughts scratchpad ultrathink")
_POSTED: Final = _words("message comment slack reply tweet chat channel review")
_REMARKS: Final = _words("comment reply review")
_ADDING: Final = _words("create add post write submit leave")
_TALKED_OVER: Final = _words("pr pull merge request issue ticket inline discussion thread")
_REPORTS: Final = _words("issue ticket incident")
_FILING: Final = _words("create submit")
_PARTS: Final = _words("label status type link watcher attachment branch worklog draft field")
_ASKED: Final = _words("request query command input prompt http rpc")  # what is sent to be answered
_STARTING: Final = _words("start launch")
_STARTED: Final = _words("monitor watcher agent agents subagent subagents")
_VERBS: Final = {
    verb: effect
    for effect, verbs in {
        SEND: "send publish tweet pay charge refund",
        SPAWN: "spawn delegate subagent handoff dispatch fork",
        EXEC: "bash shell exec execute run terminal command cmd powershell eval python script",
        WRITE: "write edit create update delete remove insert patch save set add put append replace move "
        "rename commit upload click type fill book cancel modify apply mkdir install submit label str "
        "exchange regenerate",
        READ: "read get list search fetch find query lookup grep glob ls view show describe browse google "
        "retrieve cat load count scan scrape calculate check open navigate go goto visit inspect recall "
        "discover vision",
    }.items()
    for verb in verbs.split()
}
_SLEEPS: Final = re.compile(  # it waits, at once or in the end, or looks how something goes on by itself
    r"\s*(?:wait|watch|tail)\b|(?:.*[;&|]|.*\bdo)?\s*sleep\s+[\d.$]|\s*sleep\b|\s*$"
    r"|\s*(?:timeout\s+\S+\s+)?(?:gh\s+(?:run|pr)\s+(?:watch|view|list|checks|status)"
    r"|kubectl\s+(?:get|wait|logs|rollout\s+status)\b|docker\s+(?:compose\s+)?(?:ps|logs|inspect)\b"
    r"|squeue|sacct|nvidia-smi|systemctl\s+status|journalctl|ps|xdotool\s+key|adb\s+shell\s+input)\b[^;&]*$",
    re.DOTALL,
)
_LABELS: Final = ("name", "element", "text", "label", "selector", "button")
_SENDS: Final = re.compile(  # one plain command, and nothing beside it
    r"\s*(?:git\s+push|gh\s+(?:pr|issue)\s+(?:create|comment|merge|review)|npm\s+publish|twine\s+upload"
    r"|docker\s+push)\b(?!.*--dry-run)[^;&|\n]*$"
)
_WAITING_ACTIONS: Final = _words("poll log logs status wait sleep progress")
_WORDS_THAT_PASS: Final = _WAITING_ACTIONS | _STEERING | {"key", "screenshot"}
_DEBUGGED: Final = _words("next nexti step stepi continue finish")
_WAYS: Final = _words("north south east west up down left right forward forwards back backward backwards")
_SPOKEN: Final = ("send", "reply", "post")
_SAID: Final = ("text", "content", "message", "body")
_LOOKING_ACTIONS: Final = _words("view read list show open cat")


def guess(tool: str, arguments: object = None) -> str:
    """The effect that a tool's name, or else its arguments, let one expect; empty when they do not.

    >>> guess("mcp__jobs__get_job_status"), guess("slack.sendMessage"), guess("bash"), guess("frobnicate")
    ('wait', 'send', 'exec', '')
    >>> guess("bash", {"command": "sleep 110"}), guess("message", {"action": "send", "text": "hello"})
    ('wait', 'send')
    """
    effect = by_name(tool)
    if arguments is None or effect not in (EXEC, WRITE, ""):
        return effect
    data = parsed(arguments) if isinstance(arguments, str) else arguments
    if not isinstance(data, dict):
        return effect
    return SEND if tool.lower() == "message" and _speaks(data) else _by_arguments(data, effect) or effect


@lru_cache(maxsize=4_096)
def by_name(tool: str) -> str:
    """The effect that a tool's name alone lets one expect."""
    words = [word.lower() for word in _WORD.findall(tool[:128])]
    present = frozenset(words)
    if present & _STARTING and present & _STARTED:
        return SPAWN
    if _sounds_waiting(words, present):
        return WAIT
    if _sounds_sending(present):
        return SEND
    if "stdin" in present:
        return EXEC
    effect = next((_VERBS[word] for word in words if word in _VERBS), "")
    return "" if effect == SEND and present & _ASKED else effect


@lru_cache(maxsize=4_096)
def changes(tool: str) -> bool:
    """Whether a tool's name says that it changes something to what its arguments say: an edit, no click.

    >>> changes("str_replace_editor"), changes("click"), changes("increment")
    (True, False, False)
    """
    return any(word.lower() in _CHANGING for word in _WORD.findall(tool[:128]))


@lru_cache(maxsize=4_096)
def edits(tool: str) -> bool:
    """Whether a tool's name says that it changes a text or a form: digits there are places, and no items.

    >>> edits("replace_text"), edits("create_contact")
    (True, False)
    """
    return any(word.lower() in _EDITING for word in _WORD.findall(tool[:128]))


@lru_cache(maxsize=4_096)
def searches(tool: str) -> bool:
    """Whether a tool's name says that it looks something up by words: what it finds depends on all of them.

    >>> searches("tool_search"), searches("retrieve"), searches("check_stock")
    (True, True, False)
    """
    return any(word.lower() in _SEARCHING for word in _WORD.findall(tool[:128]))


@lru_cache(maxsize=4_096)
def hands_over(tool: str) -> bool:
    """Whether a tool's name says that another agent goes on: its answer says nothing of what that brings.

    >>> hands_over("transfer_back_to_coder"), hands_over("delegate"), hands_over("transfer_money_to_account")
    (True, True, False)
    """
    words = [word.lower() for word in _WORD.findall(tool[:128])]
    if any(word in _HANDING for word in words):
        return True
    to = words[2:3] if words[1:2] in (["back"], ["off"], ["over"]) else words[1:2]
    return to == ["to"] and words[0] in _PASSING


@lru_cache(maxsize=4_096)
def hooks(tool: str) -> bool:
    """Whether a tool's name says that a program calls it when a turn is over: it wakes a model each time.

    >>> hooks("stop_hook"), hooks("create_webhook")
    (True, False)
    """
    return any(word.lower() == "hook" for word in _WORD.findall(tool[:128]))


@lru_cache(maxsize=4_096)
def thinks(tool: str) -> bool:
    """Whether a tool only lets the model write down a thought: calls of it say nothing of what goes on.

    >>> thinks("sequential_thinking"), thinks("think_tank_search")
    (True, False)
    """
    words = [word.lower() for word in _WORD.findall(tool[:128])]
    return bool(words) and words[-1] in _THINKING


def _sounds_sending(present: frozenset[str]) -> bool:
    if "post" in present and present & _POSTED:
        return True
    if present & _REMARKS:
        return bool(present & _TALKED_OVER and present & _ADDING)
    filed = bool(present & _REPORTS and present & _FILING) and not present & _PARTS
    return filed and all(_VERBS.get(word) != READ for word in present)


def _sounds_waiting(words: list[str], present: frozenset[str]) -> bool:
    if present & _WAITING or present & _STEERING or present & _LIVE:
        return True
    if words in _ALONE or any(step <= present for step in _STEPS):
        return True
    if present & _ARRIVING or ("output" in present and present & _PRINTED):
        return not any(_VERBS.get(word) in (WRITE, SEND) for word in words)
    if "status" in present:
        return not any(_VERBS.get(word) in (WRITE, SEND) for word in words)
    looking = next((at for at, word in enumerate(words) if word in _LOOKING), len(words))
    return any(word in _LASTING for word in words[looking + 1 :])


def _by_arguments(arguments: dict[Any, Any], effect: str) -> str:
    """What arguments show of a tool whose name says little: a command, or what it is told to do."""
    if effect == WRITE and any(_leads_on(arguments.get(name)) for name in _LABELS):
        return WAIT  # a click on "Next month"
    command = next((arguments[name] for name in ("command", "cmd", "chars") if name in arguments), None)
    action = arguments.get("action") or arguments.get("op") or arguments.get("type")
    way = arguments.get("direction")
    if isinstance(way, str) and way.lower() in _WAYS:
        return WAIT
    if effect == WRITE:
        looks = isinstance(command, str) and command.strip().lower() in _LOOKING_ACTIONS
        return READ if looks else ""
    if isinstance(action, str) and not _WORDS_THAT_PASS.isdisjoint(_WORD.findall(action.lower())):
        return WAIT
    if not isinstance(command, str):
        return ""
    if _SLEEPS.match(command) or command.strip() in _DEBUGGED:
        return WAIT
    return SEND if _SENDS.match(command) else ""


def _speaks(arguments: dict[Any, Any]) -> bool:
    """Whether the one tool for all that can be done with messages is told to send one."""
    action = arguments.get("action", "send")
    return action in _SPOKEN and any(isinstance(arguments.get(name), str) for name in _SAID)


def _leads_on(label: object) -> bool:
    """Whether a short label says that what bears it takes a state one further."""
    if not isinstance(label, str) or len(label) > 24:
        return False
    words = {word.lower() for word in _WORD.findall(label)}
    return bool(words & (_STEERING | _FURTHER)) or label.strip() in ("+", "-", ">", "<")
