"""From a schedule to loops: one file per idea of the papers."""

from loopwright.generate.options import Options
from loopwright.generate.program import generate

__all__ = ["Options", "generate"]
