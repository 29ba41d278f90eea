"""What operators write and read: keys, orders and directives as text and JSON.

Rule 1: a bad request is a `BadRequest` that says what was expected. Rule 2: money is decimal here, ids are
hex, and nothing of a call's content is ever shown. It knows no HTTP.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.runs.run import RunView
from spanfuse_processor.engine.verdicts import Directive, Finding

MAX_ID: Final = 512  # characters
MAX_REASON: Final = 1000
LEVELS: Final = tuple(level.value for level in Level if level is not Level.BUDGET)
"""What an operator may stop: budgets are the policy's."""
_FIELDS: Final = {"key", "reason"}


class BadRequest(ValueError):
    """A request that cannot be carried out as it stands; the text is for the operator."""

    def __init__(self, problem: str, status: int = 400) -> None:
        super().__init__(problem)
        self.status = status


@dataclass(frozen=True, slots=True)
class Wish:
    """What an operator asks for: the key, and why."""

    key: BreakerKey
    reason: str


def read_wish(body: bytes) -> Wish:
    """The wish in a JSON body, `{"key": "run/<id>", "reason": "..."}`.

    Raises:
        BadRequest: no JSON object, unknown fields, or a value that cannot be used.
    """
    try:
        values = json.loads(body)
    except (ValueError, RecursionError):
        raise BadRequest("the body is not JSON") from None
    if not isinstance(values, dict) or not values.keys() <= _FIELDS or "key" not in values:
        raise BadRequest('the body must be an object with "key" and, if you like, "reason"')
    if not all(isinstance(value, str) for value in values.values()):
        raise BadRequest("key and reason must be texts")
    return Wish(parse_key(values["key"]), values.get("reason", "")[:MAX_REASON])


def parse_key(text: str) -> BreakerKey:
    """The key that an operator writes: LEVEL/ID, `everything`, or a run's id alone.

    >>> str(parse_key("feature/support-chat")), str(parse_key("7f3a"))
    ('feature/support-chat', 'run/7f3a')

    Raises:
        BadRequest: an unknown level, or an id that is empty or too long.
    """
    level, slash, name = text.partition("/")
    if not slash:
        level, name = (level, "") if level == Level.EVERYTHING else (Level.RUN.value, text)
    if level not in LEVELS:
        known = ", ".join(LEVELS)
        raise BadRequest(f"no such level: {level[:40]!r}; a key is LEVEL/ID with one of {known}")
    if level == Level.EVERYTHING:
        return BreakerKey(Level.EVERYTHING, "")
    if not name or len(name) > MAX_ID:
        raise BadRequest(f"{level}/... needs an id of 1 to {MAX_ID} characters")
    return BreakerKey(Level(level), name)


def show_key(key: BreakerKey) -> str:
    """A key as an operator writes it."""
    return key.level.value if key.level is Level.EVERYTHING else str(key)


def show_directive(directive: Directive) -> dict[str, Any]:
    """A directive for people: what holds, for how long yet, and why."""
    evidence = directive.evidence
    return {
        "id": directive.id,
        "revision": directive.revision,
        "key": show_key(directive.key),
        "action": directive.action.value,
        "mode": directive.mode.value,
        "reason": directive.reason,
        "message": directive.message,
        "issuer": directive.issuer,
        "issued_unix_nano": directive.issued_ns,
        "ttl_seconds": round(directive.ttl, 3),
        "detector": evidence.detector,
        "rule": evidence.rule,
        "observed": evidence.observed,
        "limit": evidence.limit,
        "unit": evidence.unit,
        "trace_id": evidence.trace_id.hex(),
        "first_span_id": evidence.first_span_id.hex(),
        "span_ids": [span_id.hex() for span_id in evidence.span_ids],
        "prints": list(evidence.prints),
        "cost_usd": evidence.cost / 1_000_000,
        "cleared_by": evidence.cleared_by,
        "words": evidence.words(),
    }


def show_runs(runs: Iterable[RunView], most: int) -> list[Mapping[str, Any]]:
    """Runs for people, at most so many: stopped ones first, then by cost."""
    first = sorted(runs, key=lambda run: (run.verdict != "stop", -run.cost, run.number))
    return [show_run(run) for run in first[:most]]


def show_run(run: RunView) -> dict[str, Any]:
    """A run for people: what became of it, for whom it worked, and what its verdict rests on."""
    mark, who = run.stop or run.warn, run.identity
    return {
        "run": run.id,
        "verdict": run.verdict,
        "level": run.level.value,
        "state": run.state.value,
        "detector": mark.detector if mark else None,
        "action": mark.action if mark else None,
        "profile": run.profile.value,
        "loops_judged": run.judged,
        "service": who.service,
        "tenant": who.tenant,
        "namespace": who.namespace,
        "feature": who.feature,
        "agent": run.agent,
        "calls": run.calls,
        "cost_usd": run.cost / 1_000_000,
        "cost_after_usd": run.cost_after / 1_000_000,
        "last_unix_nano": run.last_ns,
        "live": run.live,
        "over": run.over,
        "why": show_finding(run.why) if run.why else None,
    }


def show_finding(finding: Finding) -> dict[str, Any]:
    """What a detector saw, for people."""
    return {
        "detector": finding.detector,
        "rule": finding.rule,
        "severity": finding.severity.value,
        "reason": finding.reason,
        "message": finding.message,
        "call": finding.call,
        "observed": finding.observed,
        "limit": finding.limit,
        "first_span_id": finding.first_span_id.hex(),
        "span_id": finding.span_id.hex(),
        "prints": list(finding.prints),
        "cost_usd": finding.cost / 1_000_000,
        "cleared_by": finding.cleared_by,
    }


def show_kill(key: BreakerKey, standing: Iterable[Directive], *, changed: bool) -> dict[str, Any]:
    """What came of a kill: the directives that stand now, and whether it `changed` anything."""
    return {
        "key": show_key(key),
        "changed": changed,
        "directives": [show_directive(each) for each in standing],
    }


def read_limit(query: Mapping[str, list[str]], most: int) -> int:
    """How many rows are wanted: `limit=N` of a query, at most `most`.

    Raises:
        BadRequest: not a whole number above zero.
    """
    text = query.get("limit", [str(most)])[-1]
    if not (text.isascii() and text.isdecimal()) or not int(text[:9]):
        raise BadRequest("limit must be a whole number above zero")
    return min(int(text[:9]), most)
