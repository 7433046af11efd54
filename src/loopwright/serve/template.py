"""The process that is ready to answer: everything is loaded, and every question is answered by a fork of it.

It never answers itself.  The server sends it one end of a connection for each question; the fork reads the
question from there, under limits of its own, writes messages, one JSON object a line, and ends.  What a
question leaves in memory ends with it.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import socket
import sys
import tempfile
from collections.abc import Iterator
from typing import NoReturn

from loopwright.errors import Code, GaveUp, InternalError, LoopwrightError
from loopwright.serve.answers import Message, answers, failure
from loopwright.serve.questions import (
    ProofQuestion,
    Question,
    SuggestQuestion,
    TransformQuestion,
    question_of,
)

SECONDS = 20
"""Processor time that a question may take."""

MEMORY = 2 << 30
"""Bytes of addresses that its process may have."""

WRITTEN = 32 << 20
"""Bytes of a file that it may write."""

FILES = 64
"""Files that it may have open."""

LATER = 10
"""How much less urgent suggestions and proof files are than a verdict, which the reader waits for."""

EXAMPLE = """void f(int n, double *x, double (*A)[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      x[i] += A[j][i];
#pragma endscop
}
"""


def main() -> None:
    """Serve forks until the server goes away."""
    control = socket.socket(fileno=int(sys.argv[1]))
    _forget_environment()
    _warm_up()
    gc.set_threshold(1_000_000, 20, 100)  # hardly anything is in cycles
    gc.collect()
    gc.freeze()  # a fork neither traverses nor copies what all of them share
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    control.sendall(b"!")
    while True:
        word, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not word:
            return
        for descriptor in descriptors:
            if os.fork() == 0:
                control.close()
                _be_the_fork(socket.socket(fileno=descriptor))
            os.close(descriptor)


def _forget_environment() -> None:
    """Variables by which a compiler would look for headers elsewhere, or write files."""
    for name in ("CPATH", "C_INCLUDE_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH", "DEPENDENCIES_OUTPUT",
                 "SUNPRO_DEPENDENCIES"):  # fmt: skip
        os.environ.pop(name, None)


def _warm_up() -> None:
    """Answer an example, so that what is loaded at the first use is loaded."""
    with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
        os.chdir(folder)
        for script in ("interchange(@4, i, j)", "tile(@4, 8, 8)\nparallel(@4, i)"):
            list(answers(TransformQuestion(EXAMPLE, script)))
        os.chdir("/")


def _be_the_fork(connection: socket.socket) -> NoReturn:
    """Answer one question and end; whatever happens, never return into the template's loop."""
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        with connection, connection.makefile("rwb") as stream:
            stream.write(b'{"process": %d}\n' % os.getpid())
            stream.flush()
            head = json.loads(stream.readline())
            os.chdir(head["folder"])
            os.environ["TMPDIR"] = tempfile.tempdir = head["folder"]
            _limit()
            for message in _answered(head["question"]):
                stream.write(json.dumps(message).encode() + b"\n")
                stream.flush()
        status = 0
    finally:
        os._exit(status)


def _limit() -> None:
    limits = {
        resource.RLIMIT_CPU: SECONDS,
        resource.RLIMIT_AS: MEMORY,
        resource.RLIMIT_FSIZE: WRITTEN,
        resource.RLIMIT_NOFILE: FILES,
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in limits.items():
        resource.setrlimit(kind, (most, most))


def _answered(data: object) -> Iterator[Message]:
    """The messages on a question; no failure is a traceback, and none tells a text of another's."""
    try:
        question: Question = question_of(data)
        if isinstance(question, SuggestQuestion | ProofQuestion):
            os.nice(LATER)
        yield from answers(question)
    except LoopwrightError as error:
        yield failure(error)
    except MemoryError:
        yield failure(GaveUp(Code.SIZE, "memory ran out"))
    except Exception as error:
        yield failure(InternalError(Code.INTERNAL, f"{type(error).__name__}: an unexpected failure"))


if __name__ == "__main__":
    main()
