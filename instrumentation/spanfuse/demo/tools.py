"""The tools of the demo's agents: plain functions under `@spanfuse.tool`, and how the model is told of them.

Rule 1: nothing is declared about them that a stranger's tools would not say; the judge has to find out.
Rule 2: no clock, no chance: the same calls give the same results.
"""

from __future__ import annotations

import inspect
import itertools
import zlib
from collections.abc import Callable, Iterable
from typing import Any

import spanfuse

Tool = Callable[..., object]

POLLS = 12
"""How often the export's status is asked for until it is done."""

_TYPES = {"str": "string", "int": "integer"}


class FareChanged(Exception):
    """The booking failed, as it always does."""


@spanfuse.tool
def book_flight(flight: str, attempt: int, request_id: str) -> str:
    """Book a seat on a flight. Count the attempts and give each a fresh request id (a UUID)."""
    raise FareChanged(f"the fare of {flight} has changed, nothing was booked (request {request_id})")


@spanfuse.tool
def read_ticket(ticket: str) -> str:
    """Read a support ticket, for example ticket-7."""
    return f"{ticket}: refund for order 4471. The amount stands in ledger entry-7."


@spanfuse.tool
def read_ledger(entry: str) -> str:
    """Read a ledger entry, for example entry-7."""
    return f"{entry}: refund for order 4471. The amount stands in ticket-7."


@spanfuse.tool
def search(query: str) -> dict[str, object]:
    """Search the price list."""
    price = 5 + zlib.crc32(query.encode()) % 90_000 / 100
    return {"query": query, "hits": 1, "price": f"{price:.2f} EUR per kg"}


@spanfuse.tool
def read_invoice(invoice: str, attempt: int) -> dict[str, object]:
    """Read an invoice. Count the attempts."""
    return {"invoice": invoice, "state": "draft", "total": None}


def export_status() -> Tool:
    """The tool `job_status` of one fresh export, which is done at the twelfth look."""
    looks = itertools.count(1)

    @spanfuse.tool
    def job_status(job: str) -> dict[str, object]:
        """Ask how far a job is. The state is running or done."""
        look = min(next(looks), POLLS)
        state = "done" if look == POLLS else "running"
        return {"job": job, "state": state, "progress": look * 100 // POLLS, "rows": look * 1_250}

    return job_status


def described(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    """The tools as the chat completions API wants them described, from signatures and docstrings."""
    return [{"type": "function", "function": _function(tool)} for tool in tools]


def _function(tool: Tool) -> dict[str, Any]:
    parameters = inspect.signature(tool).parameters.values()
    return {
        "name": tool.__name__,
        "description": inspect.getdoc(tool),
        "parameters": {
            "type": "object",
            "properties": {p.name: {"type": _TYPES[str(p.annotation)]} for p in parameters},
            "required": [p.name for p in parameters],
            "additionalProperties": False,
        },
    }
