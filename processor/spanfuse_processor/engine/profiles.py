"""What each kind of run changes of the detectors' defaults, which are those of `interactive`.

Rule 1: one table, by profile, detector and field; what is not here is as the detector has it. Rule 2: it
loosens what depends on how long honest work takes, never what a loop is. It knows detectors by name alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from spanfuse_processor.engine.policy import Fields, Profile

PROFILES: Final[Mapping[Profile, Mapping[str, Fields]]] = MappingProxyType(
    {
        Profile.INTERACTIVE: {},
        Profile.BATCH: {"rate": {"per_minute": 120}},
        Profile.LONG: {"rate": {"per_minute": 60}},
    }
)
