#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Reserve lanes of an edge at both of its ends, or at neither. Prints TAP.

Edges join two simulated fabrics. The tests compare the output of `morphctl controller reserve-edge`
with the state that both fabrics report afterwards.
"""

import json
import os
import random
import subprocess
import sys
import time
import traceback

from place import MORPHCTL, PATIENCE_S

CONFIGFS = "/sys/kernel/config/morph_sim"
NAMES = ("edges0", "edges1")
UUIDS = [f"{digit * 8}-{digit * 4}-4{digit * 3}-8{digit * 3}-{digit * 12}" for digit in "12"]
# edge4: the outgoing edge of accelerator 1, and the edge of the peer that it leads to
OUT, IN = 0, 4
EPOCHS = {7: (3, 5), 8: (2, 2)}     # of each controller, by fabric
ROUNDS = 12


class Pair:
    """Two fabrics whose edges face each other, and two controllers that work on both."""

    def __enter__(self):
        for index, name in enumerate(NAMES):
            os.mkdir(os.path.join(CONFIGFS, name))
            for key, text in (("profile", "edge4"), ("uuid", UUIDS[index]), ("peer", UUIDS[not index]), ("live", "1")):
                with open(os.path.join(CONFIGFS, name, key), "w", encoding="ascii") as file:
                    file.write(text)
        self.guides = [self.ask(index, "edge", "show", edge)["guide"] for index, edge in enumerate((OUT, IN))]
        self.lanes = self.ask(0, "guide", "show", self.guides[0])["lane-mask"]
        return self

    def __exit__(self, *_):
        for name in NAMES:
            with open(os.path.join(CONFIGFS, name, "live"), "w", encoding="ascii") as file:
                file.write("0")
            os.rmdir(os.path.join(CONFIGFS, name))

    @staticmethod
    def command(fabric, *words):
        return [MORPHCTL, *map(str, words), "--json", "--fabric", NAMES[fabric]]

    def ask(self, fabric, *words, status=0):
        """The answer of morphctl, or its message."""
        done = subprocess.run(self.command(fabric, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=6 * PATIENCE_S, check=False)
        assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
        return json.loads(done.stdout) if done.stdout.strip() else done.stderr

    def begin(self):
        for controller, epochs in EPOCHS.items():
            for fabric, epoch in enumerate(epochs):
                self.ask(fabric, "controller", "take", controller, "--epoch", epoch, "--lease", 3600)

    def end(self):
        for fabric, name in enumerate(NAMES):
            for entry in self.ask(fabric, "slice", "list"):
                subprocess.run([MORPHCTL, "slice", "delete", str(entry["id"]), "--fabric", name], check=True,
                               timeout=6 * PATIENCE_S)
            for entry in self.ask(fabric, "controller", "list"):
                subprocess.run([MORPHCTL, "controller", "drop", str(entry["id"]), "--fabric", name], check=True,
                               timeout=6 * PATIENCE_S)

    @staticmethod
    def words(controller, count, *options, near=0, epochs=None):
        """Reserve at both ends. Either end can be named first."""
        epochs = epochs or EPOCHS[controller]
        return ["controller", "reserve-edge", controller, (OUT, IN)[near], f"{NAMES[not near]}:{(IN, OUT)[near]}",
                count, "--epoch", epochs[near], "--to-epoch", epochs[not near], *options]

    def reserve(self, controller, count, *options, near=0, status=0):
        return self.ask(near, *self.words(controller, count, *options, near=near), status=status)

    def one_end(self, fabric, controller, count, mask):
        self.ask(fabric, "controller", "reserve", controller, self.guides[fabric], count, "--lane-mask", mask,
                 "--epoch", EPOCHS[controller][fabric])

    def reserved(self, controller):
        """Lanes at both ends, as their kernels report them."""
        had = [{entry["guide"]: entry["lane-mask"]
                for entry in self.ask(fabric, "controller", "reservations", controller)} for fabric in (0, 1)]
        return tuple(had[fabric].get(self.guides[fabric], 0) for fabric in (0, 1))

    def conflicts(self, controller):
        return [self.ask(fabric, "controller", "show", controller)["conflicts-count"] for fabric in (0, 1)]


def same_lanes_at_both_ends(pair):
    """Lanes that are free at one end only are not reserved. Reserved lanes stay the same."""
    pair.one_end(0, 8, 2, 0x3)
    pair.one_end(1, 8, 1, 0x4)
    answer = pair.reserve(7, 2)
    assert [(entry["lane-mask"], entry["guide"]) for entry in answer] == \
        [(0x18, guide) for guide in pair.guides], answer
    assert [entry["epoch"] for entry in answer] == list(EPOCHS[7]), answer
    assert pair.reserved(7) == (0x18, 0x18)
    pair.one_end(0, 8, 0, 0x3)
    pair.one_end(1, 8, 0, 0x4)
    pair.reserve(7, 3, near=1)
    assert pair.reserved(7) == (0x19, 0x19)
    pair.reserve(7, 2, "--lane-mask", 0x30)
    assert pair.reserved(7) == (0x30, 0x30)
    assert pair.reserve(7, 0) == [] and pair.reserved(7) == (0, 0)


def conflict_leaves_both_as_they_were(pair):
    """Another controller leaves too few lanes at the far end, or both ends have enough free lanes
    but different ones."""
    pair.reserve(7, 1)
    pair.one_end(0, 7, 2, 0x3)
    had, before = pair.reserved(7), pair.conflicts(7)
    assert had == (0x3, 0x1)
    pair.one_end(1, 8, (pair.lanes & ~0x7).bit_count(), pair.lanes & ~0x7)
    for near in (0, 1):
        says = pair.reserve(7, 4, near=near, status=6)
        assert f"{('second', 'first')[near]} end, edge {IN} of fabric" in says, says
        assert pair.reserved(7) == had
    assert pair.conflicts(7) == [before[0], before[1] + 2]
    pair.one_end(0, 7, 1, 0x1)
    pair.one_end(0, 8, 2, 0x6)
    pair.reserve(7, 2, status=6)
    assert pair.reserved(7) == (0x1, 0x1)
    assert pair.conflicts(7) == [before[0] + 1, before[1] + 2]


def ends_that_are_wrong(pair):
    """Edges that do not lead to each other, or old epochs, change nothing."""
    pair.reserve(7, 1)
    token = ["--epoch", EPOCHS[7][0], "--to-epoch", EPOCHS[7][1]]
    says = pair.ask(0, "controller", "reserve-edge", 7, OUT, f"{NAMES[1]}:{IN + 1}", 2, *token, status=10)
    assert "do not name each other" in says and f"names edge {IN} of fabric {UUIDS[1]}" in says, says
    pair.ask(0, "controller", "reserve-edge", 7, OUT, f"{NAMES[1]}:{IN}", 2, "--epoch", 3, status=6)
    pair.ask(0, "controller", "reserve-edge", 7, OUT, f"nowhere:{IN}", 2, "--epoch", 3, status=3)
    assert pair.reserved(7) == (0x1, 0x1)


def light_is_where_lanes_are_reserved(pair):
    """Lanes in use by the controller's own slice are reserved first. Lanes of a prepared circuit
    cannot be reserved."""
    for fabric in (0, 1):
        pair.ask(fabric, "slice", "create", f"{NAMES[fabric]}-job", "--accelerators", "1,0", "--owner", 0,
                 "--controller", 7)
    token = ["--controller", 7, "--epoch", EPOCHS[7][0]]
    half = ["circuit", "add", "edges0-job", 0, f"edge:{OUT}", *token]
    pair.ask(0, *half, "--lane-mask", 0x10)
    pair.ask(0, *half, "--lane-mask", 0x1, "--prepare", "--lease", 600)
    pair.reserve(7, 2)
    assert pair.reserved(7) == (0x12, 0x12)
    circuits = [(entry["state"], entry["lane-mask"]) for entry in pair.ask(0, "circuit", "list", "edges0-job")]
    assert ("lit", 0x10) in circuits, circuits
    pair.reserve(7, 0)
    assert pair.ask(0, "guide", "show", pair.guides[0])["free-lane-mask"] == pair.lanes & ~0x11


def one_of_two_gets_all(pair):
    """Both controllers request all lanes at the same time, beginning at different ends. One of them
    gets both ends."""
    everything = pair.lanes.bit_count()
    for _ in range(ROUNDS):
        asking = [subprocess.Popen(pair.command(near, *pair.words(controller, everything, near=near)),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                  for near, controller in enumerate(EPOCHS)]
        assert sorted(one.wait(6 * PATIENCE_S) for one in asking) == [0, 6]
        had = [pair.reserved(controller) for controller in EPOCHS]
        assert sorted(had) == [(0, 0), (pair.lanes, pair.lanes)], had
        for controller in EPOCHS:
            pair.reserve(controller, 0)


def killed_during_the_change(pair):
    """After a kill, the next process with the same epoch gets the lanes at both ends, and releases
    them."""
    chance, halves = random.Random(1), 0
    began = time.monotonic()
    pair.reserve(7, 4)
    takes = time.monotonic() - began
    for turn in range(ROUNDS):
        epochs = [epoch + turn for epoch in EPOCHS[7]]
        before = pair.reserved(7)
        asking = subprocess.Popen(pair.command(0, *pair.words(7, 1 + turn % 7, epochs=epochs)),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep((0.5 + chance.random() / 2) * takes)
        asking.kill()
        asking.wait()
        left = pair.reserved(7)
        assert (left[0] & left[1]).bit_count() >= min(1 + turn % 7, (before[0] & before[1]).bit_count()), (before, left)
        halves += left[0] != left[1]
        for fabric, epoch in enumerate(epochs):
            pair.ask(fabric, "controller", "take", 7, "--epoch", epoch + 1, "--lease", 3600, "--force")
        wanted = chance.randrange(6)
        pair.ask(0, *pair.words(7, wanted, epochs=[epoch + 1 for epoch in epochs]))
        near, far = pair.reserved(7)
        assert near == far and near.bit_count() == wanted, (near, far)
    print(f"# {halves} of {ROUNDS} were killed with the ends unlike")


TESTS = (same_lanes_at_both_ends, conflict_leaves_both_as_they_were, ends_that_are_wrong,
         light_is_where_lanes_are_reserved, one_of_two_gets_all, killed_during_the_change)


def main():
    print(f"TAP version 13\n1..{len(TESTS)}", flush=True)
    failed = 0
    with Pair() as pair:
        for number, test in enumerate(TESTS, 1):
            pair.begin()
            try:
                test(pair)
                print(f"ok {number} {test.__name__}", flush=True)
            except (AssertionError, subprocess.SubprocessError, LookupError, ValueError):
                failed += 1
                print(*("# " + line for line in traceback.format_exc().splitlines()), sep="\n")
                print(f"not ok {number} {test.__name__}", flush=True)
            pair.end()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
