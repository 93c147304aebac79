# SPDX-License-Identifier: GPL-2.0-only
"""Run a program that may hang."""

import os
import signal
import subprocess
import sys
import tempfile

PATIENCE_SECONDS = 10   # for a killed program to go


def run(command, timeout, environment=None):
    """Return output, status and whether time ran out. The program's whole session is ended with it.

    Output goes through a file: whoever else still holds a pipe open would keep its reader waiting.
    """
    with tempfile.TemporaryFile() as output:
        try:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                     start_new_session=True, close_fds=False, env=environment)
        except OSError as error:
            return f"{command[0]}: {error.strerror}\n", 127, False
        try:
            timed_out = not ends(child, timeout)
        finally:
            end_group(child.pid)
        gone = ends(child, PATIENCE_SECONDS)
        output.seek(0)
        text = output.read().decode(errors="replace")
    return text if gone else text + "(can't be killed)\n", child.returncode, timed_out


def end_group(leader):
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


def exit_when_told():
    """Unwind on SIGTERM, so that what was started is ended too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def ends(child, timeout):
    try:
        child.wait(timeout)
        return True
    except subprocess.TimeoutExpired:
        return False
