#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
"""Tests of the profiles' reader, tracer and generator: testprofile.py DIRECTORY

Prints TAP. DIRECTORY contains the profiles.
"""

import copy
import os
import struct
import sys
import zlib
from collections import Counter

import checkprofile
import hexmesh
import mkprofile
import morphprofile as mp
from spec import Description

HERE = os.path.dirname(os.path.abspath(__file__))
SECTIONS = ("kinds", "states", "elements", "guides", "accelerators", "hosts", "edges")
TABLE = 168             # offset of the table of sections in the header


class Tap:
    """Counts and prints results."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def check(self, passed, name):
        """Report one result."""
        self.count += 1
        self.failed += not passed
        print(f"{'ok' if passed else 'not ok'} {self.count} - {name}")


def section(blob, name):
    """Offset and count of a section."""
    return struct.unpack_from("<QI", blob, TABLE + 16 * SECTIONS.index(name))


def changed(blob, at, form, value, seal=True):
    """A copy of a blob with one changed field and the right checksum."""
    blob = bytearray(blob)
    struct.pack_into(form, blob, at, value)
    if seal:
        struct.pack_into("<I", blob, 24, 0)
        struct.pack_into("<I", blob, 24, zlib.crc32(blob))
    return bytes(blob)


def breakages(blob):
    """One case that breaks each rule of the format: (name, blob, word of the message)."""
    kinds, states, elements, guides, accelerators, hosts, _ = (section(blob, name)[0]
                                                               for name in SECTIONS)
    table = (
        ("magic", 0, "<B", 0, "magic"), ("version", 8, "<I", 2, "version"),
        ("header size", 12, "<I", 272, "header_bytes"),
        ("total size", 16, "<Q", len(blob) + 8, "total_bytes"),
        ("reserved0", 28, "<I", 1, "reserved0"), ("name", 32, "<B", ord("A"), "name"),
        ("no wavelength", 64, "<I", 0, "wavelengths"),
        ("too many wavelengths", 64, "<I", 65, "wavelengths"),
        ("no plane", 68, "<I", 0, "planes"), ("too many planes", 68, "<I", 65, "planes"),
        ("overload below sensitivity", 88, "<i", -30000, "rising"),
        ("loss out of range", 92, "<I", 100001, "margin_mdb"),
        ("bandwidth of zero", 72, "<Q", 0, "lane_mbps"),
        ("deadline of zero", 144, "<Q", 0, "deadline_ns"),
        ("bytes after the name", 63, "<B", 1, "after the end"),
        ("flags", 160, "<I", 1, "flags"), ("reserved1", 164, "<I", 1, "reserved1"),
        ("stride", TABLE + 12, "<I", 48, "stride"),
        ("odd offset", TABLE, "<Q", kinds + 4, "multiple"),
        ("count beyond the end", TABLE + 40, "<I", 0x7fffffff, "beyond"),
        ("offset that overflows", TABLE + 32, "<Q", (1 << 64) - 8, "beyond"),
        ("overlap", TABLE + 16, "<Q", kinds, "inside"),
        ("kind without end of name", kinds, "<16s", b"x" * 16, "NUL"),
        ("kind without ports", kinds + 16, "<B", 0, "ports"),
        ("kind with too many ports", kinds + 16, "<B", 17, "ports"),
        ("parking state", kinds + 17, "<B", 200, "parking"),
        ("kind without states", kinds + 18, "<H", 0, "states"),
        ("kind with too many states", kinds + 18, "<H", 65, "states"),
        ("states of another kind", kinds + 60, "<I", 1, "another"),
        ("states beyond the section", kinds + 20, "<I", 0xfffffff0, "states"),
        ("loss above extinction", kinds + 24, "<I", 36000, "must rise"),
        ("extinction of 100 dB", kinds + 28, "<I", 100000, "must rise"),
        ("flags of a kind", kinds + 32, "<I", 1, "flags"),
        ("reserved of a kind", kinds + 36, "<I", 1, "reserved"),
        ("state that is not symmetric", states + 16, "<B", 2, "but not"),
        ("state that joins a port to itself", states, "<B", 0, "itself"),
        ("state that joins a port that is not", states, "<B", 9, "ports"),
        ("state with a join past its ports", states + 12, "<B", 0, "ports"),
        ("kind of an element", elements, "<I", 99, "kind"),
        ("tile of an element", elements + 4, "<I", 99, "accelerator"),
        ("index of a guide", guides, "<I", 0xfffffffe, "there is no"),
        ("port of a guide", guides + 9, "<B", 15, "there is no"),
        ("type of a guide's end", guides + 10, "<B", 4, "name nothing"),
        ("edge that is not", guides + 10, "<B", 3, "name nothing"),
        ("class of a guide", guides + 12, "<H", 4, "class"),
        # Guide 0 ends at port 0 of element 0; guide 1 starts at port 0 of element 1.
        ("two guides at one port", guides + 16, "<I", 0, "already"),
        ("host of an accelerator", accelerators, "<I", 7, "host"),
        ("flags of an accelerator", accelerators + 10, "<H", 2, "flags"),
        ("host without end of name", hosts, "<32s", b"x" * 32, "NUL"),
    )
    for name, at, form, value, word in table:
        yield name, changed(blob, at, form, value), word
    yield "checksum", changed(blob, len(blob) - 1, "<B", 1, False), "checksum"
    yield "truncated head", blob[:100], "bytes"
    yield "truncated body", blob[:-8], "total_bytes"


def test_format(tap, directory):
    """The reader rejects each case with the right message."""
    with open(os.path.join(directory, "server4.bin"), "rb") as file:
        blob = file.read()
    for name, broken, word in breakages(blob):
        try:
            mp.Profile(broken)
            message = "accepted"
        except mp.Malformed as error:
            message = str(error)
        tap.check(word in message, f"refuses: {name} ({message})")


def test_bare_receiver(tap, directory):
    """A receive port without a guide is rejected. The mesh has free ports for this."""
    path = os.path.join(directory, "smartlight72.bin")
    with open(path, "rb") as file:
        blob = file.read()
    profile = mp.load(path)
    element, port = next((element, port) for element in range(profile.elements_count)
                         for port in range(4)
                         if profile.port_guide[profile.first_port[element] + port] < 0)
    guide = section(blob, "guides")[0] + 16 * (profile.rx_guide[0] >> 1)
    blob = changed(blob, guide + 4, "<I", element)
    blob = changed(blob, guide + 9, "<B", port)
    blob = changed(blob, guide + 11, "<B", mp.ELEMENT)
    try:
        mp.Profile(blob)
        message = "accepted"
    except mp.Malformed as error:
        message = str(error)
    tap.check("receive port 0 is the end of no guide" in message,
              f"refuses: bare receiver ({message})")


def close(value, wanted):
    """Equal within a thousandth of a dB."""
    return value is not None and abs(value - wanted) <= 1


def between(profile, kind, tile, ports):
    """The state that joins two ports, for the elements of the named kind on a tile."""
    found = []
    for element, number in enumerate(profile.element_kind):
        if profile.kinds[number].name == kind and profile.element_tile[element] == tile:
            found.append((element, profile.kinds[number].reach[ports[0]][ports[1]][0]))
    return found


def test_tracer(tap, directory):
    """Light in server4 from accelerator 0 to its neighbour 1, compared with figures computed by
    hand."""
    profile = mp.load(os.path.join(directory, "server4.bin"))
    states = profile.parked()
    lasers = {(0, 0): {3: 4000}}
    # Tile 0 has exits to the east and south, tile 1 to the south and west. Elements of plane 0 are
    # the first of each kind on a tile. Each exit has one "in" and one "out" element.
    for kind, tile, way, ports in (("tx2", 0, 0, (0, 1)), ("out2", 0, 0, (0, 1)),
                                   ("in2", 1, 1, (0, 1)), ("rx2", 1, 0, (0, 2))):
        element, state = between(profile, kind, tile, ports)[way]
        states[element] = state
    lit = mp.trace(profile, states, lasers)
    # 4 elements of 150, 4 waveguides of 20, 1 guide between tiles of 250
    tap.check(close(lit.get((1, 0), {}).get(3), 4000 - 930), "joined: the sum of the losses")
    tap.check(list(lit.get((1, 0), {})) == [3], "joined: no lane but the lit one")
    element, _ = between(profile, "rx2", 1, (0, 2))[0]
    states[element] = 0
    once = mp.trace(profile, states, lasers, max_leaks=1)
    tap.check(close(once.get((1, 0), {}).get(3), 4000 - 930 - 35000 + 150),
              "one element parked: extinction in place of its loss")
    tap.check(mp.trace(profile, states, lasers, max_leaks=0) == {}, "no leaks: nothing arrives")
    both = mp.trace(profile, profile.parked(), {(0, 0): {3: 4000}}, max_leaks=4,
                    most_mdb=150000)
    tap.check(close(both.get((1, 0), {}).get(3), 4000 - 330 - 140000),
              "all parked: extinction four times")
    states[element] = between(profile, "rx2", 1, (0, 2))[0][1]
    guide = profile.rx_guide[profile.parameters["planes"]] >> 1
    dim = mp.trace(profile, states, lasers, extra={"guide": {guide: 2000}})
    tap.check(close(dim.get((1, 0), {}).get(3), 4000 - 2930), "an added loss is added")


def test_mesh(tap, directory):
    """The mesh's counts detect a PUC that is connected the wrong way round."""
    profile = mp.load(os.path.join(directory, "smartlight72.bin"))
    turned = copy.copy(profile)
    turned._port = (bytearray(profile._port[0]), profile._port[1])
    turned._port[0][0] ^= 1
    try:
        checkprofile.mesh_counts(turned)
        message = "accepted"
    except checkprofile.Unsound as error:
        message = str(error)
    tap.check("order" in message, f"refuses: a turned PUC ({message})")


