"""spanfuse: a breaker for LLM agents. This package is the library that emits spans and obeys.

    import spanfuse.auto          # watches every LLM and tool call of this process

    with spanfuse.run(feature="support-chat", user="u-123"):
        ...

Importing it loads next to nothing: names are looked up when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from spanfuse.errors import BreakerOpen, RunStopped, SettingsError, SpanfuseError
from spanfuse.instrument import (
    Status,
    current_run,
    instrument,
    kill,
    release,
    shutdown,
    status,
    uninstrument,
)

if TYPE_CHECKING:
    from spanfuse.context import RunScope
    from spanfuse.process import environment
    from spanfuse.running import Run, run
    from spanfuse.stages import Stage, heartbeat, stage
    from spanfuse.tools import tool
    from spanfuse_processor.engine.alerts import BudgetEvent
    from spanfuse_processor.engine.policy import Policy
    from spanfuse_processor.engine.verdicts import Directive

__all__ = [
    "BreakerOpen",
    "BudgetEvent",
    "Directive",
    "Policy",
    "Run",
    "RunScope",
    "RunStopped",
    "SettingsError",
    "SpanfuseError",
    "Stage",
    "Status",
    "current_run",
    "environment",
    "heartbeat",
    "instrument",
    "kill",
    "release",
    "run",
    "shutdown",
    "stage",
    "status",
    "tool",
    "uninstrument",
]

_LATER = {
    "BudgetEvent": "spanfuse_processor.engine.alerts",
    "Directive": "spanfuse_processor.engine.verdicts",
    "Policy": "spanfuse_processor.engine.policy",
    "Run": "spanfuse.running",
    "RunScope": "spanfuse.context",
    "Stage": "spanfuse.stages",
    "environment": "spanfuse.process",
    "heartbeat": "spanfuse.stages",
    "run": "spanfuse.running",
    "stage": "spanfuse.stages",
    "tool": "spanfuse.tools",
}


def __getattr__(name: str) -> Any:
    """Imports a public name's module when the name is first used."""
    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module 'spanfuse' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(module), name)
    return value
