#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
"""Test whether spares can replace any accelerator in a full rack: testspares.py rack64.bin

The test fills the rack with a 4x4x4 torus. Each accelerator has a circuit on all lanes in each of
six directions, and no two circuits share an element. Then, for each accelerator in turn, the test
removes its twelve circuits and looks for a spare that can have all of them while the other circuits
stay. It routes greedily, so a success is a proof and a failure is not. Prints TAP.
"""

import heapq
import sys

import morphprofile as mp
from checkprofile import crossings

SIDE = 4
DIRECTIONS = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))


class Rack:
    """A profile, and the elements and guides that circuits hold."""

    def __init__(self, profile):
        self.profile = profile
        self.planes = profile.parameters["planes"]
        self.held = set()

    def route(self, source, sink, tx_planes, rx_planes):
        """The elements and guides of the cheapest path over free hardware, or None."""
        profile = self.profile
        head = profile.parameters
        budget = head["laser_mdbm"] - head["sensitivity_mdbm"] - head["margin_mdb"]
        heap = []
        for plane in tx_planes:
            code = profile.tx_guide[source * self.planes + plane]
            heap.append((profile.guide_loss[code >> 1], code, ()))
        heapq.heapify(heap)
        seen = set()
        while heap:
            loss, code, holds = heapq.heappop(heap)
            if code in seen or ("guide", code >> 1) in self.held or loss > budget:
                continue
            seen.add(code)
            holds += (("guide", code >> 1),)
            if profile.guide_end(code >> 1, 1 - (code & 1)) in {(mp.RX, sink, plane)
                                                                for plane in rx_planes}:
                return holds
            for element, _, onward, more in crossings(profile, code):
                if onward not in seen and ("element", element) not in self.held:
                    heapq.heappush(heap, (loss + more, onward, holds + (("element", element),)))
        return None

    def take_all(self, wanted):
        """Route all wanted circuits. Returns their hardware, or None without holding anything."""
        taken = []
        for request in wanted:
            holds = self.route(*request)
            if holds is None:
                for other in taken:
                    self.held.difference_update(other)
                return None
            self.held.update(holds)
            taken.append(holds)
        return taken


def replaceable(rack, circuits, victim, spares):
    """Whether one of the spares can have all circuits of the victim."""
    mine = {key: holds for key, holds in circuits.items() if victim in key[:2]}
    for holds in mine.values():
        rack.held.difference_update(holds)
    fits = False
    for spare in spares:
        every = range(rack.planes)
        wanted = [(spare, b, every, [plane]) if a == victim else (a, spare, [plane], every)
                  for a, b, plane in mine]
        taken = rack.take_all(wanted)
        if taken is not None:
            for holds in taken:
                rack.held.difference_update(holds)
            fits = True
            break
    for holds in mine.values():
        rack.held.update(holds)
    return fits


def main():
    """Command line."""
    if len(sys.argv) != 2:
        sys.exit("usage: testspares.py rack64.bin")
    profile = mp.load(sys.argv[1])
    rack = Rack(profile)
    place = {accelerator.position: number
             for number, accelerator in enumerate(profile.accelerators)}
    tenants = [number for number, accelerator in enumerate(profile.accelerators)
               if not accelerator.spare]
    spares = [number for number in range(len(profile.accelerators)) if number not in tenants]
    keys = []
    for number in tenants:
        position = profile.accelerators[number].position
        for plane, step in enumerate(DIRECTIONS):
            there = tuple((a + b) % SIDE for a, b in zip(position, step))
            keys.append((number, place[there], plane))
    taken = rack.take_all([(a, b, [plane], [plane]) for a, b, plane in keys])
    print("TAP version 13\n1..2")
    print(f"{'ok' if taken else 'not ok'} 1 - {len(keys)} circuits of a torus fit into the rack")
    lost = tenants
    if taken:
        circuits = dict(zip(keys, taken))
        lost = [victim for victim in tenants if not replaceable(rack, circuits, victim, spares)]
    print(f"{'not ok' if lost else 'ok'} 2 - a spare can replace each of {len(tenants)} "
          f"accelerators; not: {lost}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
