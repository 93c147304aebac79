#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Place slices on a rack, and compare their light with the plan. Prints TAP.

`morphctl place --apply --json` writes the plan. The tests check it with the kernel's dumps only:
the accelerators of the slice, and the fibres among the guides of each circuit.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback

CONFIGFS = "/sys/kernel/config/morph_sim"
DEBUGFS = "/sys/kernel/debug/morph_sim/place"
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MORPHCTL = os.path.join(TOP, "build/tools/morphctl/morphctl")
PATIENCE_S = 20 * int(os.environ.get("SLOWNESS", 1))
SERVERS, OF_SERVER = 16, 4
# Servers in which other slices have accelerators, so that no box of 2x4x4 (eight servers) is free.
TENANTS = (0, 3, 5, 6, 9, 10)


class Rack:
    """One or several simulated racks, with calls of morphctl."""

    def __init__(self, profile="rack64", name="place"):
        self.profile, self.name = profile, name
        self.hosts, self.fibre_ends = {}, {}    # properties that do not change, read once

    def __enter__(self):
        os.mkdir(os.path.join(CONFIGFS, self.name))
        self.write("profile", self.profile)
        self.write("live", "1")
        return self

    def __exit__(self, *_):
        self.write("live", "0")
        os.rmdir(os.path.join(CONFIGFS, self.name))

    def write(self, attribute, text):
        with open(os.path.join(CONFIGFS, self.name, attribute), "w", encoding="ascii") as file:
            file.write(text)

    def ask(self, *words, status=0):
        """The answer of morphctl as JSON, and its messages."""
        done = subprocess.run([MORPHCTL, *map(str, words), "--json", "--fabric", self.name], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=6 * PATIENCE_S, check=False)
        assert done.returncode == status, (words, done.returncode, done.stdout[-2000:], done.stderr)
        return json.loads(done.stdout) if done.stdout.strip() else done.stderr

    def says(self, *words):
        """Messages of morphctl besides its answer."""
        return subprocess.run([MORPHCTL, *map(str, words), "--fabric", self.name], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, timeout=6 * PATIENCE_S, check=False).stderr

    def do(self, *words):
        """Run a command without an answer."""
        subprocess.run([MORPHCTL, *map(str, words), "--fabric", self.name], stdout=subprocess.DEVNULL, check=True,
                       timeout=6 * PATIENCE_S)

    def ends_of_fibres(self):
        """The elements at both ends of each guide between servers, by guide."""
        if not self.fibre_ends:
            self.fibre_ends = {guide["id"]: (guide["a-index"], guide["b-index"]) for guide in self.ask("guide", "list")
                               if guide["class"] == "fibre"}
        return self.fibre_ends

    def fibres(self):
        """Guides between servers."""
        return set(self.ends_of_fibres())

    def host(self, element):
        """The server of an element's tile."""
        if not self.hosts:
            chips = {chip["id"]: chip["host"] for chip in self.ask("accelerator", "list")}
            self.hosts = {one["id"]: chips.get(one.get("tile")) for one in self.ask("element", "list")}
        return self.hosts[element]

    def between(self, src, dst):
        """Fibres that lead from one server to another. Light enters at end a."""
        return [guide for guide, (a, b) in self.ends_of_fibres().items() if self.host(a) == src and self.host(b) == dst]

    def fault(self, text=None):
        """Inject a fault, or clear all faults."""
        with open(os.path.join(os.path.dirname(DEBUGFS), self.name, "fault" if text else "clear"), "w", encoding="ascii") as file:
            file.write(text or "all")

    def end(self, *slices):
        """Delete slices, and wait until their accelerators are dark."""
        if slices:
            self.do("slice", "delete", *slices)
        until = time.monotonic() + PATIENCE_S
        while any(chip["use"] == "draining" for chip in self.ask("accelerator", "list")):
            assert time.monotonic() < until, "accelerators stay dark for ever"
            time.sleep(0.05)


def crossed(circuit, fibres):
    """The fibres of a circuit, in the direction of light."""
    return [guide for guide in circuit["guides"] if guide in fibres]


def held(circuits):
    """State of circuits, for comparison."""
    return sorted((circuit["slice"], circuit["id"], circuit["state"], circuit["lane-mask"], tuple(circuit["guides"]))
                  for circuit in circuits)


