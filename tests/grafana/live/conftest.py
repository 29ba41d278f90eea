"""One rig for all: real servers, under load for as long as GRAFANA_PROOF_SECONDS says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.grafana.live import rig as rigs
from tests.grafana.live.rig import Rig
from tests.grafana.live.shown import Shown, shown
from tests.grafana.made import MADE
from tests.house.sources import ROOT

SECONDS = float(os.environ.get("GRAFANA_PROOF_SECONDS", "170"))


@pytest.fixture(scope="session")
def rig() -> Iterator[Rig]:
    with rigs.running(SECONDS) as running:
        yield running


@pytest.fixture(scope="session")
def boards(rig: Rig) -> dict[str, Shown]:
    """Every dashboard, as it is shown at the end of the load: all of them of one moment."""
    return {uid: shown(document, rig) for uid, document in MADE.items()}


@pytest.fixture(scope="session")
def pictures() -> Path:
    """Where the pictures go."""
    folder = Path(os.environ.get("GRAFANA_PICTURES", ROOT / "grafana" / "render" / "out" / "pictures"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(params=sorted(MADE))
def board(request: pytest.FixtureRequest, boards: dict[str, Shown]) -> Any:
    """Each dashboard."""
    return boards[request.param]
