# SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
"""An independent reader of device profiles, and a tracer of light.

It shares no code with the writer, the kernel or the library, so tests can compare each of them with
it. In short:
    profile = load("server8.bin")       # raises Malformed, naming the rule that was broken
    profile.parameters["planes"]        # the numbers of the header
    profile.kinds[k].states[s][p]       # the port joined to port p in state s, or None
    profile.element_kind[e], profile.element_tile[e]
    profile.guide_end(g, end)           # (type, index, port), end 0 or 1
    profile.guide_class[g], profile.guide_loss[g]
    profile.port_guide[profile.first_port[e] + p]   # 2 * guide + end, or -1
    profile.tx_guide[a * planes + j], profile.rx_guide[...]   # likewise
    profile.accelerators, profile.hosts, profile.edges
    profile.edge_guide[e]               # likewise

    states = profile.parked()           # a list: the parking state of every element
    arriving = trace(profile, states, {(accelerator, plane): {lane: power_mdbm}})
    arriving[(accelerator, plane)][lane]            # power in mdbm, a float

Light that enters at edge e has the source ("edge", e), and light that leaves there has this
receiver.
"""

import math
import struct
import sys
import zlib
from array import array
from collections import namedtuple

MAX_BYTES = 256 << 20
MAX_WAVELENGTHS, MAX_PORTS, MAX_STATES, MAX_PLANES = 64, 16, 64, 64
NO_PORT = 0xFF
NO_TILE = 0xFFFFFFFF
ELEMENT, TX, RX, EDGE = range(4)
WAVEGUIDE, TILE, FIBRE, TO_EDGE = range(4)
CLASS_NAMES = ("waveguide", "tile", "fibre", "edge")

# Fields of the header: name and format.
_HEADER = (
    ("magic", "8s"), ("version", "I"), ("header_bytes", "I"), ("total_bytes", "Q"),
    ("checksum", "I"), ("reserved0", "I"), ("name", "32s"), ("wavelengths", "I"), ("planes", "I"),
    ("lane_mbps", "Q"), ("laser_mdbm", "i"), ("sensitivity_mdbm", "i"), ("overload_mdbm", "i"),
    ("margin_mdb", "I"), ("isolation_mdb", "I"), ("dark_mdbm", "i"), ("window_mdb", "I"),
    ("drift_mdb", "I"), ("settle_ns", "Q"), ("relock_ns", "Q"), ("write_fixed_ns", "Q"),
    ("write_each_ns", "Q"), ("deadline_ns", "Q"), ("drift_period_ns", "Q"), ("flags", "I"),
    ("reserved1", "I"),
)
# Sections in order, and the size of a record of each.
_SECTIONS = (("kinds", 40), ("states", 16), ("elements", 8), ("guides", 16),
             ("accelerators", 12), ("hosts", 32), ("edges", 40))
_HEADER_BYTES = struct.calcsize("<" + "".join(form for _, form in _HEADER)) + 16 * len(_SECTIONS)
_NOT_PARAMETERS = ("magic", "version", "header_bytes", "total_bytes", "checksum", "reserved0",
                   "name", "flags", "reserved1")

# Minimum and maximum of the parameters, by unit.
_RANGES = {"mdbm": (-200000, 200000), "mdb": (0, 100000), "ns": (0, 3600 * 10 ** 9),
           "mbps": (1, 10 ** 12)}

Kind = namedtuple("Kind", "name ports park first_state states loss_mdb extinction_mdb reach")
Accelerator = namedtuple("Accelerator", "host position spare")
Edge = namedtuple("Edge", "name peer_uuid peer_edge least_mdbm most_mdbm")


class Malformed(ValueError):
    """The blob breaks a rule of the format. The message names the rule and the place."""


def _require(condition, message):
    if not condition:
        raise Malformed(message)


def _name(raw, where, legal=None):
    """The text of a NUL-terminated field."""
    _require(b"\0" in raw, f"{where}: the name is not NUL-terminated")
    name, rest = raw[:raw.index(b"\0")], raw[raw.index(b"\0"):]
    _require(not any(rest), f"{where}: bytes after the end of the name are not zero")
    _require(all(32 <= c < 127 for c in name), f"{where}: the name {name!r} is not printable")
    _require(legal is None or (name and all(chr(c) in legal for c in name)),
             f"{where}: the name must be of the characters a-z 0-9 _ -, and is {name!r}")
    return name.decode("ascii", "backslashreplace")


def _words(raw, code):
    words = array(code)
    words.frombytes(raw)
    if sys.byteorder == "big":
        words.byteswap()
    return words


