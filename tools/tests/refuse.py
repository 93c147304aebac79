#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Make the kernel of a recording refuse to load a schedule, a number of times or always.

refuse.py ERRNO PART INDEX TIMES [last] < RECORDING > OTHER

PART and INDEX name the cause of the refusal, as enum morph_part. With "last" the recording ends
after the refusals.
"""

import json
import re
import struct
import sys

LOAD = '"MORPH_SCHEDULE_LOAD"'
PART = 24       # where struct morph_head has the part, and its index after it


def unpack(text):
    """The bytes of a line. zN. stands for N zeros."""
    return bytearray.fromhex(re.sub(r"z(\d+)\.", lambda run: "00" * int(run[1]), text))


def main():
    errno, part, index, times = map(int, sys.argv[1:5])
    for line in sys.stdin:
        if LOAD in line:
            refused = json.loads(line)
            after = unpack(refused["after"])
            struct.pack_into("<II", after, PART, part, index)
            refused.update(after=after.hex(), result=-errno)
            for _ in range(times):
                print(json.dumps(refused, separators=(",", ":")))
        elif "MORPH_SCHEDULE_INFO" not in line or "last" not in sys.argv:
            print(line, end="")
            continue
        if "last" not in sys.argv:
            print(line, end="")


if __name__ == "__main__":
    main()
