"""Writes docs/breaker.md from the breaker's table; `--check` fails when it is stale."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spanfuse_processor.engine.breaker import ORDERS, TRANSITIONS, transitions_diagram
from spanfuse_processor.engine.verdicts import BreakerState

PAGE = Path(__file__).parents[1] / "docs" / "breaker.md"
TEXT = """\
# The breaker

One state machine for each key (run, user, feature, tenant, tool, model ...). Made from the table in
`processor/spanfuse_processor/engine/breaker.py` by `scripts/breaker_page.py`; do not edit it here.

```mermaid
{diagram}
```

{table}

- A missing row is no move for evidence, and an error for an operator's order (*in italics*).
- Every move starts a generation; evidence that arose under an older one is dropped.
- OPEN cools for 30 s, doubled with each trip up to 600 s. A run's breaker does not cool: it stays open for
  the run's life, until it is released.
- HALF_OPEN lets two probes through at once; five clean ones in a row close it, a failed one reopens it, and
  so does one that has no answer after 30 s (`half_open_timeout`).
- FORCED_OPEN is an operator's stop, DISABLED an operator's word that nothing may stop this key but a kill.
"""


def page() -> str:
    """What the page should hold."""
    return TEXT.format(diagram=transitions_diagram(), table=_table())


def _table() -> str:
    signals = list(dict.fromkeys(signal for _, signal in TRANSITIONS))
    heads = [f"*{signal.value}*" if signal in ORDERS else signal.value for signal in signals]
    rows = [["state", *heads], ["---"] * (len(signals) + 1)]
    for state in BreakerState:
        moves = (TRANSITIONS.get((state, signal)) for signal in signals)
        rows.append([state.name, *(after.name if after else "" for after in moves)])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def main() -> int:
    """Writes the page, or with `--check` returns 1 when it is stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the page is stale")
    check = parser.parse_args().check
    stale = not PAGE.exists() or PAGE.read_text() != page()
    if stale and not check:
        PAGE.write_text(page())
    return 1 if stale and check else 0


if __name__ == "__main__":
    sys.exit(main())
