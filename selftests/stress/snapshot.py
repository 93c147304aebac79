# SPDX-License-Identifier: GPL-2.0-only
"""Snapshots: every object that netlink dumps, the simulated hardware, and the holders of files.

The only source besides the running system is the header with the numbers of the ABI. A Snapshot
consists of plain dictionaries, so that tests can check proof.py with altered ones.

    net = Netlink()
    snapshot = take(net, "sim0")        # snapshot of that fabric; does not wait
    monitor = Netlink()
    monitor.join()                      # then monitor.events() returns events; send no requests
"""

import contextlib
import errno
import glob
import os
import re
import socket
import struct
from dataclasses import dataclass, field

import slices

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HEADERS = ("uapi/linux/morph_netlink.h", "uapi/linux/morph.h")
DEBUGFS = "/sys/kernel/debug"

GENL_ID_CTRL, CTRL_CMD_GETFAMILY = 16, 3
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME, CTRL_ATTR_MCAST_GROUPS = 1, 2, 7
NLMSG_ERROR, NLMSG_DONE = 2, 3
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP, NLM_F_DUMP_INTR = 0x1, 0x4, 0x300, 0x10
SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, SO_RCVBUFFORCE = 270, 1, 33

# Objects that netlink dumps, with their lists, strings and nests; all other attributes are numbers.
OBJECTS = ("fabric", "accelerator", "guide", "element", "edge", "slice", "circuit", "txn", "hardware", "quota")
LISTS = {"circuit": ("guide", "element", "element_state"), "slice": ("rank",), "txn": ("change",)}
NESTS = {("slice", "rank"): "rank", ("txn", "change"): "change"}
TEXTS = ("name", "profile", "host_name", "pci", "kind", "text", "uuid", "peer_uuid", "old_pci", "new_pci", "old_uuid",
         "new_uuid", "times")
SIGNED = {"txn": ("status",), "change": ("status",)}


class Torn(Exception):
    """The data are not consistent; try again."""


def numbers():
    """Return the numbers of the ABI by name: enums count from the written value, or from 0."""
    found = {}
    for header in HEADERS:
        with open(os.path.join(TOP, header), encoding="ascii") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        for body in re.findall(r"enum\s*\w*\s*\{(.*?)\}", text, flags=re.S):
            value = -1
            for name, given in re.findall(r"(\w+)\s*(?:=\s*([^,]+))?(?:,|$)", body.strip(), flags=re.S):
                value = (int(given, 0) if re.fullmatch(r"\w+", given.strip()) and given.strip()[0].isdigit()
                         else value) if given else value + 1
                found.setdefault(name, value)
    return found


NUMBERS = numbers()


def attributes(kind):
    """Names of an object's attributes by number."""
    prefix = f"MORPH_A_{kind.upper()}_"
    return {value: name[len(prefix):].lower() for name, value in NUMBERS.items()
            if name.startswith(prefix) and not name.endswith(("_PAD", "_MAX"))}


ATTRIBUTES = {kind: attributes(kind) for kind in (*OBJECTS, "rank", "change", "event")}


def split(data):
    """(type, value) of each attribute."""
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("HH", data, at)
        if length < 4:
            return
        yield kind & 0x3fff, data[at + 4:at + length]
        at += (length + 3) & ~3


def decode(kind, data):
    """One object as a dictionary."""
    names, lists = ATTRIBUTES[kind], LISTS.get(kind, ())
    found = {name: [] for name in lists}
    for number, value in split(data):
        name = names.get(number)
        if name is None:
            continue
        if (kind, name) in NESTS:
            value = decode(NESTS[kind, name], value)
        elif name in TEXTS:
            value = value if name.endswith("uuid") or name == "times" else value.rstrip(b"\0").decode("ascii", "replace")
        else:
            value = int.from_bytes(value, "little", signed=name in SIGNED.get(kind, ()))
        if name in lists:
            found[name].append(value)
        else:
            found[name] = value
    return found


