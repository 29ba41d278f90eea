"""Every golden time line, played to an engine: it says what the file says, no more and no less."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from tests.scenarios.playing import play, said
from tests.scenarios.timeline import RULE, load

from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.engine.policy import REACTIONS, Bounds

FILES = sorted(Path(__file__).parent.glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_engine_says_what_the_time_line_says(path: Path, request: pytest.FixtureRequest) -> None:
    timeline = load(path)

    lines = play(timeline)

    if request.config.getoption("--rewrite", default=False):
        path.write_text(f"{timeline.story}{RULE}\n{lines}")
    else:
        assert lines == timeline.expected


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_finding_says_by_which_rule_since_when_and_what_would_have_cleared_it(path: Path) -> None:
    findings = [verdict.finding for _, verdict in said(load(path)) if verdict.finding is not None]

    for finding in findings:
        assert finding.rule in rules(finding.detector), finding
        assert finding.span_id, finding
        assert finding.first_span_id, finding
        assert finding.cleared_by, finding


def rules(detector: str) -> set[str]:
    """The names that rules of a detector go by: those of its thresholds, and of the engine's own."""
    if detector not in DETECTORS:
        return {each.name for each in dataclasses.fields(Bounds)}
    return {each.name for each in dataclasses.fields(DETECTORS[detector][1])} - REACTIONS | {"suspicion"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_time_line_opens_with_what_it_shows(path: Path) -> None:
    assert path.read_text().startswith("# ")
