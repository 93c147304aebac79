#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare the picture of a plan with its record.

picture.py SVG JSON

Each change and each period of sending over a hold is a rectangle, and no two rectangles overlap.
"""

import json
import re
import sys
import xml.etree.ElementTree

TOLERANCE = 0.03  # numbers are rounded


def drawn(path):
    found = []
    for rect in xml.etree.ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}rect"):
        title = rect.find("{http://www.w3.org/2000/svg}title")
        if title is None:
            continue
        words = re.fullmatch(r"plane (\d+), matching (\d+): (\w+) from (\d+) to (\d+) ns", title.text)
        place = [float(rect.get(side)) for side in ("x", "y", "width", "height")]
        found.append((place, words[3], (int(words[1]), int(words[2]), int(words[4]), int(words[5]))))
    return found


def changes(plan):
    return [(hold["plane"], hold["matching"], hold["set-at-ns"], hold["lit-at-ns"])
            for hold in plan["holds"] if hold["set-at-ns"] < hold["lit-at-ns"]]


def sent(plan):
    """Merge concurrent transmissions over a hold."""
    spans = sorted((number, send["from-ns"], send["until-ns"]) for send in plan["sends"] for number in send["hold-indices"])
    merged = []
    for number, begin, end in spans:
        if merged and merged[-1][0] == number and merged[-1][2] > begin:
            merged[-1][2] = max(merged[-1][2], end)
        elif begin < end:
            merged.append([number, begin, end])
    return [(plan["holds"][number]["plane"], plan["holds"][number]["matching"], begin, end)
            for number, begin, end in merged]


def lie_on_another(places):
    places.sort()
    for at, (x, y, width, height) in enumerate(places):
        for other in places[at + 1:]:
            if other[0] >= x + width - TOLERANCE:
                break
            if other[1] < y + height - TOLERANCE and other[1] + other[3] > y + TOLERANCE:
                return True
    return False


def main():
    picture = drawn(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as stream:
        plan = json.load(stream)
    for doing, wanted in (("set", changes(plan)), ("sends", sent(plan))):
        there = sorted(span for _, name, span in picture if name == doing)
        if there != sorted(wanted):
            sys.exit(f"{doing}: {len(there)} rectangles, of {len(wanted)}")
    if sum(end - begin for _, _, (_, _, begin, end) in picture) != \
            sum(hold["dark-at-ns"] - hold["set-at-ns"] for hold in plan["holds"]):
        sys.exit("not all holds are drawn from when they are set until they are dark")
    if lie_on_another([place for place, _, _ in picture]):
        sys.exit("a rectangle lies on another")


main()
