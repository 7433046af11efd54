"""Trials on many machines, and times that are kept: `loopwright optimise --on ADDRESS --results FILE`."""

from __future__ import annotations

import shutil
import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.c.selection.choice import choice
from loopwright.c.typed.options import CompilerOptions
from loopwright.cli.main import main
from loopwright.errors import BadInput
from loopwright.optimise.candidates.nests import Script
from loopwright.optimise.fleet.address import Scheduler, connected, refuse_open
from loopwright.optimise.fleet.parcel import Parcel, packed, unpacked
from loopwright.optimise.fleet.trials import TrialsOnFleet, assembled
from loopwright.optimise.fleet.work import Prove
from loopwright.optimise.model.machine import MachineKind
from loopwright.optimise.timing.results import results
from loopwright.optimise.timing.runner import TrialRunner, with_clock
from loopwright.optimise.timing.trials import Task, Timed
from loopwright.optimise.timing.workshop import TrialsHere, Workshop
from loopwright.read.c.options import ReadOptions
from loopwright.read.c.reader import read_c
from loopwright.rewrite.request import ProverRequest, Request
from loopwright.run.compiler import find_compiler
from loopwright.transform import plan_of
from loopwright.transform.script.loop_numbers import LoopNumber
from loopwright.transform.script.operations import Interchange, Tile
from loopwright.transform.script.steps import Step

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

SUM = """\
#include "size.h"
#include <scale.h>
double A[N][N];
int main(void)
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[j][i] += SCALE * A[j][i];
  return A[0][0] > 0;
}
"""

INTERCHANGE: Script = (Step(Interchange("S1", "i", "j")),)
TILE: Script = (Step(Tile("S1", (LoopNumber(32, "i"), LoopNumber(32, "j")))),)
UNKNOWN: Script = (Step(Interchange("S7", "i", "j")),)


def shop(folder: Path) -> tuple[Workshop, Parcel]:
    """A file with a header beside it and one in a folder of headers."""
    (folder / "include").mkdir(parents=True)
    (folder / "include" / "scale.h").write_text("#define SCALE 2\n")
    (folder / "size.h").write_text("#define N 900\n")
    file = folder / "sum.c"
    file.write_text(SUM)
    flags = ("-I", str(folder / "include"))
    reading = ReadOptions(choice=choice("main"), compiled=CompilerOptions(flags))
    request = Request(file=str(file), reading=reading)
    (program,) = read_c(file, reading)
    runner = with_clock(TrialRunner(file, folder, find_compiler(), flags), SUM)
    return Workshop((plan_of(program),), request, runner), packed(program.source, request, runner)


@pytest.mark.parametrize(
    ("address", "what"),
    [
        ("tcp://192.168.1.7:8786", "neither on this machine nor encrypted"),
        ("tcp://localhost.example.org:8786", "neither on this machine nor encrypted"),
        ("tcp://0.0.0.0:8786", "neither on this machine nor encrypted"),
        ("tcp://[::2]:8786", "neither on this machine nor encrypted"),
        ("tcp://127.0.0.1.nip.io:8786", "neither on this machine nor encrypted"),
        ("tcp://127.0.0.1@10.0.0.1:8786", "neither on this machine nor encrypted"),
        ("ws://127.0.0.1:8786", "must have the form tcp://HOST:PORT or tls://HOST:PORT"),
        ("10.0.0.1:8786", "must have the form tcp://HOST:PORT or tls://HOST:PORT"),
        ("tls://10.0.0.1:8786", "needs certificates"),
    ],
)
def test_open_addresses_are_refused(address: str, what: str) -> None:
    with pytest.raises(BadInput, match=what) as failure:
        refuse_open(Scheduler(address))
    assert "--tls-ca" in (failure.value.diagnostic.hint or "")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:8786", "tcp://[::1]:8786", "tcp://localhost:8786"])
def test_the_loopback_and_tls_are_taken(address: str) -> None:
    refuse_open(Scheduler(address))
    refuse_open(Scheduler("tls://10.0.0.1:8786", "ca.pem", "cert.pem", "key.pem"))


def test_an_open_address_is_refused_before_anything_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["optimise", "missing.c", "--on", "tcp://10.1.2.3:8786"])
    assert "--tls-cert" in capsys.readouterr().err


