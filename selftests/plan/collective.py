#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the light of a slice with the plan of `morphctl plan --load`, step by step. Prints TAP.

The test computes the circuits of a step from the holds in the plan. It reads the light from the
simulator's receivers and lasers, which do not depend on plan or driver.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

from place import DEBUGFS, MORPHCTL, PATIENCE_S, run

PLANES = 6
SLOW = "round=2000,settle=200000"


def plan(collective, name, *words, status=0):
    """The answer of `morphctl plan` as JSON, or its message."""
    done = subprocess.run([MORPHCTL, "plan", collective, "--slice", name, *map(str, words), "--json"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=6 * PATIENCE_S, check=False)
    assert done.returncode == status, (words, done.returncode, done.stdout[-400:], done.stderr)
    return json.loads(done.stdout) if done.stdout.strip() else done.stderr


def schedule(*words, status=0):
    """The answer of `morphctl schedule` as JSON, or its message."""
    options = () if words[0] == "unload" else ("--json",)
    done = subprocess.run([MORPHCTL, "schedule", *map(str, words), *options], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=PATIENCE_S, check=False)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout) if done.stdout.strip() else done.stderr


def planned(answer):
    """The held circuits of each step: (plane, sending rank, receiving rank)."""
    matchings = {one["matching"]: one["circuits"] for one in answer["matchings"]}
    holds, steps = answer["holds"], []
    for now in sorted({hold["set-at-ns"] for hold in holds}):
        ports = {}
        for hold in holds:
            if hold["set-at-ns"] == now or hold["set-at-ns"] < now < hold["dark-at-ns"]:
                for circuit in matchings[hold["matching"]]:
                    ports[hold["plane"], circuit["src-rank"]] = circuit["dst-rank"]
        held = {(plane, src, dst) for (plane, src), dst in ports.items()}
        if not steps or held != steps[-1]:
            steps.append(held)
    return steps


def hardware():
    """Lanes that receivers have locked to, and that lasers emit, by port."""
    locked, emits = {}, {}
    with open(os.path.join(DEBUGFS, "hardware"), encoding="ascii") as file:
        for line in file:
            if found := re.match(r"receiver (\d+) lit 0x\w+ locked 0x(\w+)", line):
                locked[int(found[1])] = int(found[2], 16)
            elif found := re.match(r"laser (\d+) on 0x\w+ emits 0x(\w+)", line):
                emits[int(found[1])] = int(found[2], 16)
    return {port: lanes for port, lanes in locked.items() if lanes}, {port: lanes for port, lanes in emits.items() if lanes}


def accelerators(rack, name):
    """Accelerators of the ranks, in order of rank."""
    return [rank["accelerator"] for rank in rack.ask("slice", "show", name)["ranks"]]


def seen(rack, name, now, after):
    """All ports of a step have light on the planned number of lanes. Other ports are dark, unless
    the next step uses them."""
    chips = accelerators(rack, name)
    sends = {(plane, src): chips[src] * PLANES + plane for plane, src, _dst in now | after}
    receives = {(plane, dst): chips[dst] * PLANES + plane for plane, _src, dst in now | after}
    locked, emits = hardware()
    ours = {chip * PLANES + plane for chip in chips for plane in range(PLANES)}
    for ports, lit, index in ((sends, emits, 1), (receives, locked, 2)):
        must = {ports[circuit[0], circuit[index]] for circuit in now}
        may = set(ports.values())
        there = ours & set(lit)
        if not must <= there <= may:
            return f"{sorted(must)}, perhaps {sorted(may)}, but {sorted(there)}"
    return None


def joined(rack, name, now):
    """Light by sender and receiver, from the dump of circuits. Receivers detect light but not its
    source."""
    lit = {(one["src-plane"], one["src-rank"], one["dst-rank"]) for one in rack.ask("circuit", "list", name)
           if one["state"] == "lit"}
    return now <= lit


def check_step(rack, name, steps, number):
    """Receivers need time to settle, and circuits of a later step may be lit early. Then the light
    matches the plan."""
    after = steps[number + 1] if number + 1 < len(steps) else set()
    until = time.monotonic() + PATIENCE_S
    while wrong := seen(rack, name, steps[number], after):
        assert time.monotonic() < until, (number, wrong)
        time.sleep(0.05)
    assert joined(rack, name, steps[number]), number