def check_lit(rack, name, plan):
    """The slice has the accelerators of the plan. Each of its circuits is lit on exactly the
    planned fibres."""
    fibres = rack.fibres()
    ranks = rack.ask("slice", "show", name)["ranks"]
    assert [(rank["rank"], rank["accelerator"]) for rank in ranks] == \
        [(rank["rank"], rank["accelerator"]) for rank in plan["ranks"]]
    circuits = rack.ask("circuit", "list", name)
    assert all(circuit["state"] == "lit" for circuit in circuits), {circuit["state"] for circuit in circuits}
    assert all(circuit["lane-mask"].bit_count() == plan["lanes-count"] for circuit in circuits)
    lit = sorted((circuit["src-rank"], circuit["dst-rank"], crossed(circuit, fibres)) for circuit in circuits)
    planned = sorted((circuit["src-rank"], circuit["dst-rank"], circuit.get("guides", []))
                     for circuit in plan.get("circuits", []))
    assert lit == planned, next(pair for pair in zip(lit, planned) if pair[0] != pair[1])
    assert len(circuits) == plan["circuits-count"]
    if plan["tier"] != "crossing":      # with crossing, a fibre through a switch is several guides
        assert sum(len(guides) for _src, _dst, guides in lit) == plan["fibres-count"]


def tenants(rack):
    """Slices of other tenants on several servers. The kernel chooses their paths."""
    chance = random.Random(5)
    chips = [OF_SERVER * server + tile for server in TENANTS for tile in range(OF_SERVER)]
    chance.shuffle(chips)
    names = []
    for first in range(0, len(chips), OF_SERVER):
        names.append(f"tenant{first // OF_SERVER}")
        chosen = ",".join(map(str, chips[first:first + OF_SERVER]))
        rack.do("slice", "create", names[-1], "--accelerators", chosen)
        rack.do("circuit", "apply-ring", names[-1])
    return names


def empty_rack(rack):
    """A box in an empty rack."""
    plan = rack.ask("place", "box", "--shape", "2x4x4", "--apply")
    assert plan["tier"] == "contiguous" and plan["ranks-count"] == 32 and plan["circuits-count"] == 160
    check_lit(rack, "box", plan)
    rack.end("box")


def whole_rack(rack):
    """A torus on all accelerators of the rack, with all of their ports."""
    plan = rack.ask("place", "whole", "--shape", "4x4x4", "--apply")
    assert plan["circuits-count"] == 384
    check_lit(rack, "whole", plan)
    rack.end("whole")


def among_other_tenants(rack):
    """A stitched slice in the space that other slices leave, across their servers. These do not
    change."""
    names = tenants(rack)
    before = held(rack.ask("circuit", "list"))
    lit = {guide for circuit in before for guide in circuit[4]}
    plan = rack.ask("place", "stitched", "--shape", "2x4x4", "--apply")
    assert plan["tier"] == "stitched"
    assert not {rank["host"] for rank in plan["ranks"]} & set(TENANTS)
    assert any(set(circuit["hosts"]) & set(TENANTS) for circuit in plan["circuits"]), \
        "no light crosses the servers of other tenants"
    assert not {guide for circuit in plan["circuits"] for guide in circuit.get("guides", [])} & lit
    check_lit(rack, "stitched", plan)
    after = [circuit for circuit in held(rack.ask("circuit", "list")) if circuit[0] != plan["new-slice"]["id"]]
    assert after == before
    rack.end("stitched", *names)


def wavelengths(rack):
    """Circuits use the wavelengths of the plan. A circuit that would share a fibre is refused, and
    so are the others of its request."""
    plan = rack.ask("place", "waves", "--shape", "2x2x4", "--wavelengths", "4", "--apply")
    check_lit(rack, "waves", plan)
    planned = {(circuit["src-rank"], circuit["dst-rank"]): circuit.get("lane-mask") for circuit in plan["circuits"]}
    assert any(planned.values())
    for circuit in rack.ask("circuit", "list", "waves"):
        lanes = planned[circuit["src-rank"], circuit["dst-rank"]]
        assert lanes is None or not circuit["lane-mask"] & ~lanes, circuit
    before = held(rack.ask("circuit", "list"))
    assert rack.ask("place", "--mesh", "7", "--wavelengths", "4")["verdict"] == "feasible"
    told = rack.ask("place", "shared", "--mesh", "7", "--wavelengths", "4", "--apply", status=5)
    assert "no elements that separate" in told, told
    # The command has waited for the end of the slice.
    assert "shared" not in {entry.get("name") for entry in rack.ask("slice", "list")}
    assert held(rack.ask("circuit", "list")) == before
    rack.end("waves")


