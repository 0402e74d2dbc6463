"""The command line: ``storymeter`` and ``python -m storymeter``."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run the command line with the arguments of the process, and end the process."""
    from ._native import run_command_line

    # The program itself ends cleanly when it is interrupted, as its binary does.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    args = ["storymeter", *sys.argv[1:]]
    sys.exit(run_command_line(args, sys.stdout is None))


if __name__ == "__main__":
    main()
