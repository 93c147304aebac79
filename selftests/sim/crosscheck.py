#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Hold the simulator's tracer against the one of profiles/morphprofile.py.

    crosscheck.py <program physics> <directory of profiles>     random states; TAP
    crosscheck.py <profile> <dump of debugfs "hardware">        a running fabric
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../profiles"))

import morphprofile     # noqa: E402

PROFILES = ("server4", "edge4", "server8", "smartlight72", "rack64")
SEEDS = 2
FLOOR_MDB = 10000       # below dark: light that the simulator need not follow
MANY_FLOORS_MDB = 6000  # maximum sum of several paths below the limit
ROUNDING_MDB = 20       # of the simulator's integers, and of leaks that it does not follow


class Dump:
    """The lines of the file "hardware"."""

    def __init__(self, profile, lines):
        self.states = profile.parked()
        self.lasers, self.receivers = {}, {}
        self.guides, self.most_drift = {}, 0
        self.incoming = {}
        planes, power = profile.parameters["planes"], profile.parameters["laser_mdbm"]
        for words in map(str.split, lines):
            number = int(words[1]) if words[1].isdigit() else None
            if words[0] == "element":
                self.states[number] = int(words[3])
                self.most_drift = max(self.most_drift, abs(int(words[5])))
            elif words[0] == "guide":
                self.guides[number] = int(words[3])
            elif words[0] == "laser":
                emits, weak = int(words[5], 16), int(words[7], 16)
                self.lasers[divmod(number, planes)] = {
                    lane: power - (int(words[9]) if weak >> lane & 1 else 0)
                    for lane in range(profile.parameters["wavelengths"]) if emits >> lane & 1}
            elif words[0] == "edge":
                self.incoming[number] = self.lasers["edge", number] = self.powers(words)
            elif words[0] == "receiver" and "deaf" not in words:
                self.receivers[divmod(number, planes)] = self.powers(words)

    @staticmethod
    def powers(words):
        """Powers by lane, which end a line."""
        return {int(lane): int(power) for lane, power in
                (word.split(":") for word in words[words.index("power") + 1:])}


def compare(profile, dump):
    """Return errors, and the number of compared powers."""
    tolerance = ROUNDING_MDB + 16 * dump.most_drift
    dark = profile.parameters["dark_mdbm"]
    expected = morphprofile.trace(profile, dump.states, dump.lasers,
                                  extra={"guide": dump.guides})
    complaints, count = [], 0
    expected = {key: powers for key, powers in expected.items() if key[0] != "edge"}
    for receiver in sorted(set(expected) | set(dump.receivers)):
        ours, theirs = dump.receivers.get(receiver, {}), expected.get(receiver, {})
        for lane in sorted(set(ours) | set(theirs)):
            power, right = ours.get(lane), theirs.get(lane)
            if right is None or (power is None and right > dark - FLOOR_MDB + MANY_FLOORS_MDB):
                complaints.append(f"receiver {receiver} lane {lane}: {power}, should be {right}")
            elif power is not None and right > dark:
                count += 1
                if abs(power - right) > tolerance:
                    complaints.append(f"receiver {receiver} lane {lane}: {power}, "
                                      f"should be {right:.0f}")
    return complaints, count


def compare_edges(profile, dumps):
    """Return errors where incoming light at an edge differs from the peer's outgoing light."""
    dark = profile.parameters["dark_mdbm"]
    complaints, count = [], 0
    for dump, peer in zip(dumps, reversed(dumps)):
        leaving = morphprofile.trace(profile, peer.states, peer.lasers)
        for number, ours in dump.incoming.items():
            theirs = leaving.get(("edge", profile.edges[number].peer_edge), {})
            for lane in sorted(set(ours) | set(theirs)):
                power, right = ours.get(lane, -10 ** 6), theirs.get(lane, -10 ** 6)
                if max(power, right) <= dark:
                    continue
                count += 1
                if abs(power - right) > ROUNDING_MDB:
                    complaints.append(f"edge {number} lane {lane}: {power}, should be {right:.0f}")
    return complaints, count


def split(output):
    """The lines of each fabric that a program has printed."""
    parts = []
    for line in output.splitlines():
        if line.startswith("profile "):
            parts.append([])
        parts[-1].append(line)
    return parts


def check_programs(program, directory):
    """The simulator's files as a program, with random states."""
    failures = number = 0
    print(f"TAP version 13\n1..{len(PROFILES) * SEEDS}")
    for name in PROFILES:
        path = os.path.join(directory, name + ".bin")
        profile = morphprofile.load(path)
        for seed in range(SEEDS):
            number += 1
            output = subprocess.run([program, path, str(seed)], check=True, text=True,
                                    stdout=subprocess.PIPE).stdout
            dumps = [Dump(profile, lines) for lines in split(output)]
            complaints, count = compare(profile, dumps[0])
            if len(dumps) > 1:
                more, edges = compare_edges(profile, dumps)
                complaints += more
                count = min(count, edges)
            for complaint in complaints[:10]:
                print("#", complaint)
            good = not complaints and count
            failures += not good
            print(f"{'ok' if good else 'not ok'} {number} - {name} seed {seed}: {count} powers")
    return failures > 0


def check_dump(path, dump):
    profile = morphprofile.load(path)
    with open(dump, encoding="ascii") as file:
        complaints, count = compare(profile, Dump(profile, file))
    print(*complaints, f"{count} powers compared", sep="\n")
    return bool(complaints)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    check = check_programs if os.path.isdir(sys.argv[2]) else check_dump
    sys.exit(check(sys.argv[1], sys.argv[2]))
