"""`docs/accuracy.md`, written from what was measured.

Rule 1: the same figures give the same page, byte for byte: no times, nothing of the machine. Rule 2: what is
wrong is on the page with what is right. It does not measure.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.accuracy.argued import ARGUED
from tests.accuracy.markdown import table
from tests.accuracy.measuring import Measured
from tests.accuracy.promises import of, promises, stopped_honest
from tests.accuracy.steps import Truth
from tests.accuracy.synthetic import LOOPS, TWINS, UNDECIDABLE
from tests.accuracy.tables import beside, grafts, incidents, runs


def written(measured: Measured) -> str:
    """The page."""
    return "\n\n".join(section.strip() for section in _sections(measured)) + "\n"


def _sections(measured: Measured) -> Iterator[str]:
    yield "# How accurate the judging is"
    yield INTRODUCTION
    yield _measured(measured)
    yield "## Beside other guards\n\n" + BESIDE.strip()
    yield beside.peers(measured)
    yield STUDY
    yield beside.of_study(measured)
    yield "## Incidents\n\n" + INCIDENTS.strip()
    yield incidents.by_category(measured)
    yield "Pairs of nearly the same shape:"
    yield incidents.pairs(measured)
    yield WITHHOLDING
    yield incidents.settings(measured)
    yield "## Recorded runs\n\n" + RUNS.strip()
    yield runs.by_source(measured)
    yield "## Emitted spans\n\n" + SPANS.strip()
    yield runs.spans(measured)
    yield "## By detector\n\nEnds only; a case that two detectors warn of counts at both."
    yield runs.detectors(measured)
    yield "## Grafts\n\n" + GRAFTS.strip()
    yield grafts.by_kind(measured, loops=True)
    yield "Kinds that are undecidable (*), of which no more than a warning is wanted:\n\n" + "\n".join(
        f"- {kind}: {why}." for kind, why in UNDECIDABLE.items()
    )
    yield "Honest twins, where every number is a false kill:"
    yield grafts.by_kind(measured, loops=False)
    yield "What each kind is:\n\n" + "\n".join(
        f"- {kind}: {_first_line(make.__doc__)}" for kind, make in {**LOOPS, **TWINS}.items()
    )
    yield "## Honest runs that are stopped\n\n" + _killed(measured)
    yield "## Loops that are not stopped\n\n" + (
        "\n".join(f"- {each}" for each in runs.missed(measured)) or "None."
    )
    yield UNSEEN
    yield "## What is promised\n\n" + _promised(measured)
    yield PEERS


def _measured(measured: Measured) -> str:
    rows = []
    for name in ("incidents", "runs", "spans", "synthetic"):
        truths = of(measured, name)
        rows.append([name, len(truths), sum(truth.steps for truth in truths), _known(truths)])
    return table(("set", "cases", "steps", "what is known"), rows)


def _known(truths: list[Truth]) -> str:
    ends = [truth.end.value for truth in truths]
    counts = {end: ends.count(end) for end in ("loop", "honest", "undecidable") if end in ends}
    said = [f"{count} {end}" for end, count in counts.items()]
    successes = sum(truth.success is True for truth in truths)
    grey = sum(truth.grey for truth in truths)
    return ", ".join(
        said + [f"{successes} successes"] * bool(successes) + [f"{grey} of these grey"] * bool(grey)
    )


def _killed(measured: Measured) -> str:
    stopped = stopped_honest(measured)
    if not stopped:
        return "None."
    return "\n".join(
        f"- `{case}` ({measured.truths[case].source}, by {detector}): {ARGUED.get(case, 'not argued.')}"
        for case, detector in stopped.items()
    )


def _promised(measured: Measured) -> str:
    found = promises(measured)
    many = [each for each in found if each.many]
    rows = [
        (each.what, each.found, "kept" if each.kept else "**missed**")
        for each in found
        if not (each.many and each.kept)
    ]
    kept = sum(each.kept for each in many)
    text = f"{PROMISED.strip()} {kept} of {len(many)} such promises are kept."
    return f"{text}\n\n{table(('promise', 'found', ''), rows)}"


def _first_line(text: str | None) -> str:
    return (text or "").strip().splitlines()[0]


INTRODUCTION = """
Written by `make accuracy ARGS=--write` from one run over the data beside the project; do not edit it
here. `make accuracy` measures again, and fails when a figure on this page has changed or a promise below
is missed.

