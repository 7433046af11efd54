"""What is wrong with the text of a schedule tree, and where."""

from __future__ import annotations

import islpy as isl

from loopwright.errors import BadInput
from loopwright.read.isl_text import complaint_about, plain
from loopwright.read.source import Source


def check_tree_text(source: Source) -> None:
    """Refuse what isl would pass over in silence."""


def explain(source: Source, error: isl.Error) -> BadInput:
    complaint = complaint_about(isl.Schedule.read_from_str, source.text)
    if complaint is None:
        return source.error(0, plain(error))
    return source.error(complaint.offset, complaint.message, length=complaint.length)
