"""What a study found of the same rules on the one collection that both have: sola's runs, labelled by people.

The study wrote the rules anew too, or called the packages, over other data beside this. Where the figures
differ, `WHY` says how the readings do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SOURCE: Final = "sola_pairlabels"

FOUND: Final[Mapping[str, tuple[float, float]]] = {
    "OpenHands V0": (0.69, 0.82),
    "OpenHands V0, thoughts ignored": (0.69, 0.82),
    "OpenHands SDK": (0.90, 0.82),
    "goose (3)": (1.00, 0.73),
    "Cline (3, 5)": (1.00, 0.73),
    "Roo Code (3)": (1.00, 0.73),
    "CrewAI (refuses the call)": (0.28, 0.82),
    "stella": (0.73, 0.73),
    "hermes-agent": (0.75, 0.82),
    "agentguard47 LoopGuard (5)": (1.00, 0.73),
    "agentguard47 FuzzyLoopGuard": (0.15, 1.00),
    "agent-watchdog": (0.53, 0.73),
    "agentcircuit Fuse": (0.20, 0.91),
    "agentbelt-loop": (0.37, 1.00),
    "cap of 25 steps": (0.16, 1.00),
}
"""Peer -> precision and recall at its stop. gemini-cli's and openclaw's were given at their warnings only."""

WHY: Final[Mapping[str, str]] = {
    "stella": "a cycle that is met in another phase is the same loop here, and no second one",
    "hermes-agent": "failures of a tool count until it succeeds, as in its code, however far apart they lie; "
    "which tools are shells and editors is guessed from their names",
}
