"""Draws a picture: the order as written, the order after the script, and the dependences."""

from __future__ import annotations

import io
import math
import re
from typing import TYPE_CHECKING, Any

from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.show.layout import PictureLayout, layout, outline, path
from loopwright.show.outlines import TileOrder
from loopwright.show.palette import DARK, LIGHT, STANDING_IN, STYLE, Palette, with_variables
from loopwright.show.scene import Dot, Scene
from loopwright.show.small import Instance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

UNIT = 0.5
"""Inches from one iteration to the next."""

MARGIN = (1.25, 0.75, 1.15, 1.55)
"""Around the dots of a panel, in iterations: left, right, below, above."""

FONT: dict[Any, Any] = {
    "font.family": ["DejaVu Sans", "sans-serif"],
    "svg.fonttype": "none",
    "svg.hashsalt": "loopwright",
}

FINER = re.compile(r"(\d\.\d\d)\d+")
"""Digits of a coordinate that are too fine to see."""

CLIPPED = re.compile(r' clip-path="url\(#\w+\)"|(?<=\n) +')
"""What a drawing does not need: clipping, since nothing reaches out of its panel, and indentation."""

MANY = 120
"""With more arrows than this, those of one instance of each statement are drawn stronger."""

MISSING = "pictures need matplotlib and networkx"
HOW = "pip install 'loopwright[show]'"


@dataclass(frozen=True)
class Panel:
    """One view of the scene; `order` is "before", "after" or "", where dependences are drawn.

    Where it is "counted" the dots have their new iterators in place of their number.
    """

    title: str
    order: str


def svg(scene: Scene) -> str:
    """A picture for the inside of a page that has the colours of `palette.STYLE`."""
    text = _saved(scene, STANDING_IN, format="svg", metadata={"Date": None}).decode()
    return with_variables(CLIPPED.sub("", FINER.sub(r"\1", text[text.index("<svg") :])))


def standalone_svg(text: str) -> str:
    """A picture, as `svg` gives it, as a file of its own, light or dark as the reader prefers."""
    end = text.index(">") + 1
    head = '<?xml version="1.0" encoding="utf-8"?>\n'
    return f"{head}{text[:end]}<style>{STYLE}svg {{ background: var(--lw-paper) }}</style>{text[end:]}"


def png(scene: Scene, *, dark: bool = False) -> bytes:
    palette = DARK if dark else LIGHT
    return _saved(scene, palette, format="png", dpi=160, facecolor=palette.paper)


TITLES = {
    TileOrder.BESIDE: "After the script: in parallel",
    TileOrder.AT_ONCE: "After the script: several at once",
}
SAME = ("Order after the script", "The same order, after the script")


def panels(scene: Scene) -> tuple[Panel, ...]:
    first = Panel("Order as written", "before")
    last = Panel("Dependences", "")
    if scene.recounted and not scene.tiles:
        return (first, Panel("The same order, renumbered", "counted"))
    if not scene.changed and not scene.tiles:
        return (first, last) if scene.arrows else (first,)
    after = Panel(TITLES.get(scene.outlines.order) or SAME[not scene.changed], "after")
    return (first, after, last) if scene.arrows else (first, after)


def _saved(scene: Scene, palette: Palette, **options: Any) -> bytes:
    """The picture as a file; the same for the same scene."""
    try:
        import matplotlib
    except ImportError:
        raise BadInput(Code.MISSING_PART, MISSING, hint=HOW) from None
    buffer = io.BytesIO()
    with matplotlib.rc_context(FONT):
        _figure(scene, palette).savefig(buffer, **options)
    return buffer.getvalue()