def other_shapes(rack):
    """Rings with several lanes, meshes, single accelerators. Each is placed beside the earlier
    ones."""
    wishes = [("ring", ["--ring", "10", "--lanes", "2"]), ("mesh", ["--mesh", "6"]), ("count", ["--count", "7"]),
              ("box", ["--shape", "2x2x4"]), ("row", ["--shape", "3x2"]), ("own", ["--ring", "4", "--transit", "own"])]
    plans = {name: rack.ask("place", name, *wish, "--apply") for name, wish in wishes}
    for name, plan in plans.items():
        check_lit(rack, name, plan)
    assert plans["ring"]["lanes-count"] == 2 and "transactions" not in plans["count"]
    rack.end(*plans)


def refused(rack):
    """An impossible placement gives its reason, and changes nothing."""
    names = tenants(rack)
    answer = rack.ask("place", "none", "--shape", "4x4x4", "--apply", status=1)
    assert answer["verdict"] == "infeasible" and answer["refusals"][0]["reason"] == "count"
    assert answer["refusals"][0]["have"] == 64 - OF_SERVER * len(TENANTS)
    assert {entry["name"] for entry in rack.ask("slice", "list")} == set(names)
    # The name is in use. The kernel refuses it after the planning.
    assert "tenant0" in rack.ask("place", "tenant0", "--count", "1", "--apply", status=1)
    assert {entry["name"] for entry in rack.ask("slice", "list")} == set(names)
    rack.end(*names)


def unusable(rack):
    """Plans use no cordoned or failed hardware."""
    first = rack.ask("place", "--ring", "8")
    fibre = next(circuit["guides"][0] for circuit in first["circuits"] if "guides" in circuit)
    chip = first["ranks"][0]["accelerator"]
    rack.do("guide", "cordon", fibre)
    rack.do("accelerator", "fail", chip)
    plan = rack.ask("place", "ring", "--ring", "8", "--apply")
    assert chip not in {rank["accelerator"] for rank in plan["ranks"]}
    assert fibre not in {guide for circuit in plan["circuits"] for guide in circuit.get("guides", [])}
    check_lit(rack, "ring", plan)
    rack.end("ring")
    rack.do("guide", "uncordon", fibre)
    rack.do("accelerator", "test", chip)


def spares(rack):
    """After a move of a spare's role, plans use the former spare, and not the new one."""
    count = len(rack.ask("accelerator", "list"))
    assert "refusals" in rack.ask("place", "--count", "65", status=1)
    rack.do("spare", "remove", *range(64, count))
    rack.do("spare", "add", 0, 1)
    plan = rack.ask("place", "all", "--count", count - 2, "--apply")
    assert {rank["accelerator"] for rank in plan["ranks"]} == set(range(2, count))
    rack.end("all")
    rack.do("spare", "remove", 0, 1)
    rack.do("spare", "add", *range(64, count))


def reservations(rack):
    """Fibres that a controller has reserved need its token, both for planning and for lighting."""
    rack.do("controller", "take", 7, "--epoch", 1, "--lease", 600)
    first = rack.ask("place", "--shape", "2x2x4")
    mine = {guide for circuit in first["circuits"] for guide in circuit.get("guides", [])}
    lanes = rack.ask("fabric", "show")["wavelengths-count"]
    for guide in mine:
        rack.do("controller", "reserve", 7, guide, lanes, "--epoch", 1)
    token = ["--controller", 7, "--epoch", 1]
    other = rack.ask("place", "others", "--shape", "2x2x4", "--apply")
    assert not {guide for circuit in other["circuits"] for guide in circuit.get("guides", [])} & mine
    check_lit(rack, "others", other)
    rack.end("others")
    plan = rack.ask("place", "mine", "--shape", "2x2x4", "--apply", *token)
    assert {guide for circuit in plan["circuits"] for guide in circuit.get("guides", [])} == mine
    assert plan["new-slice"]["controller"] == 7
    check_lit(rack, "mine", plan)
    rack.end("mine")
    rack.do("controller", "drop", 7)


def protected(rack):
    """Fibres that the failover of a running slice needs are not planned, unless the request allows
    that."""
    rack.ask("place", "safe", "--shape", "2x2x4", "--apply")
    fibres = sorted(rack.fibres())
    random.Random(2).shuffle(fibres)
    # Few enough that they do not block the request.
    rack.do("guide", "cordon", *fibres[:96])
    for first in range(96, len(fibres), 16):
        rack.do("guide", "cordon", *fibres[first:first + 16])
        said = rack.says("place", "--shape", "2x4x4")
        if said:
            break
    assert "--unprotect uses these" in said, said
    plan = rack.ask("place", "bold", "--shape", "2x4x4", "--unprotect", "--apply")
    check_lit(rack, "bold", plan)
    rack.do("guide", "uncordon", *fibres)
    rack.end("safe", "bold")


