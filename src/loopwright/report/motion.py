"""A moving picture for a page: with several sizes to choose from, as one text of JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import resources

from loopwright.show.moving import MovingPicture

MOST = 12
"""Other sizes that a page has a picture of."""

LARGEST = 400_000
"""Characters of all pictures together."""


def moving_json(draw: Callable[[Mapping[str, int] | None], MovingPicture | None]) -> str:
    """All pictures by their sizes, and which of them is first; empty where there is nothing to draw."""
    first = draw(None)
    if first is None:
        return ""
    found = {_key(first): json.dumps(first.data())}
    for sizes in _near(first):
        other = draw(sizes)
        if other is None:
            continue
        text = json.dumps(other.data())
        if len(found) > MOST or sum(map(len, found.values())) + len(text) > LARGEST:
            break
        found[_key(other)] = text
    pictures = ", ".join(f"{json.dumps(key)}: {text}" for key, text in found.items())
    return f'{{"first": {json.dumps(_key(first))}, "pictures": {{{pictures}}}}}'


def _key(picture: MovingPicture) -> str:
    return ",".join(f"{size.name}={size.value}" for size in picture.sizes)


def _near(picture: MovingPicture) -> Iterator[dict[str, int]]:
    """The sizes with one of them changed, by 1, then by 2 and so on."""
    own = {size.name: size.value for size in picture.sizes}
    for change in range(1, MOST):
        for size in picture.sizes:
            for value in (size.value - change, size.value + change):
                if size.least <= value <= size.most:
                    yield {**own, size.name: value}


@cache
def moving_style() -> str:
    return _static("moving.css")


@cache
def moving_script() -> str:
    return _static("moving.js")


@cache
def widget_script() -> str:
    return _static("widget.js")


def _static(name: str) -> str:
    return (resources.files("loopwright.show") / "static" / name).read_text(encoding="utf-8")
