#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check a picture of 'morphctl topo': topo_picture.py SVG

No arrow passes a tile, no two arrows share a line, and nothing lies outside of the picture.
"""

import re
import sys
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"
LEAST = 2  # pixels that two lines of one direction may share, where their corners are


def title_of(element):
    found = element.find(SVG + "title")
    return "" if found is None else found.text


def corners(path):
    """The corners of a path with round corners."""
    numbers = [float(number) for number in re.findall(r"-?[0-9.]+", re.sub(r"L([-0-9. ]+)Q([-0-9. ]+)", turn, path))]
    return list(zip(numbers[::2], numbers[1::2]))


def turn(words):
    return "L" + " ".join(words[2].split()[:2])


def spans(points):
    for (x, y), (to_x, to_y) in zip(points, points[1:]):
        yield min(x, to_x), min(y, to_y), max(x, to_x), max(y, to_y)


def overlap(low, high, other_low, other_high):
    return min(high, other_high) - max(low, other_low)


def meet(a, b):
    """The lengths that two rectangles or lines have in common, across and down."""
    return overlap(a[0], a[2], b[0], b[2]), overlap(a[1], a[3], b[1], b[3])


def main():
    root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
    tiles, arrows = [], []
    for rect in root.iter(SVG + "rect"):
        if title_of(rect).startswith("accelerator "):
            x, y, width, height = (float(rect.get(side)) for side in ("x", "y", "width", "height"))
            tiles.append((title_of(rect), (x, y, x + width, y + height)))
    for group in root.iter(SVG + "g"):
        if group.get("class") == "arrow":
            path = next(path for path in group.iter(SVG + "path") if path.get("class") == "casing")
            arrows.append((title_of(group), list(spans(corners(path.get("d"))))))
    for at, (name, place) in enumerate(tiles):
        for other, there in tiles[at + 1:]:
            if min(meet(place, there)) > 0:
                sys.exit(f"{name} lies on {other}")
    for at, (name, lines) in enumerate(arrows):
        for line in lines:
            for other, place in tiles:
                if min(meet(line, place)) >= 0:
                    sys.exit(f"{name} passes {other}")
        for other, there in arrows[at + 1:]:
            for line in lines:
                for beside in there:
                    shared = meet(line, beside)
                    if min(shared) >= 0 and max(shared) > LEAST:
                        sys.exit(f"{name} and {other} share a line")
    for text in root.iter(SVG + "text"):
        if not 0 <= float(text.get("y")) <= float(root.get("height")):
            sys.exit(f"'{text.text}' is outside of the picture")
    print(f"{len(tiles)} tiles, {len(arrows)} arrows")


main()
