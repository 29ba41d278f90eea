"""Two services with one ledger in a real database read along what each other write."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.stores.replicas import know_what_each_other_spend


def test_two_services_with_one_ledger_know_what_each_other_spend(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    bill = f"sqlite:{tmp_path / 'bill.db'}"

    know_what_each_other_spend(tmp_path, capsys, url, SPANFUSE_STORE_URL=bill, SPANFUSE_STORE_LEDGER_URL=url)
