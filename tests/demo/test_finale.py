"""The last act while it plays: what is heard, and where, and an agent that gets lost."""

from __future__ import annotations

import io
import os
from dataclasses import asdict

from rich.console import Console
from tests.demo.test_thrift import ALERT, WORKED

from spanfuse.demo.finale import Finale
from spanfuse.demo.hook import Hook
from spanfuse.demo.processes import Troupe
from spanfuse.demo.progress import Progress
from spanfuse.demo.thrift import Worked

TOLD = {name: value for name, value in asdict(ALERT).items() if name not in ("at", "signed")}
PRELUDE = (
    "import json, sys\n"
    "def tell(**event): print(json.dumps(event), flush=True)\n"
    f"worked, told = {asdict(WORKED)!r}, {TOLD!r}\n"
    "assert input() == 'go'\n"
)


async def play(code: str, hook: Hook | None = None) -> tuple[Finale, str]:
    """Plays an agent that is given by the code that it runs after the curtain."""
    out = io.StringIO()
    async with Troupe() as troupe:
        agent = await troupe.start("research", ("-c", PRELUDE + code), os.environ)
        finale = Finale(agent, hook, Progress(Console(file=out, width=200)))
        await finale.play()
    return finale, out.getvalue()


async def test_an_application_that_judges_itself_tells_of_its_budgets() -> None:
    finale, shown = await play(
        "tell(event='calls', calls=3); tell(event='alert', **told)\n"
        "tell(event='ended', worked=worked); tell(event='done')"
    )

    (alert,) = finale.alerts
    assert (alert.kind, alert.budget, alert.signed) == ("imminent", "research", None)
    assert finale.worked == WORKED
    assert finale.ended >= alert.at
    assert "alert: It runs out. Order: degrade." in shown
    assert "research     finished   22 calls" in shown


async def test_where_a_processor_judges_only_the_webhook_is_heard() -> None:
    hook = Hook()
    hook._server.server_close()
    hook.alerts.append(ALERT)
    finale, shown = await play(
        "tell(event='alert', **told); tell(event='ended', worked=worked); tell(event='done')", hook
    )

    assert finale.alerts == [ALERT]
    assert shown.count("It runs out.") == 1


async def test_an_agent_that_dies_is_lost_with_its_last_words() -> None:
    finale, shown = await play("sys.exit('out of luck')")

    assert finale.worked == Worked()
    assert finale.ended > 0
    assert "research was lost: out of luck" in shown
