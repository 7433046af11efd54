"""Lists every single move that Tadashi offers on a C file: `python -P tadashi_moves.py FILE FOLDER`.

Runs where Tadashi is installed, and imports nothing of this project.  One line of JSON for each move:
the move, whether Tadashi calls it legal, and the resulting file in either case.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from tadashi import TrEnum
from tadashi.apps import Simple
from tadashi.scop import Node

TILE = 8

Move = tuple[int, int, TrEnum, tuple[int, ...]]


def main(source: str, folder: str) -> None:
    app = Simple(source)
    for number, (scop, place, kind, arguments) in enumerate(list(_moves(source))):
        app.reset_scops()
        node = app.scops[scop].schedule_tree[place]
        legal = node.transform(kind, *arguments)
        made = Path(app.generate_code(ephemeral=False, ensure_legality=False).source)
        target = Path(folder) / f"{number}.c"
        target.write_text(_moved_definitions(made.read_text()))
        made.unlink()
        words = f"{kind.value}({', '.join(map(str, arguments))}) at node {place}"
        sys.stdout.write(json.dumps({"move": words, "legal": bool(legal), "file": str(target)}) + "\n")
        sys.stdout.flush()


def _moves(source: str) -> Iterator[Move]:
    for scop, tree in enumerate(Simple(source).scops):
        for place, node in enumerate(tree.schedule_tree):
            for kind in node.available_transformations:
                for arguments in _arguments(node, kind):
                    if node.valid_args(kind, *arguments):
                        yield scop, place, kind, arguments


def _arguments(node: Node, kind: TrEnum) -> list[tuple[int, ...]]:
    """What is tried of a move: tiles of 8, shifts by one, every pair of loops that could be fused."""
    match kind:
        case TrEnum.TILE_1D:
            return [(TILE,)]
        case TrEnum.TILE_2D:
            return [(TILE, TILE)]
        case TrEnum.TILE_3D:
            return [(TILE, TILE, TILE)]
        case TrEnum.INTERCHANGE | TrEnum.FULL_FUSE | TrEnum.FULL_SPLIT:
            return [()]
        case TrEnum.FUSE:
            return [tuple(pair) for pair in node.available_args(kind)]
        case TrEnum.SPLIT:
            return [(index,) for index in range(1, len(node.children))]
        case TrEnum.FULL_SHIFT_VAL:
            return [(1,)]
        case TrEnum.PARTIAL_SHIFT_VAL:
            return [(statement, 1) for statement in range(len(node.loop_signature))]
    return []


def _moved_definitions(text: str) -> str:
    """Tadashi writes `#define min` into the region; it is the same in front of it."""
    before, pragma, region = text.partition("#pragma scop")
    lines = region.splitlines(keepends=True)
    defined = [line for line in lines if line.lstrip().startswith("#define")]
    rest = [line for line in lines if line not in defined]
    return before + "".join(defined) + pragma + "".join(rest)


if __name__ == "__main__":
    main(*sys.argv[1:])
