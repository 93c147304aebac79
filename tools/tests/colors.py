#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check that colours are distinguishable: colors.py COLOUR...

Prints the least difference of two colours in CIELAB, as seen with all cones and without one kind.
The matrices are those of Machado, Oliveira and Fernandes (2009) for severity 1.
"""

import itertools
import math
import sys

READERS = (
    ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
)


def linear(color):
    parts = [int(color[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def times(matrix, parts):
    return [min(1, max(0, sum(a * b for a, b in zip(row, parts)))) for row in matrix]


def lab(red, green, blue):
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def main():
    least = min((math.dist(lab(*times(reader, linear(a))), lab(*times(reader, linear(b)))), a, b)
                for a, b in itertools.combinations(sys.argv[1:], 2) for reader in READERS)
    print(f"{int(least[0])} {least[1]} {least[2]}")


main()
