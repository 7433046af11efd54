"""A hook of mkdocs: beside each example of the documentation, a link that opens it in the playground."""

from __future__ import annotations

import base64
import json
import re
import shlex
import sys
import zlib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "src"))

from loopwright.cli.serve import PORT  # noqa: E402
from loopwright.serve.app import FORMS  # noqa: E402

EXAMPLE = re.compile(r"```c\n(?P<before>.*?)```\n.*?```lw\n(?P<script>.*?)```\n.*?```c\n.*?```\n", re.DOTALL)
"""An example of an operation: loops, a script, the loops after it."""

CONSOLE = re.compile(r"^```console\n(?P<shown>.*?)^```\n", re.MULTILINE | re.DOTALL)

FUNCTION = """void example(int n, int m, double *a, double *b, double A[n][n], double B[n][n], double C[n][n])
{{
  int i, j, k;
#pragma scop
{body}#pragma endscop
}}
"""


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with its links."""
    markdown = EXAMPLE.sub(_operation, markdown)
    return CONSOLE.sub(_command, markdown)


def _operation(found: re.Match[str]) -> str:
    body = "".join(f"  {line}\n" for line in found["before"].splitlines())
    return found.group() + _link(playground_link(FUNCTION.format(body=body), found["script"]))


def _command(found: re.Match[str]) -> str:
    """The files of the first command that has some: C with a script, or a description."""
    for line in found["shown"].splitlines():
        words = shlex.split(line[2:]) if line.startswith("$ loopwright ") else []
        files = [ROOT / word for word in words if not word.startswith("-") and (ROOT / word).is_file()]
        by_kind = {file.suffix: file for file in files}
        if ".c" in by_kind and words[1] in ("transform", "show", "suggest"):
            script = by_kind[".lw"].read_text() if ".lw" in by_kind else ""
            return found.group() + _link(playground_link(by_kind[".c"].read_text(), script))
        for suffix, form in FORMS.items():
            if suffix in by_kind and words[1] == "codegen":
                text = by_kind[suffix].read_text()
                return found.group() + _link(playground_link(text=text, form=form))
    return found.group()


def playground_link(c: str = "", script: str = "", *, text: str = "", form: str = "") -> str:
    """The address of a page that opens with C and a script, or with a description in one of the forms.

    The texts are in the fragment of the address, as web/src/state.ts reads it.
    """
    state = {"mode": "loops", "text": text, "form": form} if form else {"mode": "c", "c": c, "script": script}
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(json.dumps(state, separators=(",", ":")).encode()) + packer.flush()
    return f"http://127.0.0.1:{PORT}/#1{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def _link(address: str) -> str:
    return f'\n[Open it in the playground]({address} "while loopwright serve runs on this machine")\n'
