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

PAGE = (ROOT / "docs" / "policy.md").read_text()
POLICIES = re.findall(r"```yaml\n(policy:.*?)```", PAGE + (ROOT / "README.md").read_text(), re.DOTALL)


def test_the_page_of_limits_is_made_from_the_code() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/limits_page.py", "--check"], cwd=ROOT, timeout=60, check=False
    )

    assert done.returncode == 0, "stale: run scripts/limits_page.py"


@pytest.mark.parametrize("text", POLICIES)
def test_a_policy_that_is_shown_can_be_obeyed(text: str) -> None:
    policy = policy_from_mapping(yaml.safe_load(text)["policy"])

    assert policy != policy_from_mapping({})


def test_what_a_policy_is_said_to_mean_is_what_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("policy.yaml").write_text(POLICIES[0])
    shown = re.search(r"\$ spanfuse (check .*?)\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None

    assert main(shown[1].split()) == 0
    assert capsys.readouterr().out == shown[2]