def _figure(scene: Scene, palette: Palette) -> Figure:
    from matplotlib.figure import Figure

    shown, place = panels(scene), layout(scene)
    left, right, bottom, top = place.box
    width = right - left + MARGIN[0] + MARGIN[1]
    below = MARGIN[2] if scene.broken else 0.6
    height = top - bottom + below + MARGIN[3]
    width = max(width, 6.4)
    across = len(place.sheets) == 1 and len(place.sheets[0].rows) > 1
    columns, rows = (len(shown), 1) if across else (1, len(shown))
    entries = _legend(scene, palette)
    across_legend = max(1, min(6, int(width * columns * UNIT / 1.5)))
    lines = math.ceil(len(entries) / across_legend)
    below_all = 0.35 + 0.45 * lines
    figure = Figure(figsize=(width * columns * UNIT, (height * rows + below_all) * UNIT), facecolor="none")
    foot = below_all / (height * rows + below_all)
    for k, panel in enumerate(shown):
        column, row = (k, 0) if across else (0, k)
        size = (1 / columns, (1 - foot) / rows)
        axes = figure.add_axes((column * size[0], foot + (rows - 1 - row) * size[1], *size))
        axes.set_xlim(left - MARGIN[0], left - MARGIN[0] + width)
        axes.set_ylim(bottom - below, top + MARGIN[3])
        axes.set_axis_off()
        _Drawing(axes, scene, place, palette, 0.15 if not panel.order else 0.27).panel(panel)
    figure.legend(
        handles=entries, loc="lower center", ncols=across_legend, frameon=False, fontsize=8,
        labelcolor=palette.ink,
    )  # fmt: skip
    return figure


def _legend(scene: Scene, palette: Palette) -> list[Any]:
    """The legend of marks and lines."""
    from matplotlib.lines import Line2D

    entries: list[Any] = []
    if len(scene.statements) > 1:
        for kind, name in enumerate(scene.labels):
            entries.append(
                Line2D([], [], ls="", marker=MARKERS[kind % len(MARKERS)], ms=8, mfc=palette.fill(kind),
                       mec=palette.edge(kind), label=name)
            )  # fmt: skip
    entries.append(Line2D([], [], color=palette.path, lw=1.3, label="runs next"))
    if any(not arrow.broken for arrow in scene.arrows):
        entries.append(Line2D([], [], color=palette.kept, lw=1.3, label="dependence, kept"))
    if any(arrow.broken for arrow in scene.arrows) or scene.broken:
        entries.append(Line2D([], [], color=palette.broken, lw=2, label="dependence, violated"))
    if scene.tiles:
        entries.append(Line2D([], [], color=palette.tile(0), lw=1.2, ls="--", label=scene.outlines.meaning))
    if any(map(scene.outlines.is_rest, scene.tiles)):
        entries.append(Line2D([], [], color=palette.muted, lw=1.2, ls="--", label=scene.outlines.rest))
    return entries


MARKERS = ("o", "s", "D", "^", "h", "v")
"""Six, and four colours: twelve statements can be told apart."""
CORNERS = {
    2: ((0.0, 1.2), (1.2, 0.0), (0.0, -1.2), (-1.2, 0.0)),
    3: ((0.0, 1.2), (1.2, -1.0), (-1.2, -1.0)),
    4: ((0.0, 1.1), (1.0, 0.55), (1.0, -0.55), (0.0, -1.1), (-1.0, -0.55), (-1.0, 0.55)),
    5: ((0.0, -1.2), (1.2, 1.0), (-1.2, 1.0)),
}
"""Of those that are polygons, around the middle of a circle of radius 1."""


