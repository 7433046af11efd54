"""`import loopwright as lw`: functions with types, though some rooms have their names."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import inspect
import io
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import loopwright as lw
from loopwright.emit.region import Loops, new_source
from loopwright.errors import BadInput, Illegal, InternalError
from loopwright.generate.context import GenerationOptions
from loopwright.prove.verdict import Proved
from loopwright.rewrite import targets
from loopwright.source import Source
from tests.conftest import ROOT

ROOMS = ("check", "generate", "prove", "read", "report", "optimise")
"""Functions with the name of a room."""

SUMS = (
    "double x[99], A[99][99], y[99];\nvoid f(int N)\n{\n#pragma scop\n"
    "  for (int i = 0; i < N; i++) {\n    Clear: x[i] = 0;\n"
    "    for (int j = 0; j < N; j++)\n      Add: x[i] += A[j][i] * y[j];\n  }\n#pragma endscop\n}\n"
)


def test_read_generate_prove_print(tmp_path: Path) -> None:
    path = tmp_path / "line.poly"
    path.write_text("param n\nstatement S(i)\n  domain 0 <= i < n\n  schedule -i\n")
    schedule = lw.read_schedule(path)
    program = lw.generate(schedule, single_upper_bound=False)
    assert isinstance(lw.prove(schedule, program), Proved)
    assert lw.to_c(program) == "for (int c0 = 1 - n; c0 <= 0; c0 += 1)\n  S(-c0);\n"
    with pytest.raises(BadInput) as raised:
        lw.read(path)
    assert raised.value.hint == "loopwright.read_schedule reads it"


def test_functions_are_functions_whatever_is_imported() -> None:
    """In a Python of its own: other tests have imported the rooms already."""
    code = f"""
import importlib, pickle, sys, types
import loopwright as lw
for name in {ROOMS!r}:
    function = getattr(lw, name)
    assert isinstance(function, types.FunctionType), name
    room = importlib.import_module("loopwright." + name)
    assert isinstance(room, types.ModuleType) and room is sys.modules["loopwright." + name]
    assert getattr(lw, name) is function
import loopwright.check.verify, loopwright.generate.program, loopwright.read.c.reader
import loopwright.optimise.candidates.tiles
import loopwright.prove.legality.plans
from loopwright.read import poly
from loopwright import read, generate
assert read is lw.read and isinstance(read, types.FunctionType) and isinstance(poly, types.ModuleType)
for name in {ROOMS!r}:
    assert isinstance(getattr(lw, name), types.FunctionType), name
    assert pickle.loads(pickle.dumps(getattr(lw, name))) is getattr(lw, name)
importlib.reload(sys.modules["loopwright.read"])
assert isinstance(lw.read, types.FunctionType)
importlib.reload(lw)
for name in {ROOMS!r}:
    assert isinstance(getattr(lw, name), types.FunctionType), name
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "src", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_importing_loads_nothing_heavy() -> None:
    """The rooms that are loaded before the functions are defined import nothing themselves."""
    code = "import sys, loopwright; print(*sorted(name for name in sys.modules if 'loopwright' in name))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "src", capture_output=True, text=True, check=True
    )
    beside = ("arguments", "display", "errors", "interrupts", "lazy_dataclass", "source")
    assert set(done.stdout.split()) == {"loopwright", *(f"loopwright.{name}" for name in (*ROOMS, *beside))}


def test_what_is_there_to_see() -> None:
    assert set(lw.__all__) <= set(dir(lw)) and "importlib" not in dir(lw)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        help(lw)
    text = printed.getvalue()
    assert "read(path: 'str | Path'" in text and "-> 'FluentPlan'" in text
    for name in lw.__all__:
        assert inspect.getdoc(getattr(lw, name)), name