def test_times_are_found_again_only_for_the_same_problem(tmp_path: Path) -> None:
    file, site = str(tmp_path / "times.sqlite"), MachineKind("some processor", "gcc 12")
    with results(file, "a", site, "sum.c") as kept:
        kept.keep(Timed(INTERCHANGE, 0.5))
        kept.keep(Timed(INTERCHANGE, 0.25))
        kept.keep(Timed(UNKNOWN, None, "no region has a loop component with this name"))
    scripts = [TILE, INTERCHANGE, UNKNOWN]
    with results(file, "a", site, "sum.c") as kept:
        assert [one.seconds for one in kept.known(scripts)] == [0.25, None]
        assert [one.script for one in kept.known(scripts)] == [INTERCHANGE, UNKNOWN]
    others = [MachineKind("another", "gcc 12"), MachineKind("some processor", "gcc 13")]
    for problem, other in [("b", site), *(("a", one) for one in others)]:
        with results(file, problem, other, "sum.c") as kept:
            assert kept.known(scripts) == []


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    text, database = tmp_path / "notes.txt", tmp_path / "other.sqlite"
    text.write_text("not a database, but long enough to be looked at\n" * 30)
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    for file in (text, database, tmp_path / "missing" / "new.sqlite"):
        before = file.read_bytes() if file.exists() else b""
        with pytest.raises(BadInput), results(str(file), "a", MachineKind("", ""), "sum.c"):
            pass
        assert (file.read_bytes() if file.exists() else b"") == before


@needs_gcc
def test_a_parcel_has_all_that_decides_a_time(tmp_path: Path) -> None:
    here, parcel = shop(tmp_path / "here")
    assert [Path(path).name for path, _ in parcel.files] == ["sum.c", "scale.h", "size.h"]
    (tmp_path / "here" / "include" / "scale.h").write_text("#define SCALE 3\n")
    source = here.plans[0].original.source
    digests = {
        parcel.digest,
        packed(source, here.request, here.runner).digest,
        packed(source, replace(here.request, openmp=True), here.runner).digest,
        packed(source, here.request, replace(here.runner, flags=(*here.runner.flags, "-DX"))).digest,
        packed(replace(source, text=SUM + "\n"), here.request, here.runner).digest,
    }
    assert len(digests) == 5
    shutil.rmtree(tmp_path / "here")
    asking = replace(parcel, request=replace(parcel.request, prover=ProverRequest("coq", "proof.v")))
    there = unpacked(asking, tmp_path / "there")
    assert there.request.prover == ProverRequest()
    assert there.text(INTERCHANGE) == here.text(INTERCHANGE)
    assert there.seconds(there.text(INTERCHANGE), 60.0) >= 0
    with pytest.raises(BadInput):
        there.text(UNKNOWN)


@needs_gcc
def test_two_workers_one_of_which_dies(tmp_path: Path) -> None:
    """What the killed one had to do is done by the other: the same trials as alone, with the same texts."""
    from distributed import LocalCluster

    here, parcel = shop(tmp_path / "here")
    scripts = [INTERCHANGE, UNKNOWN, TILE, (*INTERCHANGE, *TILE)]
    alone = TrialsHere(here)
    wanted = list(alone.outcomes((Task(script, 60.0) for script in scripts), 0.0))
    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
    ) as cluster:
        fleet = assembled(Scheduler(cluster.scheduler_address), here.runner.compiler)
        trials = TrialsOnFleet(fleet, parcel)
        found: list[Timed] = []
        for outcome in trials.outcomes((Task(script, 60.0) for script in scripts), time.monotonic() + 300):
            if not found:
                cluster.workers[0].process.process.kill()
            found += [outcome] if isinstance(outcome, Timed) else []
        assert {one.script: one.failure for one in found} == {one.script: one.failure for one in wanted}
        assert trials.texts == alone.texts
        assert all((one.seconds is None) == bool(one.failure) for one in found)
        assert trials.answer(Prove(INTERCHANGE, 60.0)) is True
        assert fleet.room == 2


def test_a_scheduler_that_is_not_there() -> None:
    address = "tcp://127.0.0.1:9"
    with pytest.raises(BadInput, match="no scheduler answers"), connected(Scheduler(address), 0.2):
        pass
