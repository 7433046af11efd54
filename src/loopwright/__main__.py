"""`python -m loopwright`, and the command `loopwright`.

An interrupt shows no traceback, even while modules are loaded.
"""

from loopwright.interrupts import end_interrupted


def main() -> None:
    try:
        from loopwright.cli.main import main as command_line

        command_line()
    except KeyboardInterrupt:
        end_interrupted()


if __name__ == "__main__":
    main()