class _Drawing:
    """One panel on its axes."""

    def __init__(
        self, axes: Axes, scene: Scene, place: PictureLayout, palette: Palette, radius: float
    ) -> None:
        self.axes, self.scene, self.place, self.palette = axes, scene, place, palette
        self.radius = radius * (1.0 if place.crowd < 2 else 0.7 if place.crowd == 2 else 0.58)

    def panel(self, panel: Panel) -> None:
        left, _, _, top = self.place.box
        title: dict[str, Any] = {"fontsize": 10.5, "fontweight": "bold", "color": self.palette.ink}
        self.axes.text(left - 0.5, top + 1.22, panel.title, **title)
        self._rulers()
        if panel.order != "before":
            self._tiles(labelled=panel.order == "after")
        if panel.order:
            self._path("before" if panel.order == "before" else "after")
        else:
            self._arrows()
        self._dots(panel.order)
        if panel.order != "before" and self.scene.broken is not None:
            self._witness(labelled=not panel.order)

    def _rulers(self) -> None:
        """The iterators' values, above each sheet and left of the first."""
        small: dict[str, Any] = {"fontsize": 7.5, "color": self.palette.muted, "ha": "center", "va": "center"}
        axes = self.scene.axes
        for number, sheet in enumerate(self.place.sheets):
            if sheet.title:
                middle = sheet.left + (len(sheet.columns) - 1) / 2
                self.axes.text(middle, 0.95, sheet.title, **{**small, "color": self.palette.ink})
            for column in sheet.columns:
                text = self._value(len(axes) - 1, column)
                self.axes.text(sheet.left + column - sheet.columns.start, 0.55, text, **small)
            self.axes.text(sheet.left - 0.62, 0.55, f"{axes[-1]} →", **small)
            if len(axes) > 1 and number == 0:
                self.axes.text(sheet.left - 0.95, 0.15, f"{axes[-2]} ↓", **small)
                for row in sheet.rows:
                    text = self._value(len(axes) - 2, row)
                    self.axes.text(sheet.left - 0.62, sheet.rows.start - row, text, **small)

    def _value(self, axis: int, value: int) -> str:
        """What the ruler says; a dash where only statements without this loop are."""
        return "–" if (axis, value) in self.scene.outside else str(value)

    def _tiles(self, *, labelled: bool) -> None:
        from matplotlib.patches import Polygon

        for tile in self.scene.tiles:
            is_rest = self.scene.outlines.is_rest(tile)
            colour = self.palette.muted if is_rest else self.palette.tile(tile.number - 1)
            sheets = sorted({self.place.sheet_of[one] for one in tile.instances})
            for sheet in sheets:
                spots = [self.place.spots[one] for one in tile.instances if self.place.sheet_of[one] == sheet]
                corners = outline(spots, 0.41 if not self.place.crowded else 0.3)
                self.axes.add_artist(
                    Polygon(corners, closed=True, fc=colour, alpha=0.13, ec="none", zorder=0)
                )
                self.axes.add_artist(
                    Polygon(corners, closed=True, fill=False, ec=colour, lw=1.1, ls=(0, (3, 2)), zorder=1)
                )
                one_by_one = self.scene.outlines.order is TileOrder.ONE_BY_ONE
                if labelled and len(self.scene.tiles) > 1 and one_by_one:
                    x, y = min(corners, key=lambda spot: (round(spot[0] - spot[1], 6), spot))
                    self.axes.text(
                        x - 0.02, y + 0.02, str(tile.number), fontsize=6.5, color=colour, fontweight="bold",
                        ha="right", va="bottom",
                    )  # fmt: skip

    def _path(self, order: str) -> None:
        ordered = sorted(self.scene.dots, key=lambda dot: getattr(dot, order))
        follows = self._follows if order == "after" else lambda one, two: True
        for one, two, is_jump in path([dot.instance for dot in ordered], self.place, follows):
            look = {"lw": 0.7, "linestyle": (0, (2, 2)), "alpha": 0.55} if is_jump else {"lw": 1.3}
            self._arrow(one, two, bend=0.12 if is_jump else 0.0, color=self.palette.path, zorder=1.5, **look)

    def _follows(self, one: Instance, two: Instance) -> bool:
        """Whether the second waits for the first to be done."""
        inside = {member: tile.number for tile in self.scene.tiles for member in tile.instances}
        same = inside.get(one) == inside.get(two)
        match self.scene.outlines.order:
            case TileOrder.BESIDE:
                return same
            case TileOrder.AT_ONCE:
                return not same or inside.get(one) is None
            case _:
                return True

    def _number(self, dot: Dot, order: str) -> str:
        """When it runs: of the instances in one outline, or of the outlines, where that is the order."""
        if order == "counted":
            return ",".join(map(str, dot.counted))
        if order == "after":
            tile = next((one for one in self.scene.tiles if dot.instance in one.instances), None)
            if tile is not None and self.scene.outlines.order is TileOrder.BESIDE:
                return str(tile.instances.index(dot.instance) + 1)
            if tile is not None and self.scene.outlines.order is TileOrder.AT_ONCE:
                return str(tile.number)
        return str(getattr(dot, order))

    def _arrows(self) -> None:
        strong = self._strong()
        for arrow in self.scene.arrows:
            one, two = self.place.spots[arrow.source], self.place.spots[arrow.sink]
            colour = self.palette.broken if arrow.broken else self.palette.kept
            far = self.place.sheet_of[arrow.source] != self.place.sheet_of[arrow.sink]
            length = ((one[0] - two[0]) ** 2 + (one[1] - two[1]) ** 2) ** 0.5
            alpha, width = (0.5, 0.6) if far else (0.9, 1.0)
            if strong:
                near = arrow.source in strong or arrow.sink in strong
                alpha, width = (1.0, 1.2) if near else (0.4 if arrow.broken else 0.14, width)
            self._arrow(one, two, bend=0.18 if length > 1.6 else 0.1, color=colour, lw=width, alpha=alpha)

    def _strong(self) -> set[Instance]:
        """Where there are too many arrows to follow: one instance of each statement, in the middle."""
        if len(self.scene.arrows) <= MANY:
            return set()
        found: set[Instance] = set()
        for kind in range(len(self.scene.statements)):
            own = [dot for dot in self.scene.dots if dot.kind == kind]
            if own:
                middle = [sum(values) / len(own) for values in zip(*(dot.where for dot in own), strict=True)]
                found.add(min(own, key=lambda dot: math.dist(dot.where, middle)).instance)
        return found

    def _arrow(self, one: Any, two: Any, *, bend: float, **look: Any) -> None:
        """An arrow between two dots; `look` is what matplotlib calls properties of a patch."""
        from matplotlib.patches import FancyArrowPatch

        shrink = self.radius * UNIT * 72 + 0.5
        usual: dict[str, Any] = {
            "arrowstyle": "-|>",
            "mutation_scale": 7,
            "zorder": 2,
            "linestyle": "-",
            "alpha": 1.0,
        }
        usual |= {"connectionstyle": f"arc3,rad={bend}", "shrinkA": shrink, "shrinkB": shrink}
        self.axes.add_artist(FancyArrowPatch(one, two, **(usual | look)))

    def _dots(self, order: str) -> None:
        from matplotlib.patches import Circle, Polygon, Rectangle

        for dot in self.scene.dots:
            x, y = self.place.spots[dot.instance]
            r = self.radius
            style: dict[str, Any] = {
                "fc": self.palette.fill(dot.kind), "ec": self.palette.edge(dot.kind), "lw": 1.0, "zorder": 3,
            }  # fmt: skip
            match dot.kind % len(MARKERS):
                case 0:
                    self.axes.add_artist(Circle((x, y), r, **style))
                case 1:
                    self.axes.add_artist(Rectangle((x - 0.9 * r, y - 0.9 * r), 1.8 * r, 1.8 * r, **style))
                case kind:
                    corners = [(x + dx * r, y + dy * r) for dx, dy in CORNERS[kind]]
                    self.axes.add_artist(Polygon(corners, closed=True, **style))
            if order:
                size = 4.2 if self.place.crowd > 2 else 5.5 if self.place.crowded or order == "counted" else 7
                self.axes.text(
                    x, y - 0.01, self._number(dot, order), fontsize=size, color=self.palette.ink,
                    ha="center", va="center_baseline", zorder=4,
                )  # fmt: skip

    def _witness(self, *, labelled: bool) -> None:
        """The two instances in rings, the arrow between them in red, and what they are called."""
        from matplotlib.patches import Circle

        broken = self.scene.broken
        assert broken is not None
        ends = [self.place.spots[one] for one in (broken.first, broken.second)]
        for x, y in ends:
            self.axes.add_artist(
                Circle((x, y), self.radius + 0.08, fill=False, ec=self.palette.broken, lw=1.8, zorder=5)
            )
        self._arrow(*ends[:2], bend=0.1, color=self.palette.broken, lw=2.0, zorder=5, mutation_scale=11)
        if labelled:
            self._names(broken.first, broken.second)

    def _names(self, first: Instance, second: Instance) -> None:
        broken = self.scene.broken
        assert broken is not None
        left, _, bottom, _ = self.place.box
        order = {dot.instance: dot for dot in self.scene.dots}
        if order[first].after < order[second].after:
            then = "after the script nothing says which of them comes first"
        else:
            then = f"after the script they are number {order[first].after} and number {order[second].after}"
        lines = [f"first {broken.first_text}, then {broken.second_text};", then]
        self.axes.text(
            left - 0.5, bottom - 0.5, "\n".join(lines), fontsize=7.5, color=self.palette.broken, va="top",
            linespacing=1.35,
        )  # fmt: skip
