#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write answers of a kernel as a recording (libmorph/client/recording.h), for states of a machine
that the recorded one does not have:

    answers.py module|namespace|fabric REQUESTS|own
    answers.py slice module|namespace
    answers.py interface NUMBER
    answers.py tenant list|show|circuits|why-not|topo|monitor|lost|status|denied|health
    answers.py container list|status|nodes

module: the module is not loaded; namespace: it is, but another network namespace has its netlink
family; fabric: the list of fabrics is empty. REQUESTS is how often the command requests this list;
between the first two requests without the family, libmorph looks for device nodes. own: the command
requests it twice, and between them looks for nodes of slices.

slice: the same for a command that opens a slice by its node, and then asks for the cause.

interface: there is a node of a fabric, but no netlink family. The kernel has this version of the
device interface. The recording answers 'morphctl version'.

tenant: the caller has no CAP_NET_ADMIN. It may open the nodes of the fabric and of slice 2, which
is degraded, but not that of slice 1. The commands are 'slice list', 'slice show mine',
'circuit list 2', 'slice why-not --count 9', 'topo', 'monitor --once --dump', 'monitor', 'status'
twice, and 'health'. 'lost' loses events, and then the slice ends. 'denied' may open no slice.
container: 'slice list' and 'status' without netlink. nodes: 'slice list' where only the node of
slice 2 exists.
"""

import json
import struct
import sys

FAMILY, CONTROL = 32, 16
GET, ERROR, DONE = 5, 2, 3
DO, DUMP, MULTI, CAPPED = 0x5, 0x301, 2, 0x100
FABRIC_GET, ACCELERATOR_GET, SLICE_GET, CIRCUIT_GET, HARDWARE_GET, WHY_NOT = 1, 3, 8, 13, 21, 24
STATS_GET, CONTROLLER_GET = 27, 30
EPERM, ENOENT, EACCES, EISDIR, ENOSPC = 1, 2, 13, 21, 28
POLLIN, POLLHUP = 1, 16
ENODEV = 19
LOST, REPLACED = 1, 3
MODULE = "/sys/module/morph"
FABRIC, SLICE, OTHER = "/dev/morph/fabric0", "/dev/morph/slice2", "/dev/morph/slice1"
SENTENCE_BYTES = 256
ANY = 2 ** 32 - 1


def line(op, handle=0, text="", before=b"", after=b"", result=0):
    print(json.dumps({"op": op, "handle": handle, "text": text, "before": before.hex(), "after": after.hex(), "result": result},
                     separators=(",", ":")))


# ---------------------------------------------------------------------------- netlink


def message(kind, flags, seq, data):
    return struct.pack("<IHHII", 16 + len(data), kind, flags, seq, 0) + data


def attribute(number, data):
    if isinstance(data, int):
        data = struct.pack("<I", data)
    return struct.pack("<HH", 4 + len(data), number) + data + bytes(-len(data) % 4)


class Netlink:
    """The socket of requests, which has handle 1."""

    def __init__(self, missing=0, first=True):
        self.seq = 0
        if first:
            line("recording", text="libmorph", result=1)
        line("netlink", text="requests", result=1)
        self.ask_family(missing)

    def send(self, kind, flags, data):
        self.seq += 1
        request = message(kind, flags, self.seq, data)
        line("send", 1, before=request)
        return request

    @staticmethod
    def receive(data):
        line("receive", 1, after=data, result=len(data))

    def acknowledge(self, request, error):
        self.receive(message(ERROR, CAPPED, self.seq, struct.pack("<i", -error) + request[:16]))

    def ask_family(self, missing=0):
        """Ask for the family; @missing: the result of opening MODULE if there is none."""
        name = attribute(2, b"morph\0")
        request = self.send(CONTROL, GET, b"\3\2\0\0" + name)
        if missing:
            self.acknowledge(request, ENOENT)
            line("open", text=MODULE, result=-missing)
        else:
            self.receive(message(CONTROL, 0, self.seq, b"\1\2\0\0" + name + attribute(1, struct.pack("<H", FAMILY))))
            self.acknowledge(request, 0)

    def list_fabrics(self, present):
        self.send(FAMILY, DUMP, bytes((FABRIC_GET, 1, 0, 0)))
        fabric = attribute(1, 0) + attribute(3, b"sim0\0")
        reply = message(FAMILY, MULTI, self.seq, bytes((FABRIC_GET, 1, 0, 0)) + fabric) if present else b""
        self.receive(reply + message(DONE, MULTI, self.seq, bytes(4)))

    def list_parts(self, command, *parts, fabric=attribute(1, 0)):
        """Answer a dump of the parts of the fabric, or of all fabrics."""
        self.send(FAMILY, DUMP, bytes((command, 1, 0, 0)) + fabric)
        for part in parts:
            self.receive(message(FAMILY, MULTI, self.seq, bytes((command, 1, 0, 0)) + part))
        self.receive(message(DONE, MULTI, self.seq, bytes(4)))

    def refuse(self, flags, command, *attributes):
        """A request that needs CAP_NET_ADMIN."""
        data = b"".join(attribute(number, value) for number, value in attributes)
        self.acknowledge(self.send(FAMILY, flags, bytes((command, 1, 0, 0)) + data), EPERM)


# ---------------------------------------------------------------------------- devices


class Device:
    """An open device node, with the structures of linux/morph.h."""

    def __init__(self, path, handle):
        self.handle = handle
        line("open", text=path, result=handle)

    def call(self, name, size, before, after, arrays=(0, b""), result=0, sentence=b"", flags=0, refusal=b""):
        """@before, @after: the structure behind its head; @arrays: bytes before, and data after."""
        head = struct.pack("<IIQI", size, flags, 1, SENTENCE_BYTES)
        line("ioctl", self.handle, name, (head.ljust(48, b"\0") + before).ljust(size, b"\0") + bytes(arrays[0]),
             ((head + refusal).ljust(48, b"\0") + after).ljust(size, b"\0") + arrays[1] + sentence.ljust(SENTENCE_BYTES, b"\0"),
             result)

    def read_fabric(self, interface=1):
        self.call("MORPH_FABRIC_INFO", 224, b"", struct.pack("<I", interface))

    def read_slice(self, ranks=b"", circuits=b""):
        """@ranks, @circuits: to read; without them the call returns their numbers."""
        strides = (56, 72) if ranks is not None else (0, 0)
        given = struct.pack("<QIIQII", bool(ranks), len(ranks or b"") // 56, strides[0], bool(circuits),
                            len(circuits or b"") // 72, strides[1])
        told = given[:8] + struct.pack("<I", 2) + given[12:24] + struct.pack("<I", 1) + given[28:]
        mine = struct.pack("<II32sIIIIQQQ", 2, 2, b"mine", 0, 0, 0, 0, 5, 77, 0)
        tenancy = struct.pack("<IIIIQ", 2000001, 0o640, 3, 1, 25000)
        data = (ranks or b"") + (circuits or b"")
        self.call("MORPH_SLICE_INFO", 184, bytes(80) + given, mine + told + tenancy, (len(data), data))

    def close(self):
        line("close", self.handle)


def open_slice(handle):
    device = Device(SLICE, handle)
    device.read_slice(None)
    device.read_fabric()
    return device


def read_whole(device):
    """Two ranks, of which one has failed, and a dark circuit."""
    ranks = struct.pack("<IIIBBxxII16x16x", 0, 4, 0, 0, 2, ANY, 0) + struct.pack("<IIIBBxxII16x16x", 1, 5, 0, 2, 2, ANY, 0)
    circuit = struct.pack("<IIIIHHIQQIiiiQQ", 7, 2, 0, 1, 0, 0, 2, 3, 50000, 1000, 2000, 0, 60000, 0, 0)
    device.read_slice()
    device.read_slice(ranks, circuit)


def read_slice():
    device = open_slice(2)
    read_whole(device)
    device.close()


def find_devices():
    line("devices", text=f"present fabric 0 {FABRIC}\npresent slice 1 {OTHER}\npresent slice 2 {SLICE}\n")


def find_slices():
    find_devices()
    line("open", text=OTHER, result=-EACCES)
    read_slice()


def open_fabric(interface=1, reads=1):
    device = Device(FABRIC, 2)
    for _ in range(reads):
        device.read_fabric(interface)
    return device


# ------------------------------------------------------------------------------ causes


MISSING = {"module": ENOENT, "namespace": EISDIR, "fabric": 0}


def write_absent(cause, requests):
    missing, own = MISSING[cause], requests == "own"
    netlink = Netlink(missing)
    for number in range(2 if own else int(requests)):
        if number == 1:
            for _ in range(bool(missing) + own):
                line("devices")
        if not missing:
            netlink.list_fabrics(False)
        elif number:
            netlink.ask_family(missing)
    line("close", 1)


def write_slice(missing):
    line("recording", text="libmorph", result=1)
    line("devices")
    netlink = Netlink(missing, False)
    line("devices")
    netlink.ask_family(missing)
    line("close", 1)


def write_interface(interface):
    Netlink(EISDIR)
    line("devices", text=f"present fabric 0 {FABRIC}\n")
    for _ in range(2):
        open_fabric(interface, 2).close()
    line("close", 1)


def write_ring(netlink):
    """Of two accelerators, with two lanes: guide 17 has one free lane."""
    netlink.refuse(DO, WHY_NOT, (1, 0), (2, 2), (4, 0), (5, b""), (6, 2))
    device = open_fabric()
    asked = struct.pack("<QIIQII", 0, 2, 4, 0, 0, 4).ljust(96, b"\0") + struct.pack("<I", 2)
    refusal = struct.pack("<IIIqq", 7, 5, 17, 1, 2)
    told = asked[:80] + struct.pack("<i", -1) + asked[84:]
    device.call("MORPH_SLICE_CREATE", 152, asked, told, result=-ENOSPC, sentence=b"too few lanes are free", flags=10,
                refusal=refusal)
    device.close()


def write_why_not(netlink):
    netlink.refuse(DO, WHY_NOT, (1, 0), (2, 9), (4, 0))
    device = open_fabric()
    asked = struct.pack("<QIIQII", 0, 9, 4, 0, 0, 4)
    refusal = struct.pack("<IIIqq", 32, 1, ANY, 6, 9)
    device.call("MORPH_SLICE_CREATE", 152, asked, asked.ljust(80, b"\0") + struct.pack("<i", -1), result=-ENOSPC,
                sentence=b"too few accelerators are free", flags=2, refusal=refusal)
    device.close()


def read_event(kind):
    """Of slice 2, rank 1: accelerator 9 replaces accelerator 5."""
    event = struct.pack("<IIQQQIIIIIIIIIIII", 304, kind, 78, 6, 9, 2, 0, 1, ANY, 0, 0, 0, 0, 5, 9, 0, 0).ljust(304, b"\0")
    line("poll", 2, result=POLLIN)
    line("read", 2, after=event, result=len(event))


def write_monitor(netlink, lost):
    line("netlink", text="notifications", result=2)
    line("join", 2, result=-EPERM)
    line("close", 2)
    netlink.refuse(DUMP, SLICE_GET)
    find_slices()
    device = open_slice(2)
    if lost:
        read_event(LOST)
        read_whole(device)
        line("poll", 2, result=POLLHUP)
        line("read", 2, result=-ENODEV)
    else:
        read_whole(device)
        read_event(REPLACED)
    device.close()


def write_topo(netlink):
    """Accelerators 4 and 5 are of slice 2, and 6 is of another one. The kernel does not say so."""
    netlink.list_fabrics(True)
    held = [b"".join(attribute(number, value) for number, value in
                     ((1, 0), (2, place), (3, 0), (5, place - 4), (6, 0), (7, 0), (8, 2), (9, 0))) for place in (4, 5, 6)]
    netlink.list_parts(ACCELERATOR_GET, *held)
    netlink.list_parts(HARDWARE_GET)
    for command in (SLICE_GET, CIRCUIT_GET):
        netlink.refuse(DUMP, command, (1, 0))
        find_slices()


def write_status(netlink, denied):
    netlink.list_parts(HARDWARE_GET, fabric=b"")
    netlink.refuse(DUMP, SLICE_GET)
    if denied:
        find_devices()
        line("open", text=OTHER, result=-EACCES)
        line("open", text=SLICE, result=-EACCES)
    else:
        find_slices()
    netlink.list_parts(STATS_GET, attribute(1, 0), fabric=b"")
    if not denied:
        netlink.refuse(DUMP, CIRCUIT_GET)
        find_slices()


def write_health(netlink):
    netlink.list_parts(ACCELERATOR_GET, fabric=b"")
    netlink.list_parts(HARDWARE_GET, fabric=b"")
    netlink.refuse(DUMP, SLICE_GET)
    find_slices()
    netlink.refuse(DUMP, CONTROLLER_GET)


def write_nodes():
    netlink = Netlink(EISDIR)
    find_devices()
    line("open", text=FABRIC, result=-ENOENT)
    for number in range(2):
        if number:
            netlink.ask_family(EISDIR)
        find_devices()
        line("open", text=OTHER, result=-ENOENT)
        read_slice()
    line("close", 1)


def write_container(what):
    netlink = Netlink(EISDIR)
    find_devices()
    open_fabric(reads=2).close()
    if what == "status":
        netlink.ask_family(EISDIR)
    netlink.ask_family(EISDIR)
    find_slices()
    if what == "status":
        for _ in range(2):
            netlink.ask_family(EISDIR)
        find_slices()
    line("close", 1)


def write_tenant(what):
    netlink = Netlink()
    if what not in ("monitor", "lost"):
        netlink.list_fabrics(True)
    if what in ("list", "show"):
        netlink.refuse(DUMP, SLICE_GET, (1, 0))
        find_slices()
    if what == "show":
        netlink.refuse(DO, SLICE_GET, (1, 0), (2, 2))
        read_slice()
        netlink.list_fabrics(True)
    if what in ("show", "circuits"):
        netlink.refuse(DUMP, CIRCUIT_GET, (1, 0), (2, 2))
        find_devices()
        read_slice()
    if what == "why-not":
        write_why_not(netlink)
    if what == "ring":
        write_ring(netlink)
    if what == "topo":
        write_topo(netlink)
    if what in ("monitor", "lost"):
        write_monitor(netlink, what == "lost")
    if what in ("status", "denied"):
        write_status(netlink, what == "denied")
    if what == "health":
        write_health(netlink)
    line("close", 1)


def main(cause, what):
    if cause == "slice":
        write_slice(MISSING[what])
    elif cause == "interface":
        write_interface(int(what))
    elif cause == "tenant":
        write_tenant(what)
    elif what == "nodes":
        write_nodes()
    elif cause == "container":
        write_container(what)
    else:
        write_absent(cause, what)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