class Profile:
    """A profile, checked completely and converted to arrays."""

    def __init__(self, blob):
        self._blob = blob
        self._sections = {}
        self._read_header()
        self._read_sections()
        self._read_kinds()
        self._read_places()
        self._read_elements()
        self._read_guides()
        self._attach()
        del self._blob

    # ------------------------------------------------------------------- parser

    def _read_header(self):
        blob = self._blob
        _require(_HEADER_BYTES <= len(blob) <= MAX_BYTES,
                 f"the blob has {len(blob)} bytes; at least {_HEADER_BYTES} and at most "
                 f"{MAX_BYTES} are possible")
        values = struct.unpack_from("<" + "".join(form for _, form in _HEADER), blob)
        head = dict(zip((name for name, _ in _HEADER), values))
        _require(head["magic"] == b"MORPHPF1", "byte 0: the magic is not 'MORPHPF1'")
        _require(head["version"] == 1, f"version {head['version']} is unknown; 1 is known")
        _require(head["header_bytes"] == _HEADER_BYTES,
                 f"header_bytes is {head['header_bytes']}, must be {_HEADER_BYTES}")
        _require(head["total_bytes"] == len(blob),
                 f"total_bytes is {head['total_bytes']}, but the blob has {len(blob)}")
        crc = zlib.crc32(blob[28:], zlib.crc32(b"\0\0\0\0", zlib.crc32(blob[:24])))
        _require(head["checksum"] == crc,
                 f"the checksum is {head['checksum']:08x}, but the bytes have {crc:08x}")
        for field in ("reserved0", "reserved1", "flags"):
            _require(head[field] == 0, f"{field} is {head[field]}, must be 0")
        self.name = _name(head["name"], "header", "abcdefghijklmnopqrstuvwxyz0123456789_-")
        self.checksum = crc
        self.bytes = len(blob)
        self.parameters = {key: value for key, value in head.items()
                           if key not in _NOT_PARAMETERS}
        for key, most in (("wavelengths", MAX_WAVELENGTHS), ("planes", MAX_PLANES)):
            _require(1 <= head[key] <= most, f"{key} is {head[key]}, must be 1 to {most}")
        _require(head["dark_mdbm"] <= head["sensitivity_mdbm"] <= head["overload_mdbm"],
                 "dark, sensitivity and overload powers are not in rising order")
        for key, value in self.parameters.items():
            unit = key.rsplit("_", 1)[-1]
            if unit in _RANGES:
                least, most = _RANGES[unit]
                _require(least <= value <= most,
                         f"{key} is {value}, must be {least} to {most}")
        _require(head["deadline_ns"] > 0, "deadline_ns is 0, must be more")

    def _read_sections(self):
        end = _HEADER_BYTES
        for number, (name, size) in enumerate(_SECTIONS):
            at = _HEADER_BYTES - 16 * (len(_SECTIONS) - number)
            offset, count, stride = struct.unpack_from("<QII", self._blob, at)
            _require(stride == size, f"section {name}: stride is {stride}, must be {size}")
            _require(offset % 8 == 0, f"section {name}: offset {offset} is no multiple of 8")
            _require(offset + count * size <= len(self._blob),
                     f"section {name}: {count} records at {offset} end beyond the blob")
            if count:
                _require(offset >= end, f"section {name}: at {offset}, inside what is before it")
                _require(not any(self._blob[end:offset]),
                         f"section {name}: bytes {end} to {offset} before it are not zero")
                end = offset + count * size
            self._sections[name] = (offset, count, size)
        _require(not any(self._blob[end:]), f"bytes after {end} belong to no section, are not zero")

    def _section(self, name):
        offset, count, size = self._sections[name]
        return self._blob[offset:offset + count * size]

    def _read_kinds(self):
        raw = self._section("states")
        self.kinds = []
        owned = bytearray(len(raw) // 16)
        for number, record in enumerate(struct.iter_unpack("<16sBBHIIIII",
                                                           self._section("kinds"))):
            name, ports, park, count, first, loss, extinction, flags, reserved = record
            where = f"kind {number}"
            _require(1 <= ports <= MAX_PORTS, f"{where}: {ports} ports, must be 1 to {MAX_PORTS}")
            _require(1 <= count <= MAX_STATES,
                     f"{where}: {count} states, must be 1 to {MAX_STATES}")
            _require(park < count, f"{where}: parking state {park} of {count} states")
            _require(flags == 0 and reserved == 0, f"{where}: flags and reserved must be 0")
            _require(loss <= extinction < _RANGES["mdb"][1],
                     f"{where}: loss {loss} and extinction {extinction} must rise, below {_RANGES['mdb'][1]}")
            _require(first + count <= len(owned),
                     f"{where}: states {first} to {first + count - 1} of {len(owned)}")
            states = []
            for state in range(first, first + count):
                _require(not owned[state], f"{where}: state {state} is another kind's too")
                owned[state] = 1
                joins = raw[16 * state:16 * state + 16]
                states.append(_joins(joins, ports, f"{where}, state {state - first}"))
            self.kinds.append(Kind(_name(name, where), ports, park, first, states, loss,
                                   extinction, _reach(states, ports)))
        _require(all(owned), f"state {owned.find(0)} belongs to no kind")

    def _read_places(self):
        self.hosts = [_name(raw, f"host {number}")
                      for number, (raw,) in enumerate(struct.iter_unpack("<32s",
                                                                         self._section("hosts")))]
        _require(self._sections["accelerators"][1] > 0, "there is no accelerator")
        self.accelerators = []
        for number, (host, x, y, z, flags) in enumerate(
                struct.iter_unpack("<IHHHH", self._section("accelerators"))):
            _require(host < len(self.hosts), f"accelerator {number}: there is no host {host}")
            _require(flags in (0, 1), f"accelerator {number}: unknown flags {flags:#x}")
            self.accelerators.append(Accelerator(host, (x, y, z), flags == 1))
        self.edges = []
        for number, (peer, edge, least, most, name) in enumerate(
                struct.iter_unpack("<16sIhh16s", self._section("edges"))):
            _require(least <= most <= self.parameters["laser_mdbm"],
                     f"edge {number}: least, most and laser powers are not in rising order")
            self.edges.append(Edge(_name(name, f"edge {number}"), peer, edge, least, most))

    def _read_elements(self):
        words = _words(self._section("elements"), "I")
        self.element_kind, self.element_tile = words[0::2], words[1::2]
        self.first_port = array("I")
        ports = 0
        for number, (kind, tile) in enumerate(zip(self.element_kind, self.element_tile)):
            _require(kind < len(self.kinds), f"element {number}: there is no kind {kind}")
            _require(tile == NO_TILE or tile < len(self.accelerators),
                     f"element {number}: there is no accelerator {tile}")
            self.first_port.append(ports)
            ports += self.kinds[kind].ports
        self.port_guide = array("q", [-1]) * ports

    def _read_guides(self):
        raw = self._section("guides")
        words, halves = _words(raw, "I"), _words(raw, "H")
        self._index = (words[0::4], words[1::4])
        self._port = (raw[8::16], raw[9::16])
        self._type = (raw[10::16], raw[11::16])
        self.guide_class, self.guide_loss = halves[6::8], halves[7::8]
        for guide, number in enumerate(self.guide_class):
            _require(number < len(CLASS_NAMES), f"guide {guide}: unknown class {number}")

    def _attach(self):
        planes = self.parameters["planes"]
        ports = len(self.accelerators) * planes
        self.tx_guide, self.rx_guide = array("q", [-1]) * ports, array("q", [-1]) * ports
        self.edge_guide = array("q", [-1]) * len(self.edges)
        tables = {TX: self.tx_guide, RX: self.rx_guide}
        kinds = [kind.ports for kind in self.kinds]
        for end in (0, 1):
            for guide, (kind, index, port) in enumerate(zip(self._type[end], self._index[end],
                                                            self._port[end])):
                if kind == ELEMENT:
                    _require(index < len(self.element_kind) and
                             port < kinds[self.element_kind[index]],
                             f"guide {guide}: there is no element {index} with a port {port}")
                    table, at = self.port_guide, self.first_port[index] + port
                elif kind in tables:
                    _require(index < len(self.accelerators) and port < planes,
                             f"guide {guide}: there is no accelerator {index} with a port {port}")
                    table, at = tables[kind], index * planes + port
                else:
                    _require(kind == EDGE and index < len(self.edges) and port == 0,
                             f"guide {guide}: end {end} has the type {kind}, index {index} and "
                             f"port {port}, which name nothing")
                    table, at = self.edge_guide, index
                _require(table[at] < 0, f"guide {guide}: its end {end} is at a port that guide "
                                        f"{table[at] // 2} has already")
                table[at] = 2 * guide + end
        for word, table in (("transmit", self.tx_guide), ("receive", self.rx_guide)):
            for at, guide in enumerate(table):
                _require(guide >= 0, f"accelerator {at // planes}: {word} port {at % planes} is "
                                     "the end of no guide")
        for edge, guide in enumerate(self.edge_guide):
            _require(guide >= 0, f"edge {edge} is the end of no guide")
        for guide, ends in enumerate(zip(*self._type)):
            _require(ends != (EDGE, EDGE), f"guide {guide}: leads from an edge to an edge")

    # ------------------------------------------------------------------- queries

    @property
    def elements_count(self):
        """Number of elements."""
        return len(self.element_kind)

    @property
    def guides_count(self):
        """Number of guides."""
        return len(self.guide_class)

    def guide_end(self, guide, end):
        """The object at end 0 or 1 of a guide: (type, index, port)."""
        return self._type[end][guide], self._index[end][guide], self._port[end][guide]

    def parked(self):
        """The parking state of every element."""
        park = [kind.park for kind in self.kinds]
        return [park[kind] for kind in self.element_kind]


def _joins(raw, ports, where):
    """One state: for each port the port joined to it, or None."""
    for port, other in enumerate(raw):
        if other == NO_PORT:
            continue
        _require(port < ports and other < ports,
                 f"{where}: joins port {port} to {other}, but there are {ports} ports")
        _require(other != port, f"{where}: joins port {port} to itself")
        _require(raw[other] == port, f"{where}: joins {port} to {other}, but not {other} to {port}")
    return tuple(None if other == NO_PORT else other for other in raw[:ports])


def _reach(states, ports):
    """For each port the ports that some state joins to it: {other port: states}."""
    reach = [{} for _ in range(ports)]
    for number, joins in enumerate(states):
        for port, other in enumerate(joins):
            if other is not None:
                reach[port].setdefault(other, []).append(number)
    return reach


def load(path):
    """Read a profile from a file; raises Malformed or OSError."""
    with open(path, "rb") as file:
        blob = file.read(MAX_BYTES + 1)
    return Profile(blob)


def gains(profile, states, source, max_leaks=2, most_mdb=100000, extra=None):
    """The share of a source's power that reaches each receiver: {receiver: gain}.

    Sources and receivers are (accelerator, plane) or ("edge", edge). The search follows light that
    has leaked into a wrong port at most max_leaks times and has lost at most most_mdb. extra gives
    additional losses in mdb: {"guide": {g: mdb}, "element": {e: mdb}}.
    """
    extra_guide = (extra or {}).get("guide", {})
    extra_element = (extra or {}).get("element", {})
    planes = profile.parameters["planes"]
    found = {}
    if source[0] == "edge":
        rays = [(profile.edge_guide[source[1]], 0, 0)]
    else:
        rays = [(profile.tx_guide[source[0] * planes + source[1]], 0, 0)]
    while rays:
        code, loss, leaks = rays.pop()
        guide, end = code >> 1, code & 1
        loss += profile.guide_loss[guide] + extra_guide.get(guide, 0)
        if loss > most_mdb:
            continue
        what, index, port = profile.guide_end(guide, 1 - end)
        if what in (RX, EDGE):
            receiver = (index, port) if what == RX else ("edge", index)
            found[receiver] = found.get(receiver, 0.0) + 10 ** (-loss / 10000)
        if what != ELEMENT:
            continue
        kind = profile.kinds[profile.element_kind[index]]
        joined = kind.states[states[index]][port]
        loss += extra_element.get(index, 0)
        for other in kind.reach[port]:
            onward = profile.port_guide[profile.first_port[index] + other]
            if onward < 0:
                continue
            if other == joined:
                rays.append((onward, loss + kind.loss_mdb, leaks))
            elif leaks < max_leaks:
                rays.append((onward, loss + kind.extinction_mdb, leaks + 1))
    return found


def trace(profile, states, lasers, **limits):
    """The light at receivers: {(accelerator, plane): {lane: power_mdbm}}.

    states has the state of every element. lasers has the lit lasers: {(accelerator, plane): {lane:
    power_mdbm}}. limits are those of gains(). Powers that reach one receiver on one lane add up.
    Receivers without light do not appear.
    """
    sums = {}
    for source, lanes in lasers.items():
        for receiver, gain in gains(profile, states, source, **limits).items():
            powers = sums.setdefault(receiver, {})
            for lane, power in lanes.items():
                powers[lane] = powers.get(lane, 0.0) + gain * 10 ** (power / 10000)
    return {receiver: {lane: 10000 * math.log10(power) for lane, power in powers.items()}
            for receiver, powers in sums.items()}