def go_through(rack, name, answer, between=None):
    """Check each step of the loaded schedule. Call @between once, in the middle."""
    steps, number = planned(answer), answer["loaded"]["id"]
    assert answer["light"]["verdict"] == "feasible" and answer["loaded"]["state"] == "loaded", answer["light"]
    assert len(steps) == answer["light"]["steps-count"] == answer["loaded"]["steps-count"], (len(steps), answer["light"])
    schedule("start", name, number)
    for step in range(len(steps)):
        if step:
            told = schedule("go", name, number, "--position", step + 1)
            assert (told["lit-step"], told["state"]) == (step, "running"), told
        check_step(rack, name, steps, step)
        if between and step == len(steps) // 2:
            between()
            check_step(rack, name, steps, step)
    assert "status" not in schedule("show", name, number)
    schedule("stop", name, number)
    schedule("unload", name, number)
    return len(steps)


def collectives(rack, ranks, *asked):
    """Load all of them on one slice, one after the other."""
    rack.do("slice", "create", "job", "--accelerators", ",".join(map(str, range(ranks))))
    most = max(go_through(rack, "job", plan(collective, "job", *how, "--load")) for collective, *how in asked)
    assert most > 2, most
    rack.end("job")


def four(rack):
    """Among four ranks."""
    collectives(rack, 4, ("all-reduce",), ("all-reduce", "--algorithm", "halving", "--policy", "each-round"),
                ("all-to-all",), ("all-to-all", "--planes", 2, "--bytes", "16M", "--delay", SLOW),
                ("all-to-all", "--algorithm", "shift", "--planes", 2, "--policy", "overlap", "--delay", SLOW))


def eight(rack):
    """Among eight ranks. A request that exceeds the paths of a server of eight is refused, with the
    missing resource."""
    halving, words = ("all-reduce", "--algorithm", "halving", "--policy", "each-round"), [("all-reduce", "--planes", 2)]
    if rack.profile != "server8":
        collectives(rack, 8, halving, ("all-to-all",), ("all-to-all", "--planes", 2), *words)
        return
    rack.do("slice", "create", "job", "--count", 8)
    answer = plan(halving[0], "job", *halving[1:], "--load", status=1)
    assert answer["light"]["verdict"] == "infeasible" and "; at most" in answer["light"]["text"], answer["light"]
    assert "loaded" not in answer and schedule("list", "job") == []
    answer = plan("all-to-all", "job", "--load")
    assert answer["unlit"][0]["proven"] and answer["light"]["verdict"] == "feasible" and answer["loaded"], answer
    rack.end("job")
    collectives(rack, 8, ("all-to-all", "--delay", SLOW),
                ("all-to-all", "--algorithm", "ternary", "--policy", "each-round", "--delay", SLOW), *words)


def failure(rack):
    """An accelerator fails in the middle. Its spare takes over the rank's light, and the schedule
    continues."""
    rack.do("slice", "create", "job", "--count", 4)
    before = accelerators(rack, "job")

    def fail():
        rack.do("accelerator", "fail", before[1])
        until = time.monotonic() + PATIENCE_S
        while rack.ask("slice", "show", "job")["state"] != "ok" or accelerators(rack, "job")[1] == before[1]:
            assert time.monotonic() < until, rack.ask("slice", "show", "job")
            time.sleep(0.05)

    go_through(rack, "job", plan("all-to-all", "job", "--load"), fail)
    assert accelerators(rack, "job")[1] != before[1]
    # A later plan uses the current accelerators of the ranks.
    go_through(rack, "job", plan("all-to-all", "job", "--load"))
    after = accelerators(rack, "job")
    rack.end("job")
    rack.do("accelerator", "test", before[1])
    rack.do("spare", "remove", before[1])
    rack.do("spare", "add", after[1])


def ways(rack, name):
    """Guides and lanes of all lit circuits, by circuit."""
    return {one["id"]: (one["lane-mask"], tuple(one["guides"])) for one in rack.ask("circuit", "list", name)
            if one["state"] == "lit"}


