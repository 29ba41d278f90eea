"""What a person sees: lines while the runs work, and the table at the end."""

from __future__ import annotations

import io

from rich.console import Console

from spanfuse.demo.progress import Progress, result_table
from spanfuse.demo.results import DemoResult, RunResult, StormResult
from spanfuse.demo.scenarios import HEALTHY, LOOPING

STOPPED = RunResult(LOOPING, "stopped", "repeat", 6, 200, 0.0123, 1.6167, 2.345)
STORM = StormResult(100, 30, 500, 100, 0.2, 3.5, 2.111, 12.2)


def rendered(result: DemoResult) -> str:
    out = io.StringIO()
    Console(file=out, width=100).print(result_table(result))
    return out.getvalue()


def line(text: str, start: str) -> list[str]:
    return next(each for each in text.splitlines() if each.strip().startswith(start)).split()


def test_the_table_has_every_figure_of_a_run() -> None:
    text = rendered(DemoResult("processor", [STOPPED], None))
    assert line(text, "looping") == [
        "looping", "stopped", "(repeat)", "6", "200", "$0.0123", "$1.6167", "2.35", "ms",
    ]  # fmt: skip


def test_the_table_has_the_storm_below_the_runs() -> None:
    text = rendered(DemoResult("processor", [STOPPED], STORM))
    assert line(text, "storm x 100")[3:7] == ["100", "stopped", "500", "3000"]
    assert "p50 2.11 ms" in text
    assert "p99 12.20 ms" in text


def test_what_is_not_as_expected_says_so() -> None:
    wrong = RunResult(HEALTHY, "stopped", "repeat", 12, 30, 0.05, 0.0, 1.0)
    assert "not as expected" in rendered(DemoResult("embedded", [wrong], None))
    assert "not as expected" not in rendered(DemoResult("embedded", [STOPPED], None))


def test_the_sentence_below_sums_the_money_up() -> None:
    text = " ".join(rendered(DemoResult("processor", [STOPPED], STORM)).split())
    assert text.endswith("Every outcome is as expected: $5.12 saved, $0.21 spent.")


def test_unknown_figures_are_question_marks() -> None:
    real = RunResult(LOOPING, "stopped", "repeat", 6, None, None, None, None)
    assert line(rendered(DemoResult("processor", [real], None)), "looping")[3:] == ["6", "?", "?", "?", "-"]


def test_plain_output_tells_changes_of_state_only() -> None:
    out = io.StringIO()
    with Progress(Console(file=out, width=100)) as progress:
        progress.update("looping", "running")
        progress.update("looping", "running", 3)
        progress.update("looping", "stopped", 6)
        progress.update("storm", "12 stopped", 60)
    assert [each.split() for each in out.getvalue().splitlines()] == [
        ["looping", "running", "0", "calls"],
        ["looping", "stopped", "6", "calls"],
    ]


def test_quiet_progress_tells_of_problems_only() -> None:
    out = io.StringIO()
    with Progress(Console(file=out, width=100), quiet=True) as progress:
        progress.note("mode: processor")
        progress.update("looping", "running")
        progress.problem("looping was lost")
    assert out.getvalue() == "looping was lost\n"


def test_a_terminal_shows_a_table_that_lives_and_leaves_nothing_behind() -> None:
    out = io.StringIO()
    console = Console(file=out, width=100, force_terminal=True)
    with Progress(console) as progress:
        progress.update("looping", "running", 3)
        assert progress.living
    assert not progress.living
