#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""From a collective to light, on a rack: as collective.py, where circuits cross fibres between
servers. Prints TAP."""

import sys

from collective import eight, failure, four
from place import run

TESTS = (four, eight, failure)

if __name__ == "__main__":
    sys.exit(run(TESTS))
