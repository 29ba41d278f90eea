"""Every golden time line, played to an engine: it says what the file says, no more and no less."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.scenarios.playing import play
from tests.scenarios.timeline import RULE, load

FILES = sorted(Path(__file__).parent.glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_engine_says_what_the_time_line_says(path: Path, request: pytest.FixtureRequest) -> None:
    timeline = load(path)

    said = play(timeline)

    if request.config.getoption("--rewrite", default=False):
        path.write_text(f"{timeline.story}{RULE}\n{said}")
    else:
        assert said == timeline.expected


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_time_line_opens_with_what_it_shows(path: Path) -> None:
    assert path.read_text().startswith("# ")