def test_options_of_the_generator_are_those_of_its_room() -> None:
    given = inspect.signature(lw.generate).parameters
    assert [name for name in given if name != "schedule"] == [
        one.name for one in dataclasses.fields(GenerationOptions)
    ]
    for one in dataclasses.fields(GenerationOptions):
        wanted = one.default.value if one.name == "loop_type" else one.default
        assert given[one.name].default == wanted, one.name


def test_values_print_on_a_few_lines(tmp_path: Path) -> None:
    source = tmp_path / "sums.c"
    source.write_text(SUMS)
    plan = lw.read(source)
    place = f"{source}:5"
    assert repr(plan) == f"<Plan {place}: as written>"
    assert repr(plan.program) == f"<Program {place}: S1[i], S2[i, j]>"
    wrong = plan["Add"].interchange("i", "j")
    assert repr(wrong) == f"<Handle Add of <Plan {place}:\n  interchange(Add, i, j)>>"
    verdict = lw.prove(wrong.plan)
    assert repr(verdict) == "<LegalityVerdict illegal, 2 violations, 10 obligations>"
    assert repr(verdict.violations[0]) == (
        "<Violation reversed: flow dependence Clear[1] -> Add[1, 0] on x[1], N = 2>"
    )
    assert repr(lw.suggest(plan)[0]) == "<Suggestion parallel(Clear, i), 4.0 times as fast by the model>"
    assert repr(lw.find(source)) == f"(<Nest f, lines 5 to 9: <Program {place}: S1[i], S2[i, j]>>,)"
    assert repr(lw.optimise(source, model=True, N=90)).startswith("<Optimised")
    long = plan.transform("reverse(Add, j)\n" * 40)
    assert len(repr(long).splitlines()) == 8 and "... 34 operations" in repr(long)


def test_a_c_file_is_rewritten_from_python(tmp_path: Path) -> None:
    source = tmp_path / "sums.c"
    source.write_text(SUMS)
    wrong = lw.read(source)["Add"].interchange("i", "j").plan
    assert not lw.prove(wrong).proved
    with pytest.raises(Illegal):
        lw.to_c(wrong)
    right = lw.read(source).transform("distribute(Clear, Add)\ninterchange(Add, i, j)\n")
    assert lw.prove(right).proved
    assert "x[i] += A[j][i] * y[j];" in lw.to_c(right)


TWO = (
    "double x[99], y[99];\nvoid f(int N)\n{\n#pragma scop\n"
    "  for (int i = 0; i < N; i++)\n    One: x[i] = cost(i);\n#pragma endscop\n"
    "#pragma scop\n  for (int i = 0; i < N; i++)\n    Two: y[i] = 1;\n#pragma endscop\n}\n"
)


def test_a_file_with_several_regions(tmp_path: Path) -> None:
    source = tmp_path / "two.c"
    source.write_text(TWO)
    with pytest.raises(BadInput, match="this file has 2 regions") as raised:
        lw.read(source, pure=["cost"])
    assert raised.value.span is not None and raised.value.span.line == 9
    assert len(lw.read_regions(source, pure=["cost"])) == 2


def test_a_plan_of_one_region_leaves_the_others_alone(tmp_path: Path) -> None:
    source = tmp_path / "two.c"
    source.write_text(TWO)
    one, two = lw.read_regions(source, pure=["cost"])
    new = lw.to_c(two["Two"].reverse("i").plan)
    head, tail = TWO.split("#pragma endscop", 1)
    assert new.startswith(head + "#pragma endscop") and new != TWO
    assert lw.to_c((one["One"].reverse("i").plan, two)).endswith(tail)


