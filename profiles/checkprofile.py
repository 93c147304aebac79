#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
"""Check a device profile and print its counts: checkprofile.py [--json] [--format-only] FILE...

The script checks three things:

 * every rule of the format (morphprofile.py),
 * published figures of the fabric with the profile's name,
 * that light can go from every accelerator to every other one within the power budget. In a
   fabric with more than SAMPLE accelerators, it checks paths from a sample of them, and only to
   accelerators of the same rack.

It exits with 1 and a message if a check fails.
"""

import argparse
import heapq
import json
import sys

import morphprofile as mp

SAMPLE = 512            # above this many accelerators, paths are checked from a sample
SAMPLE_STEP = 577       # a prime, so that the sample meets every place in a rack
MOST_GUIDES = 64        # in one path: the limit of kernel and library
LABELS = 32             # paths to one guide that the exact search keeps

# Published figures of each fabric, or assumptions where there are none (README.md).
KNOWN = {
    "server4": {"accelerators": 4, "spares": 0, "hosts": 1},
    "server8": {"accelerators": 10, "spares": 2, "hosts": 1},
    "server16": {"accelerators": 18, "spares": 2, "hosts": 1},
    "rack64": {"accelerators": 72, "spares": 8, "hosts": 18},
    "pod4096": {"accelerators": 4608, "spares": 512, "hosts": 1152},
    "smartlight72": {"accelerators": 14, "spares": 2, "hosts": 4, "elements": 72,
                     "joined_nodes": 124, "ports": 40, "nodes": 164, "user_channels": 28,
                     "orientations": [24, 24, 24], "closed_hexagons": 17,
                     "elements_in_hexagons": 68},
}
RACK_ACCELERATORS = {"pod4096": 72}


class Unsound(Exception):
    """The profile is well-formed, but does not match the figures of its fabric."""


# ------------------------------------------------------------------------- counts

def summary(profile):
    """The counts of a profile, for output and tests."""
    classes = dict.fromkeys(mp.CLASS_NAMES, 0)
    for number in profile.guide_class:
        classes[mp.CLASS_NAMES[number]] += 1
    found = {
        "name": profile.name,
        "checksum": f"{profile.checksum:08x}",
        "bytes": profile.bytes,
        "accelerators": len(profile.accelerators),
        "spares": sum(accelerator.spare for accelerator in profile.accelerators),
        "hosts": len(profile.hosts),
        "kinds": len(profile.kinds),
        "states": sum(len(kind.states) for kind in profile.kinds),
        "elements": profile.elements_count,
        "elements_without_tile": sum(tile == mp.NO_TILE for tile in profile.element_tile),
        "guides": profile.guides_count,
        "guides_by_class": classes,
        "edges": len(profile.edges),
        "unattached_ports": sum(guide < 0 for guide in profile.port_guide),
        "parameters": profile.parameters,
    }
    if "orientations" in KNOWN.get(profile.name, {}):
        found.update(mesh_counts(profile))
    return found


def mesh_counts(profile):
    """Counts that identify a hexagonal mesh."""
    follows, joined = {}, 0
    for guide in range(profile.guides_count):
        ends = [profile.guide_end(guide, end) for end in (0, 1)]
        if all(end[0] == mp.ELEMENT for end in ends):
            joined += 1
            # Clockwise around a cell, light passes each PUC from port 0 to 1 or from port 2 to 3.
            first, second = sorted(ends, key=lambda end: end[2] % 2, reverse=True)
            if first[2] % 2 == second[2] % 2:
                raise Unsound(f"guide {guide} joins ports {first[2]} and {second[2]} of two PUCs, "
                              "so that the sides of a cell are not in order")
            follows[first[1], first[2] - 1] = (second[1], second[2])
    channels = 2 * len(profile.accelerators) * profile.parameters["planes"]
    ports = channels + sum(guide < 0 for guide in profile.port_guide)
    hexagons = closed_hexagons(follows)
    return {"joined_nodes": joined, "ports": ports, "nodes": joined + ports,
            "user_channels": channels, "orientations": orientations(profile, follows),
            "closed_hexagons": len(hexagons),
            "elements_in_hexagons": len({element for cell in hexagons for element, _ in cell})}


def orientations(profile, follows):
    """Number of PUCs in each of the three directions.

    The next side of a cell, clockwise, is turned by 60 degrees. Opposite sides are parallel, so
    directions repeat after three sides.
    """
    turned = {}
    for (a, _), (b, _) in follows.items():
        turned.setdefault(a, []).append((b, 1))
        turned.setdefault(b, []).append((a, 2))
    direction, stack = {0: 0}, [0]
    while stack:
        element = stack.pop()
        for other, turn in turned.get(element, ()):
            expected = (direction[element] + turn) % 3
            if other not in direction:
                direction[other] = expected
                stack.append(other)
            elif direction[other] != expected:
                raise Unsound(f"PUC {other} lies in two directions at once: no hexagonal mesh")
    if len(direction) != profile.elements_count:
        raise Unsound("the mesh falls into parts")
    counts = list(direction.values())
    return sorted(counts.count(number) for number in range(3))


def closed_hexagons(follows):
    """The cells with a PUC at each of their six sides, as sets of (PUC, first port)."""
    cells = set()
    for start in follows:
        cell, here = [start], follows[start]
        while here != start and here in follows and len(cell) < 7:
            cell.append(here)
            here = follows[here]
        if here == start and len(cell) == 6:
            cells.add(frozenset(cell))
    return cells


