"""The commands of the one executable: a name and the module that carries it out.

Modules are named as strings, because two of them live in the library, which the processor never imports, and
because a command's needs are imported only when it runs. A module has `HELP`, `add_arguments(parser)` and
`run(arguments) -> int` (exit code: 0 ok, 1 found something or failed, 2 wrong use).
"""

from __future__ import annotations

from typing import Final

COMMANDS: Final[dict[str, str]] = {
    "demo": "spanfuse.commands.demo",
    "run": "spanfuse.commands.run",
    "processor": "spanfuse_processor.commands.processor",
    "replay": "spanfuse_processor.commands.replay",
    "check": "spanfuse_processor.commands.check",
    "budgets": "spanfuse_processor.commands.budgets",
    "spend": "spanfuse_processor.commands.spend",
    "top": "spanfuse_processor.commands.top",
    "events": "spanfuse_processor.commands.events",
    "report": "spanfuse_processor.commands.report",
    "kill": "spanfuse_processor.commands.kill",
    "release": "spanfuse_processor.commands.release",
}
