"""Ratios as a bar chart; matplotlib is optional and loaded only here."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path

from loopwright.run.benchmark import Result
from loopwright.run.timing import geometric_mean


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def write_chart(results: Sequence[Result], path: Path) -> None:
    """A bar a kernel on a logarithmic axis, the fastest first, with the geometric mean as a line."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullLocator

    ordered = sorted(results, key=lambda result: (-result.ratio, result.name))
    ratios = [result.ratio for result in ordered]
    mean = geometric_mean(ratios)
    figure = Figure(figsize=(max(6.0, 0.38 * len(ordered) + 2), 4.2), layout="constrained")
    axes = figure.subplots()
    colours = ["#2a7f62" if ratio >= 1 else "#b3402e" for ratio in ratios]
    names, heights = [result.name for result in ordered], [ratio - 1 for ratio in ratios]
    bars = axes.bar(names, heights, bottom=1, color=colours)
    axes.bar_label(bars, labels=[f"{ratio:.1f}" for ratio in ratios], padding=2, fontsize=8)
    axes.set_yscale("log")
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.axhline(mean, color="#555555", linewidth=0.8, linestyle="--", label=f"geometric mean {mean:.2f}")
    axes.set_ylabel("times as fast as the original")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter("{x:g}")
    axes.tick_params(axis="x", length=0)
    for label in axes.get_xticklabels():
        label.set(rotation=60, horizontalalignment="right", rotation_mode="anchor")
    axes.margins(x=0.02, y=0.12)
    axes.legend(frameon=False)
    figure.savefig(path)
