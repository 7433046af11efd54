"""A running server, and a browser that looks at it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.conftest import ROOT


@pytest.fixture(scope="package")
def address() -> Iterator[str]:
    """Of `loopwright serve`, started as people start it."""
    command = [sys.executable, "-m", "loopwright", "serve", "--port", "0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    environment.pop("LOOPWRIGHT_CHECKER", None)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stderr is not None
        found = re.match(r"http://127\.0\.0\.1:\d+/", server.stderr.readline())
        assert found is not None
        try:
            yield found.group()
        finally:
            server.terminate()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield found
        found.close()
