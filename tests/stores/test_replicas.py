"""Two services may share a file, for they read along what each other write."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stores.replicas import know_what_each_other_spend


def test_two_services_with_one_file_know_what_each_other_spend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"sqlite:{tmp_path / 'shared.db'}"

    know_what_each_other_spend(tmp_path, capsys, url, SPANFUSE_STORE_URL=url)
