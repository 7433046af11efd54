"""The committed bundles are built from the sources in web/, and need nothing else."""

from __future__ import annotations

import hashlib
import re

from tests.conftest import ROOT

BUILT = ("serve/static/playground.js", "show/static/moving.js", "show/static/widget.js")


def test_bundles_are_of_these_sources() -> None:
    web = ROOT / "web"
    digest = hashlib.sha256()
    for path in (web / "package-lock.json", *sorted((web / "src").iterdir())):
        digest.update(path.read_bytes() + b"\0")
    for name in BUILT:
        head = (ROOT / "src" / "loopwright" / name).read_text().split("\n", 1)[0]
        assert head == f"// sources {digest.hexdigest()}", "run 'make web'"


def test_bundles_load_nothing() -> None:
    for name in BUILT:
        text = (ROOT / "src" / "loopwright" / name).read_text()
        assert re.search(r"\bimport\s*\(|\bfrom\s*[\"']|\beval\(", text) is None
