"""What a person sees: the runs while they work, and the table at the end.

Rule 1: everything goes through one console; a terminal gets a table that lives, anything else plain lines.
Rule 2: the figures are those of `results.py`; nothing is worked out here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import TracebackType

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.live import Live
from rich.table import Table

from spanfuse.demo.results import DemoResult, RunResult, StormResult

_STYLES = {"stopped": "red", "finished": "green"}


@dataclass(slots=True)
class _Line:
    """What is known of one run so far."""

    state: str = "waiting"
    calls: int = 0


@dataclass(slots=True)
class Progress:
    """The runs while they work. A context: the living table is there inside it only.

    `quiet` shows problems and nothing else.
    """

    console: Console
    quiet: bool = False
    _lines: dict[str, _Line] = field(default_factory=dict)
    _live: Live | None = None

    def __enter__(self) -> Progress:
        if self.console.is_terminal and not self.quiet:
            self._live = Live(console=self.console, refresh_per_second=8, transient=True)
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    @property
    def living(self) -> bool:
        """True while a table of the terminal is redrawn."""
        return self._live is not None

    def note(self, text: str) -> None:
        """Says one thing about the demo as a whole."""
        if not self.quiet:
            self.console.print(text, highlight=False)

    def problem(self, text: str) -> None:
        """Says what went wrong, quiet or not."""
        self.console.print(text, highlight=False, markup=False, style="red")

    def update(self, name: str, state: str, calls: int = 0) -> None:
        """A run has got so far. Plain output only tells when its state changes."""
        line = self._lines.setdefault(name, _Line())
        changed = line.state != state
        line.state, line.calls = state, max(calls, line.calls)
        if self._live is not None:
            self._live.update(self._table())
        elif changed and not self.quiet and state.isalpha():  # one with a figure in it changes too often
            self.console.print(f"{name:<12} {state:<10} {line.calls} calls", highlight=False)

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False)
        for heading in ("run", "state", "calls"):
            table.add_column(heading, justify="right" if heading == "calls" else "left")
        for name, line in self._lines.items():
            style = _STYLES.get(line.state, "")
            table.add_row(name, f"[{style}]{line.state}[/]" if style else line.state, str(line.calls))
        return table


def result_table(result: DemoResult) -> Table:
    """The table at the end: outcome, calls, money, kill latency of every run and of the storm."""
    table = Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        title=f"spanfuse demo ({result.mode})",
        caption=_conclusion(result),
        caption_justify="left",
    )
    table.add_column("run", no_wrap=True)
    table.add_column("outcome")
    for heading in ("calls\nmade", "left\nalone", "spent", "saved", "kill\nlatency"):
        table.add_column(heading, justify="right", no_wrap=True)
    for run in result.runs:
        table.add_row(*_run_row(run))
    if result.storm is not None:
        table.add_section()
        table.add_row(*_storm_row(result.storm))
    return table


def _conclusion(result: DemoResult) -> str:
    """The sentence under the table."""
    verdict = "Every outcome is as expected" if result.ok else "[bold red]Not every outcome is as expected[/]"
    bills = [(each.cost_usd or 0.0, each.saved_usd or 0.0) for each in result.runs]
    if result.storm is not None:
        bills.append((result.storm.cost_usd, result.storm.saved_usd))
    spent, saved = map(sum, zip(*bills, strict=True))
    return f"{verdict}: ${saved:.2f} saved, ${spent:.2f} spent." if saved else f"{verdict}."


def _run_row(run: RunResult) -> tuple[str, ...]:
    return (
        run.scenario.name,
        _outcome(run.outcome, run.detector, run.ok),
        str(run.calls),
        "?" if run.calls_unguarded is None else str(run.calls_unguarded),
        _money(run.cost_usd),
        _money(run.saved_usd),
        _latency(run.kill_latency_ms),
    )


def _storm_row(storm: StormResult) -> tuple[str, ...]:
    return (
        f"storm x {storm.runs}",
        _outcome(f"{storm.stopped} stopped", None, storm.ok),
        str(storm.calls_made),
        str(storm.runs * storm.calls_each),
        _money(storm.cost_usd),
        _money(storm.saved_usd),
        f"p50 {_latency(storm.p50_ms)}\np99 {_latency(storm.p99_ms)}",
    )


def _outcome(outcome: str, detector: str | None, ok: bool) -> str:
    by = f" ({detector})" if detector else ""
    return f"{outcome}{by}" if ok else f"[bold red]{outcome}{by}: not as expected[/]"


def _money(usd: float | None) -> str:
    return "?" if usd is None else f"${usd:.4f}"


def _latency(milliseconds: float | None) -> str:
    return "-" if milliseconds is None else f"{milliseconds:.2f} ms"