def test_rim(tap):
    """The ports of a mesh are numbered clockwise along its rim."""
    shape = Description(os.path.join(HERE, "smartlight72.yaml")).take("shape", hexmesh.HexMesh.SHAPE)
    tap.check(hexmesh.rim(7, 3) == shape["port_nodes"], "7x3: the rim has the listed ports")
    for width, height, first in ((1, 1, 1), (1, 2, 1), (3, 3, 7), (5, 5, 13), (7, 8, 19),
                                 (9, 9, 25), (17, 17, 49), (63, 64, 187)):
        nodes = [node for puc in hexmesh.pucs(width, height) for node in hexmesh.puc_nodes(*puc)]
        ports = sorted(node for node, count in Counter(nodes).items() if count == 1)
        nodes = hexmesh.rim(width, height)
        tap.check(nodes[0] == first and sorted(nodes) == ports,
                  f"{width}x{height}: the rim has each of {len(ports)} ports once, from {first}")


def test_spread(tap):
    """A number of accelerators is spread evenly over the rim."""
    for width, height, count, ports in ((1, 1, 2, [0, 2, 4, 6]), (3, 1, 3, [0, 2, 5, 8, 10, 13]),
                                        (5, 5, 20, list(range(40)))):
        shape = f"{{width: {width}, height: {height}, accelerators: {count}}}"
        path = os.path.join(HERE, "smartlight72.yaml")
        profile = mp.Profile(bytes(mkprofile.make(path, (("name", "mesh"), ("shape", shape)))))
        nodes = []
        for rank in range(count):
            for guide, end in ((profile.tx_guide[rank] >> 1, 1), (profile.rx_guide[rank] >> 1, 0)):
                _, element, port = profile.guide_end(guide, end)
                nodes.append(hexmesh.puc_nodes(*hexmesh.pucs(width, height)[element])[port])
        rim = hexmesh.rim(width, height)
        tap.check(nodes == [rim[port] for port in ports],
                  f"{width}x{height}: {count} accelerators at ports {ports[:6]}")


def test_repeatable(tap, directory):
    """The generator makes the same bytes again."""
    for name in ("server8", "rack64", "smartlight72"):
        with open(os.path.join(directory, f"{name}.bin"), "rb") as file:
            same = mkprofile.make(os.path.join(HERE, f"{name}.yaml")) == file.read()
        tap.check(same, f"{name} is made the same again")


def main():
    """Command line."""
    if len(sys.argv) != 2:
        sys.exit("usage: testprofile.py DIRECTORY")
    tap = Tap()
    print("TAP version 13")
    for test in (test_format, test_bare_receiver, test_tracer, test_mesh, test_repeatable):
        test(tap, sys.argv[1])
    test_rim(tap)
    test_spread(tap)
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
