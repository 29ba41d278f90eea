"""Chromium without a window: a picture of a page, and what the page reports of itself."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from grafana.drawing.page import WIDTH, Page, Report, written

_OPTIONS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--allow-file-access-from-files",
    "--force-color-profile=srgb",
    "--virtual-time-budget=8000",
)
_REPORT: Final = re.compile(r'<script type="application/json" id="report">(.*?)</script>', re.DOTALL)


def picture(page: Page, to: Path) -> Report:
    """Draws a page into `to`, a PNG file.

    Raises:
        RuntimeError: the page was not drawn to its end.
        FileNotFoundError: there is no Chromium, or `grafana/render` is not built.
    """
    with tempfile.TemporaryDirectory() as folder:
        made = written(page, Path(folder))
        _chromium(page, made, f"--screenshot={to.resolve()}")
        found = _REPORT.search(_chromium(page, made, "--dump-dom"))
    if found is None:
        raise RuntimeError(f"{page.name} was not drawn to its end")
    return Report(**json.loads(html.unescape(found[1])))


def _chromium(page: Page, made: Path, what: str) -> str:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise FileNotFoundError("chromium is not installed: apt-get install chromium")
    with tempfile.TemporaryDirectory() as profile:
        size = f"--window-size={WIDTH},{page.height}"
        command = [program, *_OPTIONS, f"--user-data-dir={profile}", size, what, made.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
    return done.stdout
