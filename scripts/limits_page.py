"""Writes docs/limits.md from the detectors' limits and the profiles; `--check` fails when it is stale."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.engine.policy import REACTIONS, DetectorLimits, Policy, Profile
from spanfuse_processor.engine.scoping import Resolution, Scoping

PAGE = Path(__file__).parents[1] / "docs" / "limits.md"
HEAD = """\
# The limits

What `policy.detectors` may set, detector by detector, in the order of judging, and what it is for each kind
of run. Made from the code by `scripts/limits_page.py`; do not edit it here. How limits, modes and profiles go
together: [policy.md](policy.md).

Every detector also takes `mode`, `only_warn` and `also_stop`. Numbers that a profile changes are **bold**.
"""


def page() -> str:
    """What the page should hold."""
    made = Scoping(Policy(), {name: limits() for name, (_, limits) in DETECTORS.items()})
    limits = [made.limits(Resolution(profile)) for profile in Profile]
    return "\n".join(
        [HEAD, *(line for name in DETECTORS for line in _section(name, [of[name] for of in limits]))]
    )


def _section(name: str, limits: list[DetectorLimits]) -> Iterator[str]:
    cls = DETECTORS[name][1]
    yield f"## {name}\n"
    yield f"{inspect.cleandoc(cls.__doc__ or '')}\n"
    yield _row("limit", *Profile)
    yield _row(*["---"] * (len(Profile) + 1))
    for field in dataclasses.fields(cls):
        if field.name not in REACTIONS:
            default, *others = [f"{getattr(of, field.name):,.10g}" for of in limits]
            yield _row(
                f"`{field.name}`", default, *(each if each == default else f"**{each}**" for each in others)
            )
    yield ""


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


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
