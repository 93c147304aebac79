# SPDX-License-Identifier: GPL-2.0-only
"""Run a program that may hang."""

import os
import signal
import subprocess
import sys
import tempfile

PATIENCE_SECONDS = 10   # seconds until a killed program must be gone


def run(command, timeout, environment=None):
    """Return output, status and whether the program timed out. Kills the whole session of the
    program.

    Output goes to a file. With a pipe, the reader would wait for every process that holds it open.
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
    """Raise an exception on SIGTERM, so that cleanup code ends all started programs."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def ends(child, timeout):
    try:
        child.wait(timeout)
        return True
    except subprocess.TimeoutExpired:
        return False
