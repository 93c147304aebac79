#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write what a kernel without a fabric answers, as a recording (libmorph/client/recording.h):

    absent.py module|namespace|fabric [REQUESTS]
    absent.py interface NUMBER

module: the module is not loaded; namespace: it is, but another network namespace has its netlink
family; fabric: the list of fabrics is empty. REQUESTS is how often the command requests this list;
between the first two requests without the family, libmorph looks for device nodes.

interface: there is a node of a fabric, but no netlink family. The kernel has this version of the
device interface. The recording answers 'morphctl version'.
"""

import json
import struct
import sys

FAMILY, CONTROL = 32, 16
GET, ERROR, DONE = 5, 2, 3
DUMP, MULTI, CAPPED = 0x301, 2, 0x100
MODULE = "/sys/module/morph"
# struct morph_fabric_info: the version follows the head.
HEAD_BYTES, INFO_BYTES, SENTENCE_BYTES = 48, 224, 256


def line(op, handle=0, text="", before=b"", after=b"", result=0):
    print(json.dumps({"op": op, "handle": handle, "text": text, "before": before.hex(), "after": after.hex(), "result": result},
                     separators=(",", ":")))


def message(kind, flags, seq, data):
    return struct.pack("<IHHII", 16 + len(data), kind, flags, seq, 0) + data


def attribute(number, data):
    return struct.pack("<HH", 4 + len(data), number) + data + bytes(-len(data) % 4)


def receive(data):
    line("receive", 1, after=data, result=len(data))


def acknowledge(request, error):
    receive(message(ERROR, CAPPED, struct.unpack_from("<I", request, 8)[0], struct.pack("<i", error) + request[:16]))


def ask_family(seq, missing):
    name = attribute(2, b"morph\0")
    request = message(CONTROL, GET, seq, b"\3\2\0\0" + name)
    line("send", 1, before=request)
    if missing:
        acknowledge(request, -2)
        line("open", text=MODULE, result=missing)
    else:
        receive(message(CONTROL, 0, seq, b"\1\2\0\0" + name + attribute(1, struct.pack("<H", FAMILY))))
        acknowledge(request, 0)


def open_fabric(interface):
    """Open a fabric, read its information twice, and close it."""
    head = struct.pack("<IIQI", INFO_BYTES, 0, 1, SENTENCE_BYTES).ljust(HEAD_BYTES, b"\0")
    line("open", text="/dev/morph/fabric0", result=2)
    for _ in range(2):
        line("ioctl", 2, "MORPH_FABRIC_INFO", head.ljust(INFO_BYTES, b"\0"),
             (head + struct.pack("<I", interface)).ljust(INFO_BYTES + SENTENCE_BYTES, b"\0"))
    line("close", 2)


def main(cause, requests="2"):
    line("recording", text="libmorph", result=1)
    line("netlink", text="requests", result=1)
    if cause == "interface":
        ask_family(1, -21)
        line("devices", text="present fabric 0 /dev/morph/fabric0\n")
        open_fabric(int(requests))
        open_fabric(int(requests))
        line("close", 1)
        return
    missing = {"module": -2, "namespace": -21, "fabric": 0}[cause]
    if not missing:
        ask_family(1, 0)
    for number in range(int(requests)):
        if missing:
            ask_family(number + 1, missing)
            if number == 0 and int(requests) > 1:
                line("devices")
        else:
            line("send", 1, before=message(FAMILY, DUMP, number + 2, b"\1\1\0\0"))
            receive(message(DONE, MULTI, number + 2, bytes(4)))
    line("close", 1)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in ("module", "namespace", "fabric", "interface"):
        sys.exit(__doc__)
    main(*sys.argv[1:])
