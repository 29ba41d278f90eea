"""A service keeps its bill and its budgets in a file, through a kill."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stores.service import survives_a_kill


def test_a_file_survives_a_kill_of_the_service(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    survives_a_kill(tmp_path, capsys, SPANFUSE_STORE_PATH=str(tmp_path / "spend.db"))