Everything goes through the code of `spanfuse replay` with the default policy, in both orders of delivery:
*ends only*, spans as they end, as a service receives foreign ones; *with starts*, starts and ends in true
time order, as a host inside the program sees them. A loop is caught when the run is stopped before its
end. Honest work that is stopped is a false kill: a run that people labelled ok, that is known to have
reached its aim, or that was made to be honest. A warning stops nothing and is counted apart.
"""

BESIDE = """
The rules of other guards, run on the same steps in the same command, ends only. They are written anew
from what their authors published (`tests/accuracy/peers/`), with their defaults; what a rule needs and no
recording has is left out. *Stopped* is where their code ends the run or refuses the call, whether or not
they ship it switched on. *Near*: within three steps of where a stop is due, or within half of the way
there. *Recall* and *precision* are over labelled loops, labelled ok and successes of recorded runs;
*calls after onset* is the median over the labelled loops that were stopped, the stopping call included;
*steps saved* are those after the stop, of all steps of labelled loops. *Grafts* and *twins* are those
below; *stopped before*: in the honest prefix of a graft.
"""

STUDY = """
A study has measured these rules before, over more runs than are here. Where both have a collection
(sola's runs, labelled pair by pair by people), the figures should agree:
"""

INCIDENTS = """
Shapes of public bug reports, each with what a breaker should have done. Numbers of repeats, arguments and
results are partly stand-ins (see the notes in the data). Grey ones, of which a kill is arguable, are
counted nowhere. Ends only, but for the last column.
"""

WITHHOLDING = """
The same with less to see. *Fingerprints only*: content replaced by what our library puts on its spans.
*Names only*: neither content nor fingerprints; no rule that compares may stop then. *Jittered*: output
tokens vary by a fifth.
"""

RUNS = """
Runs of public agents on public tasks, whole collections. Their labels are noisy, and said by others: a
loop by three repeated actions in a row (sola), or by reading. No collection recorded times, so every step
lies three seconds after the one before, and waiting cannot be seen.
"""

SPANS = """
What real instrumentations emitted for small scripted runs; a file holds a loop when one call was asked
for five times or more. Most emit no content by default, or in words that are not read yet, and none of
our fingerprints: a loop that is not stopped is then not seen, and an honest run that is stopped would be
a fault of reading.
"""

GRAFTS = """
Synthetic tails, grafted on recorded runs that had succeeded; the same prefixes for every kind. A cell is
the median of calls made from the onset, the first call that brings nothing new, until the stop, that call
included (messages, where a tail has no tools), with the share of grafts that were stopped when it is not
all of them; `w`: warned, not stopped; –: nothing. 0: stopped in the tail, before its onset. In every tail
the model rewords what it says between the calls. Each process has a guard of its own.
"""

UNSEEN = """
## What it cannot see

- Work that is always another and leads nowhere: nothing in it comes back. Budgets end it.
- Whether waiting is worth it, where nothing but time passes: waiting is bound by time and money instead.
- What a result means. Two pages that differ in one word are two pages; an answer that is wrong is an
  answer.
- Anything at all of arguments and results that are not on the span: with names only, loops are not
  stopped.
- What happens inside one call before it ends, where no start is reported and nothing streams.
- In the order *ends only*, foreign agents before they end: nesting is then known late.
"""

PROMISED = """
Every kind of tail is stopped within 15 calls of its onset, or warned of where it is undecidable; no twin
is stopped; on incidents, runs and grafts no other guard catches as many loops with as few false kills.
Those that are kept are not in the table.
"""

PEERS = """
## How to read it

- Compare rows of one table; tables have different cases. The grafts are made by us: they show which rule
  is evaded by what, not how often that happens.
- Thresholds were set with the incidents and the labelled runs in view. Expect less on data that nobody
  has seen.
- A share of a handful is a handful: counts stand beside every share. With no stop in n successes the true
  rate may still be as high as 3/n.
- Prevalence decides what a false kill costs: where one run in a hundred loops, half a per cent of false
  kills is a third of all stops.
"""
