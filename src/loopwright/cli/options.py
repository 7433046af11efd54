"""Numbers on the command line, checked."""

from __future__ import annotations

import argparse


def seconds(text: str) -> float:
    """A time limit."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.001 <= number < 1e12:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds from 0.001 on")
    return number
