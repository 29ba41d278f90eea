"""Chromium without a window, that opens a page and tells what it made of it."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

_OPTIONS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
)
_MEASURE: Final = """
<script>addEventListener('load', () => {
  const seen = each => each.getBoundingClientRect();
  const texts = [...document.querySelectorAll('svg text')];
  const outside = texts.filter(text => {
    const box = seen(text), around = seen(text.ownerSVGElement);
    return box.left < around.left - 1 || box.right > around.right + 1 || box.bottom > around.bottom + 1;
  });
  const crossed = texts.filter((text, place) => texts.slice(0, place).some(other => {
    const one = seen(text), two = seen(other);
    const beside = one.right <= two.left || two.right <= one.left;
    return !beside && one.top + 3 < two.bottom && two.top + 3 < one.bottom;
  }));
  const report = {
    wide: document.documentElement.scrollWidth - innerWidth,
    outside: outside.map(each => each.textContent), crossed: crossed.map(each => each.textContent),
    bars: document.querySelectorAll('svg rect').length,
    stops: [...document.querySelectorAll('line.stop')].filter(each => seen(each).height > 20).length,
    curve: seen(document.querySelector('path.spent')).height,
    band: [...document.querySelectorAll('path.band')].map(each => seen(each).width),
    back: getComputedStyle(document.body).backgroundColor,
  };
  const said = document.createElement('pre');
  said.id = 'said'; said.textContent = JSON.stringify(report); document.body.append(said);
});</script>
"""


def opened(page: str, dark: bool = False, width: int = 1280) -> dict[str, Any]:
    """What Chromium measures on the page, once something is there to measure with."""
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    out = _run(
        policy.sub("", page).replace("</body>", f"{_MEASURE}</body>"), width, dark, "--dump-dom"
    ).stdout
    found = re.search(r'<pre id="said">(.*?)</pre>', out, re.DOTALL)
    assert found is not None, "the page was not shown to its end"
    report: dict[str, Any] = json.loads(html.unescape(found[1]))
    return report


def complaints(page: str) -> list[str]:
    """What Chromium says on its console of the page as it is."""
    lines = _run(page, 1280, False, "--dump-dom").stderr.splitlines()
    return [line for line in lines if "CONSOLE" in line]


def _run(page: str, width: int, dark: bool, what: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    assert program is not None, "chromium is not installed: apt-get install chromium"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(page, encoding="utf-8")
        size = (f"--window-size={width},1000", f"--user-data-dir={folder}/profile")
        theme = ("--blink-settings=preferredColorScheme=0",) if dark else ()
        command = [program, *_OPTIONS, *size, *theme, what, file.as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)
