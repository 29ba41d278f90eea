"""Golden time lines: text files of what happens, and of what is said about it.

    # A tool called five times alike stops its run.
    policy repeat.equal=5
    times 5
      call run=r1 execute_tool search {"q": "x"} -> "the same urls"
    ----
    8s  run/r1  warn  repeat  call 3: search was called 3 times in a row ...
    16s  run/r1  stop  repeat  call 5: search was called 5 times in a row ...  CLOSED -> OPEN 1

Lines above the rule:
    policy DETECTOR.LIMIT=VALUE | mode=MODE | profile=PROFILE | tools.NAME.FIELD=VALUE
    rule {match: {...}, mode: ...}       one of the policy's rules, as YAML has it
    gap SECONDS                          from one start to the next, where `at` says nothing (4)
    times N                              repeats the indented lines below; `$n` in them is 1, 2, 3 ...
    call run=R OPERATION NAME [ARGUMENTS] [-> RESULT | !! ERROR] [key=value ...]
    start run=R invoke_agent NAME ...    the call has begun; its end comes with another line, or never
    beat run=R [span=N] [within=S]       the run says, inside of a span, that it lives
    kill KEY | release KEY | advance
with at=, took= (seconds), tokens=IN/OUT, usd= (what it cost), budget= (what the run may cost), finish= (why
an answer ended), over= (how many times over the result says what it says), agents=a/b/c (those around it),
span=, parent= (numbers), turn=user, effect=, feature=, namespace=, tenant=, profile=, stage=ID:MICRO:S:NAME
(micro-dollars and seconds that it may take). What is below the rule is written by `pytest tests/scenarios
--rewrite`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from spanfuse_processor.engine import BreakerKey, Level, Policy, RawSpan, names
from spanfuse_processor.engine.events import Heartbeat
from spanfuse_processor.engine.policy_file import policy_from_mapping

SECOND = 1_000_000_000
EPOCH = 1_780_000_000 * SECOND
RULE = "----"
_OPTION = re.compile(r"(\w+)=(\S+)")


@dataclass
class Moment:
    """One thing that happens, `at` seconds after the beginning: a call, an order, or just time."""

    at: float
    what: str  # start, call, beat, kill, release, advance
    span: RawSpan | None = None
    key: BreakerKey | None = None
    beat: Heartbeat | None = None


@dataclass
class Timeline:
    """One file: the policy, what happens, and what was said about it when the file was written."""

    path: Path
    policy: Policy
    moments: list[Moment]
    expected: str
    story: str


@dataclass
class _Clock:
    gap: float = 4.0
    now: float = -4.0
    spans: int = 0
    settings: dict[str, Any] = field(default_factory=dict)

    def tick(self, at: str | None) -> float:
        self.now = float(at.rstrip("s")) if at else self.now + self.gap
        return self.now


def load(path: Path) -> Timeline:
    """Reads a file."""
    story, _, expected = path.read_text().partition(RULE + "\n")
    clock = _Clock()
    moments = [
        moment for line in _unrolled(story.splitlines()) if (moment := _moment(line, clock)) is not None
    ]
    # A call is told of when it ends, an outer one after those inside it.
    moments.sort(key=lambda moment: moment.at)
    return Timeline(path, policy_from_mapping(clock.settings), moments, expected, story)


def _unrolled(lines: list[str]) -> Iterator[str]:
    """The lines with `times` carried out."""
    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if not line.startswith("times "):
            yield line
            continue
        block = []
        while index < len(lines) and lines[index].startswith("  "):
            block.append(lines[index].strip())
            index += 1
        for number in range(1, int(line.split()[1]) + 1):
            yield from (each.replace("$n", str(number)) for each in block)


def _moment(line: str, clock: _Clock) -> Moment | None:
    word, _, rest = line.partition("#" if line.startswith("#") else " ")
    if word == "policy":
        _set(clock.settings, rest)
    elif word == "rule":
        clock.settings.setdefault("rules", []).append(yaml.safe_load(rest))
    elif word == "gap":
        clock.gap, clock.now = float(rest), -float(rest)
    elif word in ("call", "start"):
        return _call(word, rest, clock)
    elif word == "beat":
        return _beat(dict(_OPTION.findall(rest)), clock)
    elif word in ("kill", "release", "advance"):
        options = dict(_OPTION.findall(rest))
        level, _, id_ = rest.split(" ")[0].partition("/")
        key = BreakerKey(Level(level), id_) if word != "advance" else None
        return Moment(clock.tick(options.get("at")), word, key=key)
    else:
        assert not word.strip(), f"what is {line!r}?"
    return None


def _set(settings: dict[str, Any], line: str) -> None:
    path, _, value = line.partition("=")
    keys = path.split(".")
    if keys[0] not in ("mode", "profile", "tools", "breaker", "bounds"):
        keys.insert(0, "detectors")
    for key in keys[:-1]:
        settings = settings.setdefault(key, {})
    settings[keys[-1]] = yaml.safe_load(value)


def _call(word: str, line: str, clock: _Clock) -> Moment:
    head, arguments, result, error, options = _parts(line)
    operation, name = head.split()[:2]
    start = clock.tick(options.get("at"))
    end = start + float(options.get("took", "1"))
    clock.spans += 1
    run = options["run"]
    attributes: dict[str, object] = {names.OPERATION: operation, names.RUN: run}
    attributes |= {_NAME_OF.get(operation, names.REQUEST_MODEL): name}
    if "over" in options:
        result = result * int(options["over"])
    attributes |= _content(operation, arguments, result) | _stamps(options)
    if error:
        attributes[names.ERROR_TYPE] = error.partition(":")[0]
    span = RawSpan(
        trace_id=_trace(run),
        span_id=int(options.get("span", clock.spans)).to_bytes(8, "big"),
        parent_span_id=int(options["parent"]).to_bytes(8, "big") if "parent" in options else b"",
        name=f"{operation} {name}",
        start_ns=EPOCH + int(start * SECOND),
        end_ns=EPOCH + int(end * SECOND),
        attributes=attributes,
        resource={names.SERVICE_NAME: "scenario"},
        status=2 if error else 0,
        status_message=error.partition(": ")[2],
    )
    return Moment(start if word == "start" else end, word, span)


def _trace(run: str) -> bytes:
    return run.encode().rjust(16, b"\x01")[-16:]


def _beat(options: dict[str, str], clock: _Clock) -> Moment:
    span = int(options["span"]).to_bytes(8, "big") if "span" in options else b""
    within = float(options.get("within", "0"))
    beat = Heartbeat(options["run"], _trace(options["run"]), span, within=within)
    return Moment(clock.tick(options.get("at")), "beat", beat=beat)


_NAME_OF = {"execute_tool": names.TOOL, "invoke_agent": names.AGENT, "invoke_workflow": names.WORKFLOW}


def _content(operation: str, arguments: Any, result: Any) -> dict[str, object]:
    asked, answered = (
        (names.TOOL_ARGUMENTS, names.TOOL_RESULT)
        if operation == "execute_tool"
        else (names.INPUT_MESSAGES, names.OUTPUT_MESSAGES)
    )
    content: dict[str, object] = {} if arguments is _ABSENT else {asked: json.dumps(arguments)}
    if result is not _ABSENT:
        content[answered] = result if isinstance(result, str) else json.dumps(result)
    return content


def _stamps(options: dict[str, str]) -> dict[str, object]:
    stamps: dict[str, object] = {}
    if "agents" in options:
        path = options["agents"].split("/")
        stamps |= {names.AGENT_PATH: options["agents"], names.DEPTH: len(path) - 1}
    if "tokens" in options:
        asked, answered = options["tokens"].split("/")
        stamps |= {names.INPUT_TOKENS: int(asked), names.OUTPUT_TOKENS: int(answered)}
    for option, name in (("usd", names.COST_USD), ("budget", names.BUDGET_USD)):
        if option in options:
            stamps[name] = float(options[option])
    if "stage" in options:
        stamps[names.STAGES] = f"1/{options['stage']}"
    return stamps | {name: options[option] for option, name in _STAMPED.items() if option in options}


_STAMPED = {
    "turn": names.TURN,
    "effect": names.EFFECT,
    "feature": names.FEATURE,
    "namespace": names.NAMESPACE,
    "tenant": names.TENANT,
    "profile": names.PROFILE,
    "finish": names.FINISH_REASONS,
}


_ABSENT = object()


def _parts(line: str) -> tuple[str, Any, Any, str, dict[str, str]]:
    """A call's line: `run=R OPERATION NAME`, arguments, result, error, options."""
    first, _, rest = line.partition(" ")
    operation, name, rest = (rest + "  ").split(" ", 2)
    arguments, rest = _json(rest)
    result: Any = _ABSENT
    error = ""
    rest = rest.strip()
    if rest.startswith("-> "):
        result, rest = _json(rest[3:])
    elif rest.startswith("!! "):
        error, rest = _json(rest[3:])
    options = dict(_OPTION.findall(f"{first} {rest}"))
    return f"{operation} {name}", arguments, result, error, options


def _json(text: str) -> tuple[Any, str]:
    text = text.strip()
    if text[:1] not in '{["0123456789ntf' or not text:
        return _ABSENT, text
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return _ABSENT, text
    return value, text[end:]
