"""`python -m loopwright`, and the command `loopwright`.

An interrupt shows no traceback, even while modules are loaded.
"""

import os

INTERRUPTED = 3
"""The exit status for no answer."""


def main() -> None:
    try:
        from loopwright.cli.main import main as command_line

        command_line()
    except KeyboardInterrupt:
        os.write(2, b"loopwright: interrupted\n")
        os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
