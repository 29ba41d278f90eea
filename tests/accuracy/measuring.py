"""The work of measuring, cut into jobs that two processes share: what the engine says, and what peers do.

Rule 1: a job needs nothing but what it names and where the data is. Rule 2: every set of spans is written
once, to a folder that is thrown away, and judged in both orders of delivery. Rule 3: peers are told the very
steps that the spans were made of. It does not count anything.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from tests.accuracy import emitted, incidents, otlp, recorded
from tests.accuracy.judged import Recording, Verdict
from tests.accuracy.otlp import Span
from tests.accuracy.peer import Fired, judge_all
from tests.accuracy.peers import PEERS
from tests.accuracy.shared import Shared
from tests.accuracy.steps import Case, Truth, turns
from tests.accuracy.synthetic import LOOPS, TWINS
from tests.accuracy.synthetic.grafting import grafted, prefixes
from tests.accuracy.withheld import Withholding

PLAIN: Final = "plain"
NAMES: Final = "names only"
WITHHELD: Final = "fingerprints only"
JITTERED: Final = {f"jittered, seed {seed}": seed for seed in (1, 2, 3)}
STOCKS: Final = {
    "tau2_toolorchestra": 14,
    "taubench_retail_agentrx": 12,
    "taubench_airline": 10,
    "sola_pairlabels": 8,
}
"""How many prefixes each collection gives."""

_WORKERS = 2
_RUNS = 1_300  # a job
_KINDS = 8  # a job

Made = tuple[str, list[Span], list[str]]
"""A case as spans: its id, the spans as they end, the span of each step."""


class Setting(NamedTuple):
    """What is withheld from the engine or jittered, and whether it hears of starts."""

    mode: str = PLAIN
    starts: bool = False


@dataclass
class Measured:
    """What was found, by case: what is true, what the engine said in each setting, what each peer did."""

    truths: dict[str, Truth] = field(default_factory=dict)
    verdicts: dict[Setting, dict[str, Verdict]] = field(default_factory=dict)
    fired: dict[str, dict[str, Fired]] = field(default_factory=dict)

    def join(self, other: Measured) -> None:
        """Takes over what another job found."""
        assert not self.truths.keys() & other.truths.keys()
        self.truths |= other.truths
        for setting, verdicts in other.verdicts.items():
            self.verdicts.setdefault(setting, {}).update(verdicts)
        for peer, fired in other.fired.items():
            self.fired.setdefault(peer, {}).update(fired)

    def told(self, cases: Iterable[Case]) -> None:
        """Notes what is true of cases, and lets the peers judge them."""
        for case in cases:
            self.truths[case.truth.id] = case.truth
            run = turns(case.steps)
            for name, make in PEERS.items():
                self.fired.setdefault(name, {})[case.truth.id] = judge_all(make, run)

    def judged(self, mode: str, made: Iterable[Made]) -> None:
        """Has spans judged in both orders."""
        with tempfile.TemporaryDirectory(prefix="spanfuse-accuracy-") as folder:
            recording = Recording.write(Path(folder) / "spans.jsonl.gz", made)
            for starts in (False, True):
                self.verdicts[Setting(mode, starts)] = recording.judge(starts)


class Job(NamedTuple):
    """A part of the work: `what` names the function that does it, `of` what it does it to."""

    what: str
    of: tuple[str | int, ...] = ()


def jobs(shared: Shared, quick: bool) -> list[Job]:
    """All of the work, the longest first. Quick: of each collection a sample only."""
    found = [Job("runs", of) for path in recorded.files(shared) for of in _parts(path, quick)]
    kinds = [*LOOPS, *TWINS]
    found += [Job("synthetic", tuple(kinds[at : at + _KINDS])) for at in range(0, len(kinds), _KINDS)]
    return [
        *(Job("incidents", (mode,)) for mode in (PLAIN, NAMES, WITHHELD, *JITTERED)),
        *found,
        Job("spans"),
    ]


def measure(shared: Shared, work: Sequence[Job], say: Callable[[str], None]) -> Measured:
    """Does all jobs; `say` is told of each that is done."""
    whole = Measured()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(_WORKERS, mp_context=context) as pool:
        done = [(job, pool.submit(do, shared, job)) for job in work]
        for job, future in done:
            whole.join(future.result())
            say(f"{job.what} {', '.join(map(str, job.of))}".strip())
    return whole


def do(shared: Shared, job: Job) -> Measured:
    """One job."""
    return _WORK[job.what](shared, *job.of)


def _incidents(shared: Shared, mode: str) -> Measured:
    records, measured = incidents.load(shared), Measured()
    if mode == PLAIN:
        measured.told(incidents.case(shared, record) for record in records)
    content, seed = mode != NAMES, JITTERED.get(mode)
    made = ((record["id"], *incidents.spans(shared, record, content, seed)) for record in records)
    measured.judged(mode, _without(made) if mode == WITHHELD else made)
    return measured


def _runs(shared: Shared, file: str, first: int, count: int) -> Measured:
    path, measured = shared.data / "runs" / file, Measured()
    source, runs = recorded.source_of(path), recorded.load(path)
    sampled = recorded.sample(runs)
    part = runs[first : first + count] if count else [run for run in runs if run["id"] in sampled]
    measured.told(recorded.case(run, source, run["id"] in sampled) for run in part)
    measured.judged(PLAIN, _spans_of(shared, part, True))
    part = [run for run in part if run["id"] in sampled]
    measured.judged(NAMES, _spans_of(shared, part, False))
    measured.judged(WITHHELD, _without(_spans_of(shared, part, True)))
    return measured


def _without(made: Iterable[Made]) -> Iterator[Made]:
    """Cases without their content."""
    withholding = Withholding()
    return ((case, withholding.spans(spans), steps) for case, spans, steps in made)


def _spans_of(
    shared: Shared, runs: Sequence[recorded.Run], content: bool
) -> Iterator[tuple[str, list[Span], list[str]]]:
    for run in runs:
        yield run["id"], *recorded.spans(shared, run, content)


def _spans(shared: Shared) -> Measured:
    measured = Measured(emitted.truths(shared))
    for starts in (False, True):
        measured.verdicts[Setting(starts=starts)] = emitted.judge(shared, list(measured.truths), starts)
    return measured


def _synthetic(shared: Shared, *kinds: str) -> Measured:
    cases, measured = list(grafted(stocks(shared), kinds)), Measured()
    measured.told(cases)
    measured.judged(PLAIN, ((case.truth.id, *otlp.spans(case)) for case in cases))
    return measured


def stocks(shared: Shared) -> list[Case]:
    """The recorded successes that tails are grafted on."""
    found: list[Case] = []
    for source, count in STOCKS.items():
        runs = recorded.load(shared.data / "runs" / f"{source}{recorded.SUFFIX}")
        found += prefixes([recorded.case(run, source) for run in runs], count)
    return found


def _parts(path: Path, quick: bool) -> list[tuple[str | int, ...]]:
    """A file in parts: from where, and how many runs; 0 for the sample."""
    if quick:
        return [(path.name, 0, 0)]
    return [(path.name, at, _RUNS) for at in range(0, len(recorded.load(path)), _RUNS)]


_WORK: Final[dict[str, Callable[..., Measured]]] = {
    "incidents": _incidents,
    "runs": _runs,
    "spans": _spans,
    "synthetic": _synthetic,
}
