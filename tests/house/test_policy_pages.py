"""What the pages about policy show is true: the policies are good, the answers are those that come."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.house.sources import ROOT

from spanfuse_processor.__main__ import main
from spanfuse_processor.engine.policy_file import policy_from_mapping

PAGES = [(ROOT / "docs" / name).read_text() for name in ("policy.md", "budgets.md")]
SHOWN = re.compile(r"```yaml\n(policy:.*?)```", re.DOTALL)
OTHERS = [(ROOT / name).read_text() for name in ("docs/prices.md", "README.md")]
POLICIES = SHOWN.findall("".join([*PAGES, *OTHERS]))


def test_the_page_of_limits_is_made_from_the_code() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/limits_page.py", "--check"], cwd=ROOT, timeout=60, check=False
    )

    assert done.returncode == 0, "stale: run scripts/limits_page.py"


@pytest.mark.parametrize("text", POLICIES)
def test_a_policy_that_is_shown_can_be_obeyed(text: str) -> None:
    policy = policy_from_mapping(yaml.safe_load(text)["policy"])

    assert policy != policy_from_mapping({})


@pytest.mark.parametrize("page", PAGES, ids=("policy", "budgets"))
def test_what_a_policy_is_said_to_mean_is_what_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], page: str
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = re.search(r"\$ spanfuse (check (\S+) .*?)\n(.*?)```", page, re.DOTALL)
    assert shown is not None
    Path(shown[2]).write_text(SHOWN.findall(page)[0])

    assert main(shown[1].split()) == 0
    assert capsys.readouterr().out == shown[3]
