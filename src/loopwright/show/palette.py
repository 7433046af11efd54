"""Colours, for a light page and for a dark one.

Inside an SVG every colour is a CSS variable, so that one picture serves both: it is drawn in
stand-in colours, which are then replaced by `var(--lw-name)`.
"""

from __future__ import annotations

from dataclasses import fields

from loopwright.lazy_dataclass import dataclass

KINDS = 4
"""Statements beyond this many in one picture share the colours of the first."""

TILES = 5


@dataclass(frozen=True)
class Palette:
    paper: str
    ink: str
    muted: str
    path: str
    fill0: str
    fill1: str
    fill2: str
    fill3: str
    edge0: str
    edge1: str
    edge2: str
    edge3: str
    tile0: str
    tile1: str
    tile2: str
    tile3: str
    tile4: str
    kept: str
    broken: str

    def fill(self, kind: int) -> str:
        return str(getattr(self, f"fill{kind % KINDS}"))

    def edge(self, kind: int) -> str:
        return str(getattr(self, f"edge{kind % KINDS}"))

    def tile(self, number: int) -> str:
        return str(getattr(self, f"tile{number % TILES}"))


LIGHT = Palette(
    paper="#ffffff", ink="#1f2328", muted="#656d76", path="#7d8590",
    fill0="#d6e6ff", fill1="#ffe6bf", fill2="#d5f2da", fill3="#eadcff",
    edge0="#2f6fd0", edge1="#b3700a", edge2="#23863a", edge3="#7b4fc9",
    tile0="#9a6700", tile1="#8250df", tile2="#1a7f37", tile3="#bf3989", tile4="#0969da",
    kept="#0b7a75", broken="#d1242f",
)  # fmt: skip

DARK = Palette(
    paper="#14181d", ink="#e6edf3", muted="#9aa4af", path="#8b949e",
    fill0="#1f3d6b", fill1="#5c420f", fill2="#1d4c2a", fill3="#46326f",
    edge0="#79aefc", edge1="#e5ad4b", edge2="#6fd083", edge3="#bb9bf5",
    tile0="#d9a536", tile1="#b392f0", tile2="#56c26f", tile3="#f084c0", tile4="#58a6ff",
    kept="#3fd0c4", broken="#ff6b6b",
)  # fmt: skip

STANDING_IN = Palette(*(f"#0a{number:02x}0b" for number in range(1, len(fields(Palette)) + 1)))
"""Colours no picture has."""


def with_variables(svg: str) -> str:
    """The picture drawn in `STANDING_IN` with variables for its colours."""
    for field in fields(Palette):
        svg = svg.replace(getattr(STANDING_IN, field.name), f"var(--lw-{field.name})")
    return svg


def rules(palette: Palette) -> str:
    """The variables with their colours, in CSS."""
    return " ".join(f"--lw-{field.name}: {getattr(palette, field.name)};" for field in fields(Palette))


STYLE = (
    f":root {{ color-scheme: light dark; {rules(LIGHT)} }}\n"
    f"@media (prefers-color-scheme: dark) {{ :root {{ {rules(DARK)} }} }}\n"
)
"""CSS that gives the variables their values, as the reader prefers."""
