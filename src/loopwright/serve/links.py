"""Links to the playground: the texts are in the fragment of the address, as web/src/state.ts reads it."""

from __future__ import annotations

import base64
import json
import zlib

PORT = 8642
"""Where `loopwright serve` listens unless told otherwise."""


def playground_link(c: str = "", script: str = "", *, text: str = "", form: str = "") -> str:
    """The address of a page that opens with C and a script, or with a description in one of the forms."""
    state = {"mode": "loops", "text": text, "form": form} if form else {"mode": "c", "c": c, "script": script}
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(json.dumps(state, separators=(",", ":")).encode()) + packer.flush()
    return f"http://127.0.0.1:{PORT}/#1{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"
