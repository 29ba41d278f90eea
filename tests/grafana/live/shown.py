"""A dashboard as somebody sees it who has clicked on the latest stop: what is chosen, answered and marked."""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.grafana.live.rig import Rig

from grafana.asking import answers
from grafana.asking.answers import Answer
from grafana.asking.filling import Chosen
from grafana.asking.frames import Frame
from grafana.building.links import AGENT
from grafana.drawing import Page

LATEST = """
    SELECT agent, trace_id FROM spanfuse.breaker_event
    WHERE kind = 'trip' AND agent <> '' AND time < now() - interval '15 seconds' ORDER BY time DESC LIMIT 1
"""


class Shown(NamedTuple):
    """A dashboard, what is chosen on it, and what it shows."""

    document: dict[str, Any]
    rig: Rig
    chosen: Chosen
    answers: list[Answer]
    marks: list[Frame]

    def page(self, theme: str) -> Page:
        """What is to be drawn."""
        return Page(self.document, self.answers, self.marks, self.rig.span, self.chosen, theme)


def shown(document: dict[str, Any], rig: Rig) -> Shown:
    """Asks everything that the dashboard asks."""
    given: dict[str, str] = {}
    if document["uid"] == AGENT:
        _, [(agent, trace_id)] = rig.servers.rows(LATEST)
        given = {"agent": agent, "trace_id": trace_id}
    servers, span = rig.servers, rig.span
    chosen = answers.choices(document, servers, span, given)
    found = list(answers.answered(document, servers, span, chosen))
    return Shown(document, rig, chosen, found, answers.marks(document, servers, span, chosen))
