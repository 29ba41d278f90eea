"""Cases judged by the engine, through a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.accuracy import otlp
from tests.accuracy.judged import Recording, Verdict, worse
from tests.accuracy.making import prefix
from tests.accuracy.synthetic.grafting import grafted


@pytest.mark.parametrize("starts", [False, True])
def test_a_loop_is_stopped_at_one_of_its_steps_and_its_twin_is_not(tmp_path: Path, starts: bool) -> None:
    cases = list(grafted([prefix()], ["identical", "paging"]))
    made = ((case.truth.id, *otlp.spans(case)) for case in cases)

    found = Recording.write(tmp_path / "spans.jsonl.gz", made).judge(starts)

    loop, twin = (found[case.truth.id] for case in cases)
    assert loop.stopped is not None and 1 < cases[0].truth.delay(loop.stopped) < 15
    assert twin.stopped is None


def test_of_two_verdicts_on_a_case_the_earlier_stop_and_the_earlier_warning_stand() -> None:
    one = Verdict(9, 4, "cycle", ("cycle",), 1.0, 0.25)
    other = Verdict(7, 5, "repeat", ("repeat",), 2.0, 0.5)

    assert worse(one, other) == Verdict(7, 4, "repeat", ("cycle", "repeat"), 3.0, 0.5)
    assert worse(one, Verdict()) == one
