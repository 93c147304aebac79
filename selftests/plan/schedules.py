#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Load schedules from files with morphctl, run their steps, and show them, as owner of the slice.
Prints TAP.

The tests read light from the kernel's dump of circuits, which `morphctl schedule` does not use.
"""

import json
import os
import subprocess
import sys
import tempfile

from place import MORPHCTL, PATIENCE_S, run

OWNER = 1000
INVALID = 10     # exit status
STEPS = """
loop: true
circuits:
- {src-rank: 0, dst-rank: 1}
- {src-rank: 1, dst-rank: 0, lanes-count: 2}
- {src-rank: 2, dst-rank: 3}
steps:
- {circuits: [0, 1]}
- {circuits: [0, 2]}
- {circuits: []}
"""


def schedule(*words, status=0, text=None, user=None):
    """The answer of `morphctl schedule` as JSON if it has one, or its message."""
    options = () if words[0] == "unload" else ("--json",)
    done = subprocess.run([MORPHCTL, "schedule", *map(str, words), *options], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S, check=False, input=text, user=user)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout) if done.stdout.strip() else done.stderr


def lit(rack, name, *pairs):
    """Whether exactly these pairs of ranks have light; no pairs: no light. Circuits of the next
    step may be lit early."""
    there = {(circuit["src-rank"], circuit["dst-rank"]) for circuit in rack.ask("circuit", "list", name)
             if circuit["state"] == "lit"}
    return there >= set(pairs) if pairs else not there


def gone_through(rack):
    """Each step lights its circuits. The first step follows the last one."""
    rack.do("slice", "create", "job", "--count", 4)
    loaded = schedule("load", "job", "-", text=STEPS)
    number = loaded["id"]
    assert (loaded["state"], loaded["steps-count"], loaded["circuits-count"]) == ("loaded", 3, 3), loaded
    assert "lit-step" not in loaded and lit(rack, "job")
    assert schedule("start", "job", number)["position"] == 1
    assert lit(rack, "job", (0, 1), (1, 0))
    assert schedule("go", "job", number, "--position", 2)["lit-step"] == 1
    assert lit(rack, "job", (0, 1), (2, 3))
    assert schedule("go", "job", number, "--position", 2)["position"] == 2
    assert schedule("go", "job", number)["lit-step"] == 2
    assert schedule("go", "job", number)["lit-step"] == 0
    told = schedule("show", "job", number)
    assert [step["runs-count"] for step in told["steps"]] == [2, 1, 1], told
    assert [step["circuits-count"] for step in told["steps"]] == [2, 2, 0], told
    assert [(one["id"], one["state"]) for one in schedule("list", "job")] == [(number, "running")]
    assert schedule("stop", "job", number)["state"] == "loaded" and lit(rack, "job")
    assert schedule("start", "job", number, "--step", 1)["lit-step"] == 1
    schedule("unload", "job", number)
    assert schedule("list", "job") == [] and lit(rack, "job")
    rack.end("job")


BARRIERS = STEPS.replace("[0, 2]}", "[0, 2], begin: barrier}")


def jumped_and_waited(rack):
    """Any step can be the next one. Waiting ranks continue when their step is lit, after the last
    rank has arrived."""
    rack.do("slice", "create", "job", "--count", 4)
    number = schedule("load", "job", "-", text=BARRIERS)["id"]
    schedule("start", "job", number)
    # Add or remove a circuit of each of the ranks 0 to 3.
    waits = subprocess.Popen([MORPHCTL, "schedule", "wait", "job", str(number), "2", "--json"], stdout=subprocess.PIPE, text=True)
    for rank in range(4):
        assert waits.poll() is None
        schedule("arrive", "job", number, rank, 1)
    told = json.loads(waits.communicate(timeout=PATIENCE_S)[0])
    assert waits.returncode == 0 and (told["lit-step"], told["position"]) == (1, 2), told
    assert lit(rack, "job", (0, 1), (2, 3))
    assert schedule("wait", "job", number, 2)["position"] == 2
    # Go over the dark step to the first one.
    told = schedule("jump", "job", number, 0, "--position", 3)
    assert (told["lit-step"], told["position"]) == (0, 3) and lit(rack, "job", (0, 1), (1, 0)), told
    assert schedule("jump", "job", number, 0, "--position", 3)["position"] == 3
    schedule("jump", "job", number, 9, status=INVALID)
    schedule("arrive", "job", number, 0, 99, status=INVALID)
    schedule("arrive", "job", number, 9, 1, status=3)
    # Nothing waits for a stopped schedule.
    waits = subprocess.Popen([MORPHCTL, "schedule", "wait", "job", str(number), "9"], stderr=subprocess.PIPE, text=True)
    schedule("stop", "job", number)
    assert waits.communicate(timeout=PATIENCE_S)[1] and waits.returncode == 1
    schedule("unload", "job", number)
    rack.end("job")


def by_its_owner(rack):
    """The owner needs no privilege. Other users have no access."""
    rack.do("slice", "create", "job", "--count", 4, "--owner", OWNER)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(STEPS)
        file.flush()
        os.chmod(file.name, 0o644)
        number = schedule("load", "job", file.name, user=OWNER)["id"]
    assert schedule("start", "job", number, user=OWNER)["state"] == "running"
    assert lit(rack, "job", (0, 1), (1, 0))
    schedule("list", "job", status=4, user=OWNER + 1)
    schedule("unload", "job", number, user=OWNER)
    rack.end("job")


def refused(rack):
    """An impossible request names its reason and the circuit, and loads nothing."""
    rack.do("slice", "create", "job", "--count", 4)
    rank = STEPS.replace("dst-rank: 3", "dst-rank: 9")
    assert "[circuit 2]" in schedule("load", "job", "-", text=rank, status=3)
    assert "[step " not in schedule("load", "job", "-", text=STEPS + "generation: 99\n", status=6)
    assert schedule("list", "job") == []
    schedule("list", "nonsense", status=3)
    schedule("show", "job", 5, status=3)
    assert "no schedule 5" in schedule("start", "job", 5, status=3)
    number = schedule("load", "job", "-", text=STEPS)["id"]
    schedule("start", "job", number, "--step", 3, status=INVALID)
    schedule("unload", "job", number, number + 1, status=7)
    rack.end("job")


TESTS = (gone_through, jumped_and_waited, by_its_owner, refused)

if __name__ == "__main__":
    sys.exit(run(TESTS, "server8"))
