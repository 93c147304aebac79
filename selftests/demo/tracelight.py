# SPDX-License-Identifier: GPL-2.0-only
"""Check that the light of a snapshot comes from the lasers of its circuits. The script traces it
from the profile, independent of core and simulator.

A snapshot is the simulator's file "hardware" and a line for each circuit: circuit N job N tx PORT
rx PORT lanes MASK.
"""

import math
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "profiles"))

import morphprofile     # noqa: E402

MOST_LEAKS = 1


class Snapshot:
    def __init__(self, path):
        self.states, self.extra = {}, {"guide": {}, "element": {}}
        self.lasers, self.lit, self.circuits = {}, {}, []
        with open(path, encoding="ascii") as file:
            for line in file:
                self._read(line.split())

    def _read(self, words):
        kind, number = words[0], int(words[1]) if words[1].isdigit() else 0
        if kind == "element":
            self.states[number] = int(words[3])
            self.extra["element"][number] = int(words[5])
        elif kind == "guide":
            self.extra["guide"][number] = int(words[3])
        elif kind == "laser":
            self.lasers[number] = int(words[words.index("emits") + 1], 16)
        elif kind == "receiver":
            lanes = int(words[words.index("lit") + 1], 16)
            if lanes:
                self.lit[number] = lanes
        elif kind == "circuit":
            self.circuits.append((int(words[5]), int(words[7]), int(words[9], 16)))


def lanes_of(mask):
    return [lane for lane in range(mask.bit_length()) if mask >> lane & 1]


def trace(profile, snapshot):
    """Power of each laser at each receiver: {(receiver, lane): {laser: mdbm}}."""
    arriving = {}
    parameters = profile.parameters
    planes = parameters["planes"]
    floor = parameters["laser_mdbm"] - parameters["dark_mdbm"]
    for laser, mask in snapshot.lasers.items():
        if not mask:
            continue
        found = morphprofile.gains(profile, snapshot.states, divmod(laser, planes),
                                   max_leaks=MOST_LEAKS, most_mdb=floor, extra=snapshot.extra)
        for (accelerator, plane), gain in found.items():
            receiver = accelerator * planes + plane
            for lane in lanes_of(mask):
                power = parameters["laser_mdbm"] + 10000 * math.log10(gain)
                arriving.setdefault((receiver, lane), {})[laser] = power
    return arriving


def check(profile, path):
    """The errors of a snapshot as sentences, and the number of its circuits."""
    snapshot = Snapshot(path)
    arriving = trace(profile, snapshot)
    sensitivity = profile.parameters["sensitivity_mdbm"]
    bright = {place: {laser: power for laser, power in sources.items() if power >= sensitivity}
              for place, sources in arriving.items()}
    expected = {(rx, lane): tx for tx, rx, mask in snapshot.circuits for lane in lanes_of(mask)}
    wrong = []
    for (rx, lane), tx in expected.items():
        if list(bright.get((rx, lane), {})) != [tx]:
            wrong.append(f"receiver {rx} should see lane {lane} of laser {tx} alone, sees {bright.get((rx, lane))}")
    for place, sources in bright.items():
        if sources and place not in expected:
            wrong.append(f"receiver {place[0]} sees lane {place[1]} of {sources}, but no circuit ends there")
    return wrong, len(snapshot.circuits)