def check_known(profile, found):
    """Compare the counts with the known figures of the fabric."""
    for key, value in KNOWN.get(profile.name, {}).items():
        if found[key] != value:
            raise Unsound(f"{key} is {found[key]}, must be {value}")
    positions = [accelerator.position for accelerator in profile.accelerators]
    if len(set(positions)) != len(positions):
        twice = next(place for place in positions if positions.count(place) > 1)
        raise Unsound(f"two accelerators are at position {twice}")


# -------------------------------------------------------------------------- paths

def crossings(profile, code):
    """Where light that enters a guide can go: (element, state, next guide, loss)."""
    what, element, port = profile.guide_end(code >> 1, 1 - (code & 1))
    if what != mp.ELEMENT:
        return
    kind = profile.kinds[profile.element_kind[element]]
    first = profile.first_port[element]
    for other, states in kind.reach[port].items():
        onward = profile.port_guide[first + other]
        if onward >= 0:
            loss = kind.loss_mdb + profile.guide_loss[onward >> 1]
            for state in states:
                yield element, state, onward, loss


def conflict(label, element, state):
    """Whether a path has already crossed the element in another state."""
    while label:
        _, label, passed, in_state = label
        if passed == element and in_state != state:
            return True
    return False


def search(profile, accelerator, targets, budget, labels):
    """Cheapest paths from an accelerator to those of targets: {accelerator: (loss, label)}.

    A label is (guide, previous label, element before this guide, its state). With several labels
    for each guide, no path crosses an element in two states.
    """
    planes = profile.parameters["planes"]
    heap, tries, seen, found = [], 0, {}, {}
    for plane in range(planes):
        code = profile.tx_guide[accelerator * planes + plane]
        heapq.heappush(heap, (profile.guide_loss[code >> 1], tries, (code, None, None, None)))
        tries += 1
    while heap and len(found) < len(targets):
        loss, _, label = heapq.heappop(heap)
        code = label[0]
        if loss > budget:
            break
        if seen.get(code, 0) >= labels:
            continue
        seen[code] = seen.get(code, 0) + 1
        what, index, _ = profile.guide_end(code >> 1, 1 - (code & 1))
        if what == mp.RX and index in targets:
            found.setdefault(index, (loss, label))
        for element, state, onward, more in crossings(profile, code):
            if seen.get(onward, 0) < labels and not (labels > 1 and
                                                     conflict(label, element, state)):
                tries += 1
                heapq.heappush(heap, (loss + more, tries, (onward, label, element, state)))
    return found


def consistent(label):
    """Whether a path crosses no element in two states."""
    while label:
        _, before, element, state = label
        if element is not None and conflict(before, element, state):
            return False
        label = before
    return True


def guides_in(label):
    """Number of guides of a path."""
    count = 0
    while label:
        count += 1
        label = label[1]
    return count


def check_paths(profile):
    """Find a path for each pair of accelerators. Returns the worst figures."""
    head = profile.parameters
    budget = head["laser_mdbm"] - head["sensitivity_mdbm"] - head["margin_mdb"]
    least = head["laser_mdbm"] - head["overload_mdbm"]
    count = len(profile.accelerators)
    rack = RACK_ACCELERATORS.get(profile.name, count)
    sources = range(count) if count <= SAMPLE else range(0, count, SAMPLE_STEP)
    worst = {"pairs_checked": 0, "budget_mdb": budget, "most_loss_mdb": 0, "most_guides": 0}
    for source in sources:
        start = source - source % rack
        targets = set(range(start, start + rack)) - {source}
        found = search(profile, source, targets, budget, 1)
        unsure = {target for target in targets
                  if target not in found or not consistent(found[target][1])}
        if unsure:
            found = {**found, **dict.fromkeys(unsure),
                     **search(profile, source, unsure, budget, LABELS)}
        for target in sorted(targets):
            if not found[target]:
                raise Unsound(f"no path from accelerator {source} to {target} loses less than "
                              f"the {budget} mdb of the budget")
            loss, label = found[target]
            if loss < least:
                raise Unsound(f"the path from accelerator {source} to {target} loses {loss} mdb "
                              f"only, at least {least} keep its receiver from overload")
            guides = guides_in(label)
            if guides > MOST_GUIDES:
                raise Unsound(f"the path from accelerator {source} to {target} has {guides} "
                              f"guides; at most {MOST_GUIDES} are possible")
            worst["pairs_checked"] += 1
            worst["most_loss_mdb"] = max(worst["most_loss_mdb"], loss)
            worst["most_guides"] = max(worst["most_guides"], guides)
    return worst


# ------------------------------------------------------------------- command line

def show(found):
    """Print a summary."""
    print(f"{found['name']}: {found['bytes']} bytes, checksum {found['checksum']}")
    for key, value in found.items():
        if key in ("name", "bytes", "checksum", "parameters"):
            continue
        if isinstance(value, dict):
            value = ", ".join(f"{name} {number}" for name, number in value.items())
        print(f"  {key.replace('_', ' ')}: {value}")


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description="Check device profiles and show what is in them.")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--json", action="store_true", help="print one JSON object per file")
    parser.add_argument("--format-only", action="store_true",
                        help="check the rules of the format only")
    options = parser.parse_args()
    failed = False
    for path in options.files:
        try:
            profile = mp.load(path)
            found = summary(profile)
            if not options.format_only:
                check_known(profile, found)
                found["paths"] = check_paths(profile)
        except (OSError, mp.Malformed, Unsound) as error:
            print(f"checkprofile: {path}: {error}", file=sys.stderr)
            failed = True
            continue
        if options.json:
            print(json.dumps(found))
        else:
            show(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