class Netlink:
    """A raw socket to the family."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.socket.bind((0, 0))
        self.family = self.sequence = 0
        self.overrun = False

    def find(self):
        """Read the family's number again, because the modules may have been reloaded."""
        request = struct.pack("HH", 4 + 6, CTRL_ATTR_FAMILY_NAME) + b"morph\0\0\0"
        (reply,) = self._ask(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, request, 0)
        found = dict(split(reply))
        self.family = struct.unpack("H", found[CTRL_ATTR_FAMILY_ID])[0]
        groups = [dict(split(group)) for _, group in split(found[CTRL_ATTR_MCAST_GROUPS])]
        return {group[1].rstrip(b"\0"): struct.unpack("I", group[2])[0] for group in groups}

    def join(self):
        """Join the group of events, with a buffer for a long run."""
        group = self.find()[b"monitor"]
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 256 << 20)
        self.socket.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, group)

    def _messages(self, flags=0):
        """(type, flags, sequence, payload) of what comes in one read."""
        data = self.socket.recv(1 << 20, flags)
        at = 0
        while at + 16 <= len(data):
            length, kind, bits, sequence, _ = struct.unpack_from("IHHII", data, at)
            yield kind, bits, sequence, data[at + 16:at + length]
            at += (length + 3) & ~3

    def _ask(self, family, command, request, flags):
        """The replies' attributes."""
        self.sequence += 1
        head = struct.pack("IHHIIBBH", 20 + len(request), family, NLM_F_REQUEST | flags, self.sequence, 0, command, 1, 0)
        self.socket.send(head + request)
        replies = []
        while True:
            for kind, bits, sequence, payload in self._messages():
                if sequence != self.sequence:
                    continue
                if bits & NLM_F_DUMP_INTR:
                    replies = None
                if kind in (NLMSG_ERROR, NLMSG_DONE):
                    error = struct.unpack_from("i", payload)[0] if payload else 0
                    if replies is None or error == -errno.ENODEV:
                        raise Torn(f"command {command}")
                    if error:
                        raise OSError(-error, os.strerror(-error))
                    return replies
                if replies is not None:
                    replies.append(payload[4:])
                if not flags:
                    return replies

    def dump(self, kind, fabric=None):
        """Return all objects of a kind."""
        if not self.family:
            self.find()
        number = NUMBERS["MORPH_A_FABRIC_ID" if kind == "fabric" else f"MORPH_A_{kind.upper()}_FABRIC"] \
            if fabric is not None else 0
        request = b"" if fabric is None else struct.pack("HHI", 8, number, fabric)
        replies = self._ask(self.family, NUMBERS[f"MORPH_CMD_{kind.upper()}_GET"], request, NLM_F_DUMP)
        return join_parts(kind, [decode(kind, reply) for reply in replies])

    def whole_dump(self, kind, fabric=None):
        """Return all objects; repeat the dump while objects change."""
        while True:
            with contextlib.suppress(Torn):
                return self.dump(kind, fabric)

    def request(self, command, **attributes):
        """Send a change with numbers, strings and flags of the attribute set that the command's
        name begins with."""
        if not self.family:
            self.find()
        prefix = f"MORPH_A_{command.split('_')[0]}_"
        data = b""
        for name, value in attributes.items():
            value = value if isinstance(value, bytes) else \
                value.encode() + b"\0" if isinstance(value, str) else struct.pack("I", value)
            head = struct.pack("HH", 4 + len(value), NUMBERS[prefix + name.upper()])
            data += head + value + bytes(-len(value) % 4)
        return self._ask(self.family, NUMBERS["MORPH_CMD_" + command], data, NLM_F_ACK)

    def events(self):
        """Return the events since the last call, in order. Set overrun if netlink reports lost
        events."""
        found = []
        while True:
            try:
                for kind, _, _, payload in self._messages(socket.MSG_DONTWAIT):
                    if kind == self.family and payload[0] == NUMBERS["MORPH_CMD_EVENT_NTF"]:
                        found.append(decode("event", payload[4:]))
            except BlockingIOError:
                return found
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                self.overrun = True


def join_parts(kind, objects):
    """Merge a slice or transaction from several messages."""
    whole = []
    for this in objects:
        if kind in ("slice", "txn") and whole and whole[-1]["id"] == this["id"]:
            for name in LISTS[kind]:
                whole[-1][name] += this[name]
        else:
            whole.append(this)
    return whole


