# SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
"""Writer of device profiles: the binary layout of kmod/optics/profile.h.

A Blob collects records and turns them into bytes. It rejects records that the format cannot hold.
checkprofile.py checks whether the fabric makes sense.
"""

import struct
import zlib

from spec import integer, text

MAGIC = b"MORPHPF1"
VERSION = 1
MAX_PORTS = 16
MAX_STATES = 64
PORT_NONE = 0xFF
TILE_NONE = 0xFFFFFFFF

END_ELEMENT, END_TX, END_RX, END_EDGE = 0, 1, 2, 3
WAVEGUIDE, TILE, FIBRE, TO_EDGE = 0, 1, 2, 3
SPARE = 1

HEADER = struct.Struct("<8sIIQII32sIIQiiiIIiIIQQQQQQII")
SECTION = struct.Struct("<QII")
KIND = struct.Struct("<16sBBHIIIII")
STATE = struct.Struct("<16B")
ELEMENT = struct.Struct("<II")
GUIDE = struct.Struct("<IIBBBBHH")
ACCELERATOR = struct.Struct("<IHHHH")
HOST = struct.Struct("<32s")
EDGE = struct.Struct("<16sIhh16s")
CHECKSUM_AT = 24

POWER, LOSS, TIME = integer(-200000, 200000), integer(0, 100000), integer(0, 3600 * 10 ** 9)

# The parameters of the header, in the header's order.
PARAMETERS = {
    "wavelengths": integer(1, 64), "planes": integer(1, 64), "lane_mbps": integer(1, 10 ** 12),
    "laser_mdbm": POWER, "sensitivity_mdbm": POWER, "overload_mdbm": POWER, "margin_mdb": LOSS,
    "isolation_mdb": LOSS, "dark_mdbm": POWER, "window_mdb": LOSS, "drift_mdb": LOSS, "settle_ns": TIME,
    "relock_ns": TIME, "write_fixed_ns": TIME, "write_each_ns": TIME,
    "deadline_ns": integer(1, 3600 * 10 ** 9), "drift_period_ns": TIME,
}
GUIDE_LOSS, KIND_LOSS = integer(0, 65535), integer(0, 99999)
EDGE_POWER = integer(-32768, 32767)
NAME = text("[a-z0-9_-]{1,31}", "1 to 31 of the characters a-z 0-9 _ -")
HOST_NAME = text("[!-~]{1,31}", "1 to 31 printable characters")


class Impossible(Exception):
    """The format cannot hold this."""


class Blob:
    """The records of one profile."""

    def __init__(self, name, parameters):
        self.name = name.encode("ascii")
        self.parameters = parameters
        self.kinds = {}
        self.kind_records = bytearray()
        self.states = bytearray()
        self.elements = bytearray()
        self.guides = bytearray()
        self.accelerators = bytearray()
        self.positions = set()
        self.hosts = bytearray()
        self.edges = bytearray()

    def kind(self, name, ports, states, loss_mdb, extinction_mdb):
        """The index of a kind. Adds the kind on first use.

        states is a list of lists of joined pairs of ports; the first is the
        parking state.
        """
        if name in self.kinds:
            return self.kinds[name]
        if ports > MAX_PORTS or len(states) > MAX_STATES:
            raise Impossible(f"an element '{name}' would have {ports} ports and {len(states)} states; "
                             f"at most {MAX_PORTS} and {MAX_STATES} are possible")
        first = len(self.states) // STATE.size
        for pairs in states:
            joins = [PORT_NONE] * MAX_PORTS
            for a, b in pairs:
                joins[a], joins[b] = b, a
            self.states += STATE.pack(*joins)
        self.kind_records += KIND.pack(name.encode("ascii"), ports, 0, len(states), first, loss_mdb,
                                       extinction_mdb, 0, 0)
        self.kinds[name] = len(self.kinds)
        return self.kinds[name]

    def element(self, kind, tile=TILE_NONE):
        """Add an element. Returns its index."""
        index = len(self.elements) // ELEMENT.size
        self.elements += ELEMENT.pack(kind, tile)
        return index

    def guide(self, a, b, guide_class, loss_mdb):
        """Add a guide from end a to end b, each (type, index, port); light goes from a to b."""
        self.guides += GUIDE.pack(a[1], b[1], a[2], b[2], a[0], b[0], guide_class, loss_mdb)

    def accelerator(self, host, position, spare):
        """Add an accelerator. Returns its index."""
        if tuple(position) in self.positions:
            raise Impossible(f"two accelerators would be at position {tuple(position)}")
        self.positions.add(tuple(position))
        index = len(self.accelerators) // ACCELERATOR.size
        self.accelerators += ACCELERATOR.pack(host, *position, SPARE if spare else 0)
        return index

    def host(self, name):
        """Add a server. Returns its index."""
        index = len(self.hosts) // HOST.size
        self.hosts += HOST.pack(name.encode("ascii"))
        return index

    def edge(self, name, peer_edge, least_mdbm, most_mdbm):
        """Add an edge. The provider gives the UUID of its peer. Returns its index."""
        index = len(self.edges) // EDGE.size
        self.edges += EDGE.pack(bytes(16), peer_edge, least_mdbm, most_mdbm, name.encode("ascii"))
        return index

    def pack(self):
        """The profile as bytes."""
        sections = (
            (self.kind_records, KIND), (self.states, STATE), (self.elements, ELEMENT),
            (self.guides, GUIDE), (self.accelerators, ACCELERATOR), (self.hosts, HOST),
            (self.edges, EDGE),
        )
        header_bytes = HEADER.size + SECTION.size * len(sections)
        body = bytearray()
        table = bytearray()
        for records, record in sections:
            body += bytes(-len(body) % 8)
            table += SECTION.pack(header_bytes + len(body), len(records) // record.size,
                                  record.size)
            body += records
        values = [self.parameters[key] for key in PARAMETERS]
        header = HEADER.pack(MAGIC, VERSION, header_bytes, header_bytes + len(body), 0, 0,
                             self.name, *values, 0, 0)
        image = bytearray(header + table) + body
        struct.pack_into("<I", image, CHECKSUM_AT, zlib.crc32(image))
        return image
