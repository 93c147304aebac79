#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run a command whose standard error is a terminal: terminal.py COMMAND [ARGUMENT...]

Print what the command writes to the terminal, byte by byte, and exit with its status. Its standard
output is discarded.
"""

import os
import pty
import sys


def read_all(terminal):
    """Yield the output until the command has closed the terminal."""
    while True:
        try:
            data = os.read(terminal, 4096)
        except OSError:
            return
        if not data:
            return
        yield data


def main(command):
    child, terminal = pty.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execvp(command[0], command)
    for data in read_all(terminal):
        sys.stdout.buffer.write(data)
    sys.stdout.flush()
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
