#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Signals end morphctl commands of several steps. Prints TAP.

A command that SIGINT, SIGTERM or SIGHUP ends leaves all of its changes or none. The same command
then succeeds.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import place

SLICES = ("first", "second", "third")
WISH = {"slices": [{"name": name, "ranks-count": 4, "ring": {}} for name in SLICES]}
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def begin(*words, waiting=None):
    """Start morphctl. A signal of @waiting is pending before it begins."""
    def prepare():
        if waiting:
            signal.pthread_sigmask(signal.SIG_BLOCK, (waiting,))
            os.kill(os.getpid(), waiting)

    return subprocess.Popen([place.MORPHCTL, *words, "--fabric", "place"], stdout=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, text=True, preexec_fn=prepare)


def end(process, ending):
    """The messages of a command that the signal has ended."""
    _, said = process.communicate(timeout=6 * place.PATIENCE_S)
    assert process.returncode == -ending, (process.returncode, said)
    return said


def names(rack):
    return {entry["name"] for entry in rack.ask("slice", "list")}


def apply_undone(rack):
    """apply ends between two steps, and undoes the earlier ones."""
    rack.fault("programming_timeout - every=1 late=50000000")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(WISH, file)
        file.flush()
        for ending in ENDING:
            process = begin("apply", file.name)
            until = time.monotonic() + place.PATIENCE_S
            while not names(rack):
                assert time.monotonic() < until and process.poll() is None, process.communicate()
            process.send_signal(ending)
            said = end(process, ending)
            assert f"{signal.Signals(ending).name} received" in said and "nothing was changed" in said, said
            assert not names(rack) and {txn["outcome"] for txn in rack.ask("txn", "list")} <= {"rolled-back"}
        rack.ask("apply", file.name)
        assert names(rack) == set(SLICES) and not rack.ask("apply", file.name)["changes"]
    rack.fault()
    rack.end(*SLICES)


def place_undone(rack):
    """place --apply deletes the slice that it has created."""
    for ending in ENDING:
        said = end(begin("place", "box", "--shape", "2x2x4", "--apply", waiting=ending), ending)
        assert "received" in said and "has deleted the slice again" in said, said
        assert not names(rack), names(rack)
    place.check_lit(rack, "box", rack.ask("place", "box", "--shape", "2x2x4", "--apply"))
    rack.end("box")


def remains_named(rack):
    """The refusal of a name says that a killed command may have left the slice."""
    rack.do("slice", "create", "box", "--count", 2)
    said = rack.ask("place", "box", "--ring", "8", "--apply", status=1)
    assert "has no circuits" in said and "slice delete box" in said, said
    rack.end("box")


if __name__ == "__main__":
    sys.exit(place.run((apply_undone, place_undone, remains_named)))
