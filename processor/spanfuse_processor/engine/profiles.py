"""What each kind of run changes of the detectors' defaults, which are those of `interactive`.

Rule 1: one table, by profile, detector and field; what is not here is as the detector has it. Rule 2: what
depends on how long and how dear honest work is differs most. Rule 3: where nobody is there to start it again,
a wrong stop costs a night: a batch may repeat itself, and meet the same failure, half as often again. What
acts on the outside, how deep agents nest, and bursts are the same for all. It knows detectors by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from spanfuse_processor.engine.policy import Fields, Profile

HOUR: Final = 3_600.0

PROFILES: Final[Mapping[Profile, Mapping[str, Fields]]] = MappingProxyType(
    {
        Profile.INTERACTIVE: {},
        Profile.BATCH: {
            "repeat": {
                "equal": 8,
                "writes": 6,
                "failures": 6,
                "similar": 9,
                "wait_time": 4 * HOUR,
                "wait_cost": 10.0,
            },
            "cycle": {"calls": 12, "rounds": 3, "stale": 18, "stale_warn": 9},
            "storm": {"failed": 15, "failed_warn": 8, "rows": 15, "transient": 20},
            "answers": {"same": 28, "same_warn": 12},
            "fanout": {"nested": 48, "wide": 200, "warn": 48},
            "failing": {"failures": 48, "warn": 24},
            "dear": {"tokens": 10_000_000},
            "rate": {"per_minute": 120},
            "stuck": {"waiting": 4 * HOUR},
            "steps": {"seconds": 120.0, "command_seconds": 0.5 * HOUR},
            "limits": {
                "minute_cost": 10.0,
                "run_cost": 20.0,
                "run_tokens": 2_000_000,
                "run_seconds": 1 * HOUR,
            },
        },
        Profile.LONG: {
            "repeat": {"wait_time": 4 * HOUR, "wait_cost": 10.0},
            "rate": {"per_minute": 60},
            "stuck": {"open": 1 * HOUR, "waiting": 4 * HOUR, "silent": 1 * HOUR},
            "steps": {"seconds": 120.0, "command_seconds": 1 * HOUR, "cost": 2.0},
            "limits": {"run_cost": 50.0, "run_tokens": 10_000_000, "run_seconds": 12 * HOUR},
        },
    }
)
