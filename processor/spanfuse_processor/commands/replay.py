"""`spanfuse replay FILE|DIR ...`: judges recorded spans as the service would, by the recording's own clock.

Rule 1: for machines, the same input gives the same lines, byte for byte. Rule 2: for people, what would have
been stopped or warned of comes with its evidence. Rule 3: with several policies, what tells them apart. What
cannot be read is said on stderr and skipped; no directive is sent anywhere.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from spanfuse_processor.clock import SystemClock
from spanfuse_processor.config import Config
from spanfuse_processor.config_loading import ConfigError, load_config
from spanfuse_processor.engine import GenaiPrices
from spanfuse_processor.replaying import Judge, Replay, find
from spanfuse_processor.replaying.comparison import Case, compare, tally
from spanfuse_processor.replaying.labels import LabelError, Labels
from spanfuse_processor.replaying.recording import SUFFIXES
from spanfuse_processor.replaying.telling.contrast import MOST_POLICIES, contrast
from spanfuse_processor.replaying.telling.progress import Progress
from spanfuse_processor.replaying.telling.story import Told
from spanfuse_processor.replaying.telling.summary import summarise
from spanfuse_processor.terminal import Screen, printable

HELP = (
    "Judge recorded spans (OTLP/JSON lines, plain or .gz) as the service would. Exit 1 when a run is stopped."
)
DEFAULT: Final = "default"
"""Names the built-in policy, where no file is called so."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to read, by which policies, and how to print it."""
    add = parser.add_argument
    add("paths", nargs="+", type=Path, metavar="FILE|DIR", help="recordings, in this order; - is stdin")
    add(
        "--config",
        action="append",
        metavar="FILE",
        help="YAML file whose policy judges (default: SPANFUSE_CONFIG, else the built-in policy, which is "
        f"called '{DEFAULT}'); several are compared",
    )
    add(
        "--labels",
        action="append",
        type=Path,
        metavar="FILE",
        default=[],
        help="JSON or JSON lines: a word (ok, loop ...) for each run or trace id; shows wrong stops",
    )
    add("--output", choices=("text", "json"), default="text", help="for people, or JSON lines")
    add(
        "--starts",
        action="store_true",
        help="in true time order with starts, as a host inside the program sees it",
    )
    add("--all", action="store_true", help="tell of every run, not only of stopped, warned or differing ones")
    add("--limit", type=_natural, default=10, metavar="N", help="timelines to print (default: 10)")


def run(arguments: argparse.Namespace) -> int:
    """Exit 0 when nothing had to be stopped, 1 when something had, 2 when the input cannot be used."""
    names: list[str | None] = arguments.config or [None]
    try:
        configs = [_config(name) for name in names]
        files = find(arguments.paths)
        labels = Labels.read(arguments.labels)
    except (ConfigError, LabelError) as error:
        return _refuse(str(error))
    except FileNotFoundError as error:
        return _refuse(f"no such file or folder: {error}")
    if len(configs) > MOST_POLICIES:
        return _refuse(f"more than {MOST_POLICIES} policies at once")
    shows_calls = arguments.output == "text" and len(configs) == 1
    replay = _judged(configs, files, arguments.starts, shows_calls)
    if not replay.has_read:
        return _refuse(_nothing(arguments.paths, files))
    cases = compare(replay, labels)
    if labels and not any(case.label for case in cases):
        _complain("no label names a run of this recording")
    _print(arguments, [name or DEFAULT for name in names], replay, labels, cases)
    sys.stdout.flush()
    return 1 if any(each.verdict == "stop" for case in cases for each in case.outcomes) else 0


def _judged(configs: Sequence[Config], files: Sequence[Path], starts: bool, journal: bool) -> Replay:
    """One reading, judged by all policies."""
    prices = GenaiPrices()
    replay = Replay(
        *(Judge(config.policy, config.fingerprint_key.encode(), prices, journal) for config in configs)
    )
    progress = Progress(sys.stderr, SystemClock().monotonic)

    def report(problem: str) -> None:
        progress.wipe()
        _complain(problem)

    try:
        replay.read(files, starts, report, progress.watch)
    finally:
        progress.wipe()
    return replay


def _print(
    arguments: argparse.Namespace, names: Sequence[str], replay: Replay, labels: Labels, cases: Sequence[Case]
) -> None:
    compared = len(names) > 1
    if arguments.output == "json":
        _print_json(_compared(names, cases, arguments.all) if compared or labels else replay.rows())
    elif compared:
        tallies = [tally(cases, policy) for policy in range(len(names))]
        contrast(names, cases, tallies, Screen.of(sys.stdout), arguments.all)
    else:
        judge = replay.judges[0]
        runs = [Told(file, view, judge.calls(view), labels.of(view)) for file, view in replay.views()]
        summarise(runs, Screen.of(sys.stdout), arguments.all, arguments.limit)


def _compared(names: Sequence[str], cases: Sequence[Case], everything: bool) -> Iterable[dict[str, Any]]:
    yield from (case.row(names) for case in cases if everything or case.differs)
    yield {"totals": [tally(cases, policy).row(name) for policy, name in enumerate(names)]}


def _print_json(rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        print(json.dumps(row, separators=(",", ":")))  # noqa: T201 - this is a command line


def _config(name: str | None) -> Config:
    if name == DEFAULT and not Path(name).exists():
        return load_config(None, {})
    return load_config(name)


def _natural(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def _complain(line: str) -> None:
    print(f"spanfuse replay: {printable(line)}", file=sys.stderr)  # noqa: T201


def _nothing(paths: Sequence[Path], files: Sequence[Path]) -> str:
    where = ", ".join(map(str, paths))
    if not files:
        return f"nothing to read: no file in {where} ends in {', '.join(SUFFIXES)}"
    return f"nothing was judged: no span could be read from {where}"


def _refuse(problem: str) -> int:
    _complain(problem)
    return 2