def test_the_text_a_plan_gives_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A printer that misprints is found by `lw.to_c` as it is by the command line."""
    source = tmp_path / "two.c"
    source.write_text(TWO.replace("cost(i)", "2"))
    plan = lw.read_regions(source)[1]["Two"].reverse("i").plan

    def misprinted(regions: Sequence[Loops], *, openmp: bool = False) -> Source:
        new = new_source(regions, openmp=openmp)
        return dataclasses.replace(new, text=new.text.replace("y[i]", "y[i + 1]"))

    monkeypatch.setattr(targets, "new_source", misprinted)
    with pytest.raises(InternalError, match="does not do what S1"):
        lw.to_c(plan)


def test_functions_can_be_pickled_and_their_room_found() -> None:
    assert pickle.loads(pickle.dumps(lw.read)) is lw.read
    schedules = importlib.import_module("loopwright.read.schedules")
    assert vars(importlib.import_module("loopwright.read"))["schedules"] is schedules


def test_what_cannot_be_proved_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="cannot be proved together"):
        lw.prove("old.c")  # type: ignore[call-overload]


def test_an_error_says_all_it_knows_and_shows_no_frames_of_its_insides(tmp_path: Path) -> None:
    """What a script of Python that does not catch it prints: place, excerpt, witness, hint and code."""
    path = tmp_path / "sums.c"
    path.write_text(SUMS)
    code = f"import loopwright as lw\nlw.to_c(lw.read({str(path)!r})['Add'].interchange('i', 'j').plan)\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    said = done.stderr
    assert said.count("  File ") == 2, said
    place = f"{path}:6:12: Clear(i = 1) writes x[1]"
    for part in ("interchange(Add, i, j)\n", place, "hint: distribute()", "LW101"):
        assert part in said, said
    with pytest.raises(BadInput) as raised:
        lw.read(tmp_path / "none.c")
    assert str(raised.value).startswith(f"{tmp_path / 'none.c'}:1:1: error: cannot be read")
    assert raised.value.message == "cannot be read: No such file or directory"


class Index:
    """An integer that is not Python's, such as numpy's."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


def test_integers_of_other_libraries_are_integers(tmp_path: Path) -> None:
    path = tmp_path / "sums.c"
    path.write_text(SUMS)
    plan = lw.read(path, loop=Index(5))  # type: ignore[arg-type]
    assert plan[Index(5)].name == "@5"  # type: ignore[index]
    tiled = plan["Add"].distribute("Clear").tile(i=Index(4), j=8).unroll("j", Index(2))  # type: ignore[arg-type]
    assert [str(one.step) for one in tiled.plan.history][1:] == ["tile(Add, i=4, j=8)", "unroll(Add, j, 2)"]


def test_handles_and_lines_name_components(tmp_path: Path) -> None:
    one, two = tmp_path / "one.c", tmp_path / "two.c"
    one.write_text(SUMS)
    two.write_text(SUMS)
    plan, other = lw.read(one), lw.read(two)
    assert plan["Clear"].distribute(plan["Add"]).plan.history == plan["Clear"].distribute("Add").plan.history
    assert str(plan["Clear"].distribute(8).plan.history[-1].step) == "distribute(Clear, @8)"
    with pytest.raises(BadInput, match="this handle is of another region"):
        plan["Clear"].distribute(other["Add"])
    with pytest.raises(AttributeError, match=r"write plan\['Clear'\].tile\(...\)"):
        plan.tile(4)  # type: ignore[attr-defined]


def test_budgets_files_and_sizes_of_widgets(tmp_path: Path) -> None:
    path = tmp_path / "sums.c"
    path.write_text(SUMS)
    for budget in ("x", -1, float("nan")):
        with pytest.raises(BadInput, match="number of seconds"):
            lw.optimise(path, budget=budget)  # type: ignore[arg-type]
    for function in (lw.read_schedule, lw.report):
        with pytest.raises(TypeError, match="the name of a file is expected"):
            function(None)  # type: ignore[arg-type]
    widget = lw.widget(lw.read(path))
    for sizes in ({"N": "x"}, {"Q": 3}):
        with pytest.raises(BadInput):
            widget.sizes = sizes
    widget.sizes = {"N": Index(3)}
    assert widget.sizes == {"N": 3}
