"""Time limits: processor time, and the time that passes."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from loopwright.errors import GaveUp
from loopwright.progress import Progress, silent
from loopwright.run.supervise import within


def _sleep(progress: Progress) -> str:
    progress("sleeping")
    time.sleep(1.2)
    return "awake"


def _work(progress: Progress) -> None:
    progress("working")
    while True:
        pass


def _started(progress: Progress) -> None:
    progress("waiting for a program")
    for _ in range(100):
        subprocess.run([sys.executable, "-c", "for k in range(3_000_000): pass"], check=True)


def test_waiting_costs_no_processor_time() -> None:
    assert within(0.2, _sleep, silent, wall=60) == "awake"


def test_waiting_takes_time() -> None:
    with pytest.raises(GaveUp, match=r"the wall-clock limit of 0.6 s ran out while sleeping"):
        within(60, _sleep, silent, wall=0.6)


@pytest.mark.parametrize("work", [_work, _started])
def test_working_costs_processor_time(work: object) -> None:
    with pytest.raises(GaveUp, match=r"the time limit of 0.3 s ran out while"):
        within(0.3, work, silent, wall=600)  # type: ignore[arg-type]


ENDED = """
import os, sys, time
from loopwright.progress import silent
from loopwright.run.supervise import within

def work(progress):
    print(os.getpid(), flush=True)
    time.sleep(600)

within(600, work, silent)
"""


def test_a_process_that_is_told_to_end_ends_its_child() -> None:
    """Whoever waits for its output does not wait for a child whose answer is no longer wanted."""
    command = [sys.executable, "-c", ENDED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline()
        parent.terminate()
        assert parent.communicate(timeout=60)[0] == ""  # the child has the same output
        assert parent.returncode == 128 + signal.SIGTERM
