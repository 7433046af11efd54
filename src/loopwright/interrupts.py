"""An interrupt shows no traceback while `loopwright`, or `python -m loopwright`, loads its modules.

Python loads the package before anything of the command runs that could catch it: so this comes first.
"""

import os
import sys
from types import TracebackType

INTERRUPTED = 130
"""The exit status of what SIGINT ended: 128 and its number."""


def end_interrupted() -> None:
    os.write(2, b"loopwright: interrupted\n")
    os._exit(INTERRUPTED)


def _shown(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        end_interrupted()
    sys.__excepthook__(kind, error, trace)


# while Python loads the package of `-m`, that is the first argument
if {os.path.basename(one) for one in sys.argv[:1]} & {"-m", "loopwright"}:
    sys.excepthook = _shown