# ------------------------------------------------------------------------------------- the hardware

@dataclass
class Hardware:
    """The simulator's file "hardware"."""
    operation: int = 0
    states: dict = field(default_factory=dict)      # element: state
    lasers: dict = field(default_factory=dict)      # port: mask of lanes that are on
    lit: dict = field(default_factory=dict)         # receiver: mask of lanes that it sees
    incoming: dict = field(default_factory=dict, compare=False)     # edge: {lane: drifting mdbm}
    settling: bool = False


def read_hardware(lines):
    found = Hardware()
    for words in map(str.split, lines):
        kind, number = words[0], int(words[1]) if words[1].isdigit() else None
        if kind == "clock":
            found.operation = int(words[words.index("operation") + 1])
        elif kind == "element":
            found.states[number] = int(words[3])
            found.settling |= "settles_ns" in words
        elif kind == "laser":
            if int(words[3], 16):
                found.lasers[number] = int(words[3], 16)
        elif kind == "receiver":
            found.lit[number] = int(words[3], 16)
        elif kind == "edge":
            powers = (word.split(":") for word in words[words.index("power") + 1:])
            found.incoming[number] = {int(lane): int(power) for lane, power in powers}
    return found


# -------------------------------------------------------------------------------------- the holders

@dataclass(frozen=True)
class Holder:
    """An open file of a slice, or of a fabric."""
    pid: int
    fd: int
    fabric: int
    slice: int = None
    grant: int = None


def read_holders():
    """Find all open files of the driver in /proc."""
    found = []
    for link in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            target = os.readlink(link)
            if "[morph-" not in target and not target.startswith("/dev/morph/"):
                continue
            with open(link.replace("/fd/", "/fdinfo/"), encoding="ascii") as file:
                keys = dict(line.split(None, 1) for line in file if line.startswith("morph-") and len(line.split()) > 1)
        except (FileNotFoundError, ProcessLookupError):
            continue
        if "morph-fabric:" in keys:
            _, _, pid, _, number = link.split("/")
            found.append(Holder(int(pid), int(number), int(keys["morph-fabric:"]),
                                *(int(keys[key]) if key in keys else None for key in ("morph-slice:", "morph-grant:"))))
    return found


def read_ledger(fabric):
    """Read the core's own accounts."""
    with open(f"{DEBUGFS}/morph/fabric{fabric}/ledger", encoding="ascii") as file:
        return {key: int(value) for key, value in (line.rstrip().rsplit(None, 1) for line in file)}


@dataclass
class Snapshot:
    """The complete state of one fabric. objects[kind] is a list of dictionaries, like schedules;
    loads are order.Load."""
    objects: dict
    hardware: Hardware
    ledger: dict
    holders: list
    schedules: list = field(default_factory=list)
    pages: dict = field(default_factory=dict)
    loads: dict = field(default_factory=dict)

    @property
    def fabric(self):
        return self.objects["fabric"][0]


def read_lines(name):
    with open(f"{DEBUGFS}/morph_sim/{name}/hardware", encoding="ascii") as file:
        return file.readlines()


def take(net, name):
    """Take a snapshot; Torn if objects changed meanwhile."""
    number = next((fabric["id"] for fabric in net.dump("fabric") if fabric["name"] == name), None)
    if number is None:
        raise Torn(f"there is no fabric {name}")
    objects = {kind: net.dump(kind, None if kind == "quota" else number) for kind in OBJECTS}
    hardware = read_hardware(read_lines(name))
    snapshot = Snapshot(objects, hardware, read_ledger(number), read_holders())
    try:
        snapshot.schedules, snapshot.pages = slices.read(objects["slice"], snapshot.holders)
    except OSError as error:
        raise Torn(f"a slice went: {error}") from None
    after = read_hardware(read_lines(name))
    if net.dump("fabric", number)[0]["seq"] != snapshot.fabric["seq"]:
        raise Torn("the fabric changed")
    if after != hardware:
        raise Torn("the hardware changed")
    return snapshot
