"""Stores times in an SQLite file, so that an interrupted search can continue.

A time belongs to what was timed (`Parcel.digest`: every text, every option, this version of Loopwright), to
the processor and the compiler, and to a script.  If any of these differs, it is not found.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from loopwright.errors import BadInput, Code
from loopwright.lazy_dataclass import dataclass
from loopwright.optimise.candidates.nests import Script
from loopwright.optimise.model.machine import MachineKind
from loopwright.optimise.timing.trials import Timed
from loopwright.source import Span
from loopwright.transform import script_text

IN_MEMORY = ":memory:"
"""Used without a file: stores nothing."""

APPLICATION = 0x4C4F4F50
"""The application id of our SQLite files."""

TABLE = """
CREATE TABLE IF NOT EXISTS timed (
  problem TEXT NOT NULL, processor TEXT NOT NULL, compiler TEXT NOT NULL, script TEXT NOT NULL,
  file TEXT NOT NULL, seconds REAL, failure TEXT NOT NULL,
  PRIMARY KEY (problem, processor, compiler, script))
"""

WAIT = 30.0
"""Seconds to wait for another search that writes to the same file."""


@dataclass(frozen=True)
class Results:
    """What is known of one problem on one kind of machine; `file` is told to people who read the table."""

    connection: sqlite3.Connection
    problem: str
    site: MachineKind
    file: str

    def known(self, scripts: Iterable[Script]) -> list[Timed]:
        """What came of those scripts that were tried before."""
        rows = self.connection.execute(
            "SELECT script, seconds, failure FROM timed WHERE problem = ? AND processor = ? AND compiler = ?",
            (self.problem, self.site.processor, self.site.compiler),
        )
        found = {script: (seconds, failure) for script, seconds, failure in rows}
        return [Timed(one, *found[text]) for one in scripts if (text := script_text(one)) in found]

    def keep(self, timed: Timed) -> None:
        """Store an outcome, committed immediately."""
        key = (self.problem, self.site.processor, self.site.compiler, script_text(timed.script))
        with self.connection:
            self.connection.execute(
                "INSERT OR REPLACE INTO timed VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*key, self.file, timed.seconds, timed.failure),
            )


@contextmanager
def results(path: str, problem: str, site: MachineKind, file: str) -> Iterator[Results]:
    """The results in a file, which is created if it does not exist."""
    connection = None
    try:
        connection = sqlite3.connect(path, timeout=WAIT)
        _prepare(connection, path)
        yield Results(connection, problem, site, file)
    except sqlite3.Error as failure:
        message = f"cannot keep results in this file: {failure}"
        raise BadInput(Code.FILE, message, span=Span.start_of(path), hint=HINT) from None
    finally:
        if connection is not None:
            connection.close()


HINT = "give --results an SQLite file of an earlier search, or the name of a new file"


def _prepare(connection: sqlite3.Connection, path: str) -> None:
    """Initialise an empty file; leave a file of another program unchanged."""
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if tables and application != APPLICATION:
        raise BadInput(
            Code.FILE, "another program made this SQLite file", span=Span.start_of(path), hint=HINT
        )
    with connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(TABLE)
