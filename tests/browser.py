"""A page looked at in a real browser: chromium without a window."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

_OPTIONS = (
    "headless no-sandbox disable-gpu disable-quic no-first-run disable-background-networking disable-component-update "
    "disable-sync allow-file-access-from-files enable-logging=stderr virtual-time-budget=10000 dump-dom"
)
_FRAME = """<!DOCTYPE html><html><body><iframe id="f" src="{name}" style="width:{width}px;height:844px;border:0"></iframe><script>
const frame = document.getElementById("f");
frame.onload = () => {{
  const page = frame.contentDocument, root = page.documentElement;
  document.title = JSON.stringify(({question})(page, root));
}};
</script></body></html>"""


def ask_browser(page: Path, width: int, question: str, *, dark: bool = False) -> Any:
    """What a function of a page's document and root element says in a frame of that width; nothing may be on the console."""
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("chromium is not installed; on Debian: apt-get install chromium")
    frame = page.with_name(f"frame-{width}-{'dark' if dark else 'light'}.html")
    frame.write_text(_FRAME.format(name=page.name, width=width, question=question), encoding="utf-8")
    options = [f"--{option}" for option in _OPTIONS.split()] + (["--force-dark-mode"] if dark else [])
    profile = f"--user-data-dir={page.with_name('profile')}"
    done = subprocess.run(
        [browser, *options, profile, frame.as_uri()], capture_output=True, text=True, timeout=600, check=False
    )
    assert "CONSOLE" not in done.stderr, done.stderr
    title = re.search(r"<title>(.*?)</title>", done.stdout)
    assert title is not None, done.stdout[-500:] + done.stderr[-2000:]
    return json.loads(title.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
