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
# Widths of the letters from the blank on in DejaVu Sans, the widest font of the pictures, in
# thousandths of its size.
WIDTHS = (
    317, 400, 459, 837, 636, 950, 779, 274, 390, 390, 500, 837, 317, 360, 317, 336, 636, 636, 636, 636, 636, 636,
    636, 636, 636, 636, 336, 336, 837, 837, 837, 530, 1000, 684, 686, 698, 770, 631, 575, 774, 751, 294, 294, 655,
    557, 862, 748, 787, 603, 787, 694, 634, 610, 731, 684, 988, 685, 610, 685, 390, 336, 390, 837, 500, 500, 612,
    634, 549, 634, 615, 352, 634, 633, 277, 277, 579, 277, 974, 633, 611, 634, 634, 411, 520, 392, 633, 591, 817,
    591, 591, 524, 636, 336, 636, 837
)
BOLD = (
    348, 456, 520, 837, 695, 1001, 872, 306, 457, 457, 522, 837, 379, 415, 379, 365, 695, 695, 695, 695, 695, 695,
    695, 695, 695, 695, 399, 399, 837, 837, 837, 580, 1000, 773, 762, 733, 830, 683, 683, 820, 836, 372, 372, 774,
    637, 995, 836, 850, 732, 850, 770, 720, 682, 812, 773, 1103, 770, 724, 725, 457, 365, 457, 837, 500, 500, 674,
    715, 592, 715, 678, 435, 715, 711, 342, 342, 665, 342, 1041, 711, 687, 715, 715, 493, 595, 478, 711, 651, 923,
    645, 651, 582, 711, 365, 711, 837
)


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


def read_styles(root):
    """The declarations of each class of text."""
    styles = {}
    for selectors, rules in re.findall(r"([^{}]+){([^}]+)}", root.find(SVG + "style").text):
        for selector in selectors.split(","):
            declared = (rule.split(":") for rule in rules.split(";") if ":" in rule)
            styles.setdefault(selector.strip(" .\n"), {}).update({key.strip(): value.strip() for key, value in declared})
    return styles


def ends(text, style):
    """Where a line of text begins and ends, in a wide font."""
    widths = BOLD if style.get("font-weight") == "bold" else WIDTHS
    size = float(style.get("font-size", "11px")[:-2])
    width = sum(widths[ord(letter) - ord(" ")] for letter in text.text) * size / 1000
    left = float(text.get("x")) - width / 2 * (style.get("text-anchor") == "middle")
    return left, left + width


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
    styles = read_styles(root)
    for text in root.iter(SVG + "text"):
        left, right = ends(text, styles.get(text.get("class"), {}))
        if not 0 <= float(text.get("y")) <= float(root.get("height")) or left < 0 or right > float(root.get("width")):
            sys.exit(f"'{text.text}' is outside of the picture")
    print(f"{len(tiles)} tiles, {len(arrows)} arrows")


main()
