"""The scripted model: it reads one conversation and says what comes next.

Rule 1: stateless, as a model is: everything follows from the messages and the tools of the request.
Rule 2: the tools on offer choose the script; without tools it writes prose. Rule 3: no clock and no chance:
the same conversation always gets the same reply. It does not know HTTP, nor who judges the run.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Message = Mapping[str, Any]

RETRIES = 200
"""Tool calls after which a script that loops gives up, when nobody stops it."""

STORM_RETRIES = 30
"""The same for the runs of the storm (row S8)."""

PROSE = 400
"""Words of a text when nothing is said of its length."""

_WORDS = (
    "the agent reads the ledger and finds the entry that was missing then it writes the sum "
    "beside it and turns the page because the next account is still open and the clerk waits"
).split()


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call as the model asks for it: `arguments` is JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model says: either text or one tool call. `cut`: it was not allowed to say more."""

    text: str = ""
    tool: ToolUse | None = None
    cut: bool = False


Script = Callable[[Sequence[Message]], Reply]


def reply_to(messages: Sequence[Message], offered: frozenset[str]) -> Reply:
    """The next turn of the model, given the conversation and the names of the tools on offer."""
    return SCRIPTS.get(offered, write)(messages)


def shortened(reply: Reply, most: int | None) -> Reply:
    """A reply of at most so many words, each of which is a token; None: of as many as it has."""
    words = reply.text.split()
    if most is None or len(words) <= most:
        return reply
    return Reply(" ".join(words[:most]), reply.tool, cut=True)


def book(messages: Sequence[Message]) -> Reply:
    """Retries a booking that fails: a counter and a fresh request id each time, the rest the same."""
    tries = _answered(messages)
    if tries >= RETRIES:
        return Reply("I could not book the flight.")
    request = uuid.uuid5(uuid.NAMESPACE_OID, f"booking {tries}")
    return _use(tries, "book_flight", flight="LH 400", attempt=tries + 1, request_id=str(request))


def chase(messages: Sequence[Message]) -> Reply:
    """Follows references between a ticket and a ledger that point at each other."""
    steps = _answered(messages)
    if steps >= RETRIES:
        return Reply("I could not find the amount.")
    if steps and "ledger" in _text(messages[-1]):
        return _use(steps, "read_ledger", entry="entry-7")
    return _use(steps, "read_ticket", ticket="ticket-7")


def research(messages: Sequence[Message]) -> Reply:
    """Searches once for each item that the task lists after its colon, then answers."""
    items = _text(_task(messages)).partition(":")[2].strip(" .").split(", ")
    found = _answered(messages)
    if found >= len(items):
        return Reply(f"I found prices for all {found} materials.")
    return _use(found, "search", query=f"price of {items[found]}")


def poll(messages: Sequence[Message]) -> Reply:
    """Asks for a job's status until it is done."""
    if '"done"' in _text(messages[-1]):
        return Reply("The export is done.")
    return _use(_answered(messages), "job_status", job="export-7")


def fetch(messages: Sequence[Message]) -> Reply:
    """Reads the same unfinished invoice again and again."""
    tries = _answered(messages)
    if tries >= STORM_RETRIES:
        return Reply("The invoice has no total.")
    invoice = re.search(r"INV-\d+", _text(_task(messages)))
    return _use(tries, "read_invoice", invoice=invoice[0] if invoice else "INV-0", attempt=tries + 1)


def write(messages: Sequence[Message]) -> Reply:
    """Writes as many words as it was asked for, 400 by itself; which words follows from the request."""
    asked = re.findall(r"(\d+) words", " ".join(map(_text, messages)))
    start = zlib.crc32(_text(messages[-1]).encode()) + len(messages)
    count = int(asked[-1]) if asked else PROSE
    # By a digest, so that it never goes round in a circle: that would be chanting.
    picked = (zlib.crc32(b"%d %d" % (start, n)) % len(_WORDS) for n in range(count))
    return Reply(" ".join(_WORDS[place] for place in picked))


SCRIPTS: Mapping[frozenset[str], Script] = {
    frozenset({"book_flight"}): book,
    frozenset({"read_ticket", "read_ledger"}): chase,
    frozenset({"search"}): research,
    frozenset({"job_status"}): poll,
    frozenset({"read_invoice"}): fetch,
}


def _use(step: int, name: str, **arguments: object) -> Reply:
    """A tool call whose id is that of its place in the conversation."""
    digest = hashlib.blake2b(f"{name} {step}".encode(), digest_size=12).hexdigest()
    return Reply(tool=ToolUse(f"call_{digest}", name, json.dumps(arguments)))


def _answered(messages: Sequence[Message]) -> int:
    return sum(message.get("role") == "tool" for message in messages)


def _task(messages: Sequence[Message]) -> Message:
    """The first thing the user said; the last message when there is none."""
    return next((m for m in messages if m.get("role") == "user"), messages[-1])


def _text(message: Message) -> str:
    """A message's text, whether it is a string or a list of parts."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text", "")) for part in content)