def divergence(rack):
    """Compare the reservations with the solution: none, all, and more than the solution."""
    rack.do("controller", "take", 8, "--epoch", 1, "--lease", 600)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"decision-epoch": 2, "ways": 1,
                   "demands": [{"src-host": 0, "dst-host": 4, "amount-lanes": 20, "controller": 8}]}, file)
        file.flush()
        told = rack.ask("te", "divergence", file.name)
        assert told["controllers"] == [{"controller": 8, "lanes-count": 20, "reserved-lanes-count": 0,
                                        "missing-lanes-count": 20, "surplus-lanes-count": 0,
                                        "difference-percent": 100.0}], told
        fibre, other = rack.between(0, 4)[:2]
        rack.do("controller", "reserve", 8, fibre, 16, "--epoch", 1)
        rack.do("controller", "reserve", 8, other, 4, "--epoch", 1)
        told = rack.ask("te", "divergence", file.name)
        assert told["controllers"][0]["difference-percent"] == 0 and not told["differences"], told
        rack.do("controller", "reserve", 8, other, 7, "--epoch", 1)
        told = rack.ask("te", "divergence", file.name)
        assert told["differences"] == [{"controller": 8, "src-host": 0, "dst-host": 4, "lanes-count": 20,
                                        "reserved-lanes-count": 23}], told
    rack.do("controller", "drop", 8)


def hysteresis(rack):
    """Read the last rounding from the kernel: half a lane is rounded as before, in any epoch.
    Without an earlier decision it is random."""
    def lanes(epoch):
        json.dump({"decision-epoch": epoch, "ways": 1,
                   "demands": [{"src-host": 0, "dst-host": 4, "amount-lanes": 2.5, "controller": 8},
                               {"src-host": 4, "dst-host": 0, "amount-lanes": 2.5, "controller": 9}]},
                  open(file.name, "w"))
        return [(path.get("last-lanes-count"), path["lanes-count"]) for path in rack.ask("te", "solve", file.name)["paths"]]

    rack.do("controller", "take", 8, "--epoch", 1, "--lease", 600)
    fibre = rack.between(0, 4)[0]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        free = [lanes(epoch) for epoch in range(6)]
        assert {path[0] for path in free} == {path[1] for path in free} == {(None, 2), (None, 3)}, free
        for held in (2, 3):
            rack.do("controller", "reserve", 8, fibre, held, "--epoch", 1)
            told = [lanes(epoch) for epoch in range(6)]
            assert {path[0] for path in told} == {(held, held)}, told
            assert [path[1] for path in told] == [path[1] for path in free], told
    rack.do("controller", "drop", 8)


def on_behalf(rack):
    """A slice belongs to a controller from its creation, and apply changes it only with that
    controller's token."""
    rack.do("controller", "take", 9, "--epoch", 1, "--lease", 600)
    made = rack.ask("slice", "create", "theirs", "--accelerators", "0,1", "--controller", 9)
    assert made["controller"] == 9
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"slices": [{"name": "theirs", "accelerators": [0, 1], "circuits": [{"src-rank": 0, "dst-rank": 1}]},
                              {"name": "new", "accelerators": [2, 3], "ring": {}}]}, file)
        file.flush()
        rack.ask("apply", file.name, status=4)
        assert not rack.ask("circuit", "list")
        rack.ask("apply", file.name, "--controller", 9, "--epoch", 1)
    assert rack.ask("slice", "show", "new")["controller"] == 9
    assert len(rack.ask("circuit", "list", "theirs")) == 1
    rack.end("theirs", "new")
    rack.do("controller", "drop", 9)


TESTS = (empty_rack, whole_rack, among_other_tenants, wavelengths, other_shapes, refused, unusable, spares, reservations,
         protected, divergence, hysteresis, on_behalf)


def run(tests, profile="rack64"):
    """Run tests one after the other on one fabric. After a failure, clear its state."""
    print(f"TAP version 13\n1..{len(tests)}", flush=True)
    failed = 0
    with Rack(profile) as rack:
        for number, test in enumerate(tests, 1):
            try:
                test(rack)
                print(f"ok {number} {test.__name__}", flush=True)
            except (AssertionError, subprocess.SubprocessError, LookupError, ValueError, StopIteration):
                failed += 1
                print(*("# " + line for line in traceback.format_exc().splitlines()), sep="\n")
                print(f"not ok {number} {test.__name__}", flush=True)
                rack.fault()
                rack.end(*(entry["id"] for entry in rack.ask("slice", "list")))
                if fibres := rack.fibres():
                    rack.do("guide", "uncordon", *fibres)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(run(TESTS))
