"""An agent that spends small budgets, one after the other, each until it is stopped, and says when that was.

    python -m tests.stack.spender FEATURE ...

A line of JSON for each: when the call ended that spent the last of it, and when the stop was here. Seconds
since the epoch. Its spans go where any application's go.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator

from openai import OpenAI

import spanfuse
import spanfuse.auto
from spanfuse import runtime
from spanfuse.demo import allowance, backstage
from spanfuse.demo.scenarios import MODEL
from spanfuse_processor.engine.verdicts import Action, Directive

MOST = 40
"""Calls after which a budget that does not stop anybody is given up."""
PAUSE = 0.15
"""Seconds between two calls: the verdict on one is here before the next."""
APART = 0.83
"""Seconds between two budgets: they end at ever other moments between two scrapes."""


def spend(
    client: OpenAI, feature: str, requests: Iterator[str], stops: dict[str, float]
) -> dict[str, object]:
    """Makes calls until there is no money for another."""
    ended = 0.0
    for number in range(MOST):
        try:
            with spanfuse.run(feature=feature) as run:
                client.chat.completions.create(
                    model=MODEL, messages=[{"role": "user", "content": next(requests)}], user=feature
                )
        except spanfuse.BreakerOpen as stop:
            closed = stops.get(stop.directive.id, 0.0)
            return {"feature": feature, "calls": number, "ended": ended, "closed": closed, "run": run.id}
        ended = time.time()
        threading.Event().wait(PAUSE)
    return {"feature": feature, "calls": MOST, "ended": ended, "closed": 0.0, "run": run.id}


def watch() -> dict[str, float]:
    """When each stop came in, from now on, by its id."""
    parts, stops = runtime.live(), dict[str, float]()
    assert parts is not None

    def note(directive: Directive) -> None:
        if directive.action is Action.STOP:
            stops.setdefault(directive.id, time.time())

    parts.board.on_change(note)
    return stops


def main() -> None:
    """Spends what the arguments name."""
    backstage.wait_for_judge()
    stops, requests = watch(), allowance.requests()
    with OpenAI() as client:
        for feature in sys.argv[1:]:
            sys.stdout.write(json.dumps(spend(client, feature, requests, stops)) + "\n")
            sys.stdout.flush()
            threading.Event().wait(APART)


if __name__ == "__main__":
    main()