def beside_other_slices(rack):
    """The plan avoids hardware of another tenant if possible. Otherwise it reports the missing
    resource."""
    rack.do("slice", "create", "theirs", "--accelerators", "1,2,6,5")
    theirs = plan("all-reduce", "theirs", "--planes", 6, "--policy", "one-shot", "--load")["loaded"]["id"]
    schedule("start", "theirs", theirs)
    before = ways(rack, "theirs")
    rack.do("slice", "create", "job", "--accelerators", "0,4,7,3")
    answer = plan("all-to-all", "job", "--algorithm", "shift", "--policy", "each-round", "--load", status=1)
    assert answer["light"]["verdict"] != "feasible" and answer["light"]["text"], answer["light"]
    assert schedule("list", "job") == []
    number = plan("all-reduce", "job", "--load")["loaded"]["id"]
    schedule("start", "job", number)
    assert len(ways(rack, "job")) == 4 and ways(rack, "theirs") == before
    rack.end("job", "theirs")


def its_own(rack):
    """Circuits that the slice has lit itself stay lit, and the plan avoids them, too. No other
    schedule gets hardware that its schedules hold."""
    rack.do("slice", "create", "job", "--accelerators", "0,1,5,4")
    rack.do("circuit", "add", "job", 0, 1, "--src-plane", 5, "--dst-plane", 5)
    before = ways(rack, "job")
    number = plan("all-reduce", "job", "--load")["loaded"]["id"]
    answer = plan("all-reduce", "job", "--load", status=1)
    assert answer["light"]["verdict"] == "infeasible" and answer["light"]["text"], answer["light"]
    schedule("start", "job", number)
    assert before.items() <= ways(rack, "job").items() and len(ways(rack, "job")) == len(before) + 4
    rack.end("job")


def begun(rack):
    """Timed steps begin without a request, at the planned intervals. Barrier steps wait for the
    ranks."""
    rack.do("slice", "create", "job", "--count", 4)
    answer = plan("all-to-all", "job", "--algorithm", "shift", "--policy", "each-round", "--bytes", "64M", "--load",
                  "--begin", "time")
    steps, number = planned(answer), answer["loaded"]["id"]
    schedule("start", "job", number)
    until = time.monotonic() + PATIENCE_S
    while schedule("show", "job", number)["position"] < len(steps):
        assert time.monotonic() < until
        time.sleep(0.05)
    check_step(rack, "job", steps, len(steps) - 1)
    schedule("unload", "job", number)
    number = plan("all-to-all", "job", "--algorithm", "shift", "--load", "--begin", "barrier")["loaded"]["id"]
    schedule("start", "job", number)
    schedule("go", "job", number, status=1)
    assert schedule("show", "job", number)["position"] == 1
    rack.end("job")


def by_a_file(rack):
    """Steps in a file are the same as the loaded ones. They are stale after a rank has moved."""
    rack.do("slice", "create", "job", "--count", 4)
    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
        answer = plan("all-to-all", "job", "--to-steps", file.name)
        assert "loaded" not in answer and schedule("list", "job") == [], answer
        answer["loaded"] = schedule("load", "job", file.name)
        go_through(rack, "job", answer)
        rack.do("replace", "job", 2, "--wait")
        schedule("load", "job", file.name, status=6)
    rack.end("job")


def mistakes(rack):
    """The message names the part that does not fit."""
    rack.do("slice", "create", "job", "--count", 4)
    assert "has 4 ranks, the collective has 8" in plan("all-reduce", "job", "--ranks", 8, status=2)
    plan("all-reduce", "nonsense", status=3)
    answer = plan("all-to-all", "job", "--planes", 7, "--algorithm", "shift", "--load", status=1)
    assert (answer["light"]["have"], answer["light"]["need"]) == (6, 7), answer["light"]
    answer = plan("all-reduce", "job", "--lanes", 17, "--load", status=1)
    assert (answer["light"]["have"], answer["light"]["need"]) == (16, 17), answer["light"]
    assert "loaded" not in plan("all-reduce", "job") and schedule("list", "job") == []
    rack.end("job")


TESTS = (four, eight, failure, beside_other_slices, its_own, begun, by_a_file, mistakes)

if __name__ == "__main__":
    sys.exit(run(TESTS, "server8"))
