"""The runs of the demo: what each agent is told, what tools it has, and how it is expected to end.

Rule 1: a prompt makes a real model behave as the script does, so that `--base-url` needs nothing else.
Rule 2: data only. It knows neither the provider nor the judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spanfuse.demo import tools
from spanfuse.demo.tools import Tool

STORM_RUNS = 100
MODEL = "gpt-4o"
STORM_MODEL = "gpt-4.1"

MATERIALS = (
    "copper, zinc, tin, lead, nickel, cobalt, silver, titanium, tungsten, chromium, manganese, iron, "
    "bismuth, cadmium, gallium, indium, lithium, magnesium, mercury, niobium, osmium, palladium, "
    "platinum, rhodium, silicon, tantalum, vanadium, yttrium, zirconium, aluminium"
)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One agent's task.

    `turns` are what the user says, one after the other. `toolbox` makes the tools, fresh for each run.
    `within` is the call by which a run must have been stopped, 0 where it must not be. A run is counted in
    tool calls, one without tools in model calls. `mid_stream`: an operator stops it inside a stream.
    """

    name: str
    system: str
    turns: tuple[str, ...]
    toolbox: Callable[[], Sequence[Tool]]
    model: str = MODEL
    within: int = 0
    asynchronous: bool = False
    mid_stream: bool = False

    @property
    def expected(self) -> str:
        """How the run must end: stopped or finished."""
        return "stopped" if self.within else "finished"


LOOPING = Scenario(
    name="looping",
    system=(
        "You book flights with the tool book_flight. When a booking fails, call the tool again with "
        "attempt increased by one and a new random UUID as request_id. Never ask, never give up before "
        "attempt 200."
    ),
    turns=("Book me on LH 400.",),
    toolbox=lambda: (tools.book_flight,),
    within=8,
)

ALTERNATING = Scenario(
    name="alternating",
    system=(
        "You look amounts up. Begin with read_ticket for ticket-7. When a text says that the amount "
        "stands elsewhere, read that with read_ledger or read_ticket. Never ask, never give up: go on "
        "until you have seen the amount."
    ),
    turns=("How much is the refund for order 4471?",),
    toolbox=lambda: (tools.read_ticket, tools.read_ledger),
    within=12,
    asynchronous=True,
)

HEALTHY = Scenario(
    name="healthy",
    system="Search once for the price of each material that you are given, one at a time, then answer.",
    turns=(f"Find the prices of these materials: {MATERIALS}.",),
    toolbox=lambda: (tools.search,),
)

POLLING = Scenario(
    name="polling",
    system="Ask for a job's status with job_status, again and again, until its state is done. Then say so.",
    turns=("Wait until export-7 is done.",),
    toolbox=lambda: (tools.export_status(),),
    asynchronous=True,
)

STREAMING = Scenario(
    name="streaming",
    system="You write a novel. Each request asks for one chapter of about 400 words.",
    turns=tuple(f"Write chapter {number} of 10." for number in range(1, 11)),
    toolbox=lambda: (),
    within=2,
    mid_stream=True,
)

NAMED = {each.name: each for each in (LOOPING, ALTERNATING, HEALTHY, POLLING, STREAMING)}
"""The five runs with a name of their own, each in a process of its own."""


def storm(number: int) -> Scenario:
    """One run of the storm (row S8): it reads the same unfinished invoice again and again."""
    return Scenario(
        name=f"storm-{number:03}",
        system=(
            "You wait for invoices. While the total is missing, call read_invoice again with attempt "
            "increased by one. Give up after attempt 30."
        ),
        turns=(f"What is the total of INV-{number:03}?",),
        toolbox=lambda: (tools.read_invoice,),
        model=STORM_MODEL,
        within=6,
        asynchronous=True,
    )
