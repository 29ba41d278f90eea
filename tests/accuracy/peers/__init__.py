"""The peers: name -> maker of its rule. A new one is a file here and a line below."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from tests.accuracy.peer import Maker
from tests.accuracy.peers import repeats
from tests.accuracy.peers.agentbelt import Agentbelt
from tests.accuracy.peers.caps import Cap
from tests.accuracy.peers.gemini_cli import GeminiCli
from tests.accuracy.peers.hermes import Hermes
from tests.accuracy.peers.openclaw import Openclaw
from tests.accuracy.peers.openhands import OpenHandsSdk, OpenHandsV0
from tests.accuracy.peers.packages import AgentWatchdog, Fuse, FuzzyLoopGuard
from tests.accuracy.peers.stella import Stella

PEERS: Final[Mapping[str, Maker]] = MappingProxyType(
    {
        "OpenHands V0": OpenHandsV0,
        "OpenHands V0, thoughts ignored": lambda: OpenHandsV0(thoughts=False),
        "OpenHands SDK": OpenHandsSdk,
        "gemini-cli": GeminiCli,
        "goose (3)": repeats.goose,
        "Cline (3, 5)": repeats.cline,
        "Roo Code (3)": repeats.roo,
        "CrewAI (refuses the call)": repeats.crewai,
        "stella": Stella,
        "hermes-agent": Hermes,
        "openclaw": Openclaw,
        "agentguard47 LoopGuard (5)": repeats.loop_guard,
        "agentguard47 FuzzyLoopGuard": FuzzyLoopGuard,
        "agent-watchdog": AgentWatchdog,
        "agentcircuit Fuse": Fuse,
        "agentbelt-loop": Agentbelt,
        "cap of 25 steps": lambda: Cap(25),
    }
)
