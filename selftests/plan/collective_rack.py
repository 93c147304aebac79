#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the light of a slice on a rack with its plan, as collective.py does. Circuits cross
fibres between servers here. Prints TAP."""

import sys

from collective import eight, failure, four
from place import run

TESTS = (four, eight, failure)

if __name__ == "__main__":
    sys.exit(run(TESTS))
