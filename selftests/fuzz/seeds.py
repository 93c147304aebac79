#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Make inputs for the targets from real files: seeds.py OUTPUT PROFILES"""

import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tools/tests"))

import recordings   # noqa: E402

# The lines of each recording, those of subdirectories left out.
RECORDINGS = [record["lines"] for name, record in sorted(recordings.read().items(), key=lambda item: item[0] + ".jsonl")
              if "/" not in name]
ERROR, DONE, CONTROL = 2, 3, 16
KINDS = {ERROR: 1, DONE: 2, CONTROL: 3}     # of netlink.c; all else is an object
MOST = 40                                   # of one kind: more would be more of the same
# in a profile's header: offset and number of its sections
TABLE, SECTIONS = 168, 7
WIRE = (TOP / "libmorph/include/morph/wire.h").read_text(encoding="utf-8")
WIRE_VERSION = int(re.search(r"MORPH_WIRE_VERSION (\d+)U", WIRE)[1])
PLENTY = 4096                               # bytes; longer lists are truncated


class Seeds:
    """Files of one target, without doubles."""

    def __init__(self, root, target):
        self.path = root / target
        self.path.mkdir(parents=True)
        self.known = set()

    def add(self, data):
        """One more input."""
        if data not in self.known:
            (self.path / f"{len(self.known):03}").write_bytes(data)
            self.known.add(data)


def unpack(text):
    """Bytes out of a recording's hexadecimal, where zN. stands for N zeros."""
    plain = re.sub(r"z(\d+)\.", lambda run: "00" * int(run[1]), text)
    return bytes.fromhex(plain)


def messages(datagram):
    """The netlink messages of a datagram, as netlink.c eats them."""
    while len(datagram) >= 16:
        length = int.from_bytes(datagram[:4], sys.byteorder)
        kind, flags = (int.from_bytes(datagram[at:at + 2], sys.byteorder) for at in (4, 6))
        body = datagram[16:length]
        yield bytes((KINDS.get(kind, 0), flags & 0xf | flags >> 4 & 0xf0)) + len(body).to_bytes(2, "little") + body
        datagram = datagram[(length + 3) & ~3:]


def exchanges(lines):
    """Return the answers after each netlink request of a recording."""
    answer = b""
    for line in lines:
        if line["op"] == "receive" and line["result"] > 0:
            answer += b"".join(messages(unpack(line["after"])))
        elif line["op"] == "send" and answer:
            yield answer
            answer = b""
    if answer:
        yield answer


def refusal():
    """A refusal with its numbers in a cookie."""
    body = struct.pack("=i", -2) + bytes(16)
    for kind, data in ((1, b"no accelerator {index} (0-{last})\0"), (3, struct.pack("=IIIii", 41, 1, 77, 10, 0))):
        body += struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)
    return next(messages(struct.pack("=IHHII", 16 + len(body), ERROR, 0x300, 0, 0) + body))


def netlink(seeds):
    """Answers to each kind of call."""
    for call in (1, 11):
        seeds.add(bytes([call]) + refusal())
    for lines in RECORDINGS:
        for number, answer in enumerate(exchanges(lines)):
            if len(answer) <= PLENTY and len(seeds.known) < 8 * MOST:
                seeds.add(bytes([number % 15]) + answer)
                seeds.add(bytes([0x80]) + answer)


def device(seeds):
    """Events as a slice's file gives them, and lists of nodes."""
    for lines in RECORDINGS:
        for line in lines:
            if line["op"] == "read" and line["result"] > 0:
                seeds.add(b"\0" + unpack(line["after"]))
            elif line["op"] in ("devices", "watched") and line["result"] >= 0:
                seeds.add(bytes([1 + (line["op"] == "watched")]) + line["text"].encode())
    event = (248).to_bytes(4, sys.byteorder) + bytes([3]) + bytes(243)
    seeds.add(b"\0" + event * 2)
    seeds.add(b"\1add fabric 0 /dev/morph/fabric0\nadd slice 3 /dev/morph/slice3\n")
    seeds.add(b"\2remove slice 3 /dev/morph/slice3\n")


def recording(seeds):
    """Lines of each op."""
    kept = {}
    for lines in RECORDINGS:
        for found in lines:
            line = recordings.encode(found)
            key = found["op"], found["text"] if found["op"] == "ioctl" else ""
            kept[key] = kept.get(key, 0) + 1
            if kept[key] <= 3 and len(line) <= PLENTY:
                seeds.add(line.encode())


def document(seeds):
    """The examples of the manual, and documents of the tests."""
    text = (TOP / "tools/tests/apply.bats").read_text(encoding="utf-8")
    for match in re.findall(r"<<-?\s*'?(\w+)'?\n(.*?)\n\s*\1\n", text, re.S):
        seeds.add(match[1].encode() + b"\n")
    seeds.add(b'{"slices": [{"name": "a", "ranks-count": 4, "ring": {"lanes-count": 2, "both": true}, "owner": "root",\n'
              b' "mode": "0660", "failover": "manual", "transit": "own", "spares": [4, "0000:3b:00.0"], "reserved": false,\n'
              b' "circuits": [{"src-rank": 0, "dst-rank": 1, "lanes-count": 3, "src-plane": 1, "dst-plane": 0}]}]}\n')
    seeds.add(b"slices:\n- name: b\n  accelerators: [0, 1, 2]\n  spare-policy: host\n  ring: true\n")


def graph(seeds):
    """Links from the tests, and invalid ones."""
    text = (TOP / "tools/tests/place.bats").read_text(encoding="utf-8")
    for match in re.findall(r"\b(?:graph \d|refused) '(.*?)'", text):
        seeds.add(match.encode().decode("unicode_escape").encode())
    for text in ("0 1\n1 2\n2 0\n", "# ring\n\n 0\t1 # one\r\n1 0", "0 0x1\n", "1 2\n", "0 4095\n", "0 4096\n", "0 1\0\n", "0 1 2\n",
                 "0\n", "-1 0\n", "".join(f"{rank} {rank + 1}\n" for rank in range(300))):
        seeds.add(text.encode())


def words(seeds):
    """A few of each kind."""
    for word in ("0", "17", "0x1f", "4294967295", "18446744073709551616", "0.25", "1e9", "nan", "1,2,3", ",", "list",
                 "automatic", "element-pinned", "element_pinned", "0000:3b:00.0", "a", "of",
                 "01234567-89ab-cdef-0123-456789abcdef"):
        seeds.add(word.encode())


def jobs(seeds):
    """The demo's own file, and some files that caused errors."""
    lines = (TOP / "selftests/demo/jobs.csv").read_text(encoding="ascii").splitlines(True)
    seeds.add(b"\x3f\x78" + "".join(lines[:20]).encode())
    for text in ("5,1,1,trace\n5,9,2,drawn\n", "0,1,1,trace\n", "0,1,600,trace\n9,1,600,trace\n",
                 "0,1e-300,1,trace\n0,9e8,64,drawn\n", "0,0,1,trace\n", "0,1,0,trace\n", "nan,inf,-1,trace\n", "9,1,1,trace\n8,1,1,trace\n", "0,1,1,none\n",
                 "0,1,1,trace", "#" * 300 + "\n0,1,1,trace\n", "0,1,1,trace\n" * 600):
        seeds.add(b"\x3f\x78" + text.encode())


def faults(seeds):
    """Each line of the table of faults, with its arguments, and the other files' lines."""
    targets = {"ACCELERATOR": "3", "LASER": "1.2.0x5", "ELEMENT": "4", "GUIDE": "5", "RECEIVER": "2.1", "DEVICE": "-"}
    table = (TOP / "kmod/sim/fault_table.h").read_text(encoding="utf-8")
    for name, target, argument in re.findall(r"^SIM_FAULT\((\w+), (\w+), (\w+)", table, re.M):
        own = "" if argument == "NONE" else f" {argument.lower()}=1"
        seeds.add(f"\0{name} {targets[target]}{own} after=3 for=1000\n".encode())
    seeds.add(b"\0accelerator_flapping 0 period=1000 count=18 after=18446744073709551615 at_op=18446744073709551615\n")
    for line in ("\0random 7 12 over=5", "\1all", "\0017", "\0024 1", "\0032 01234567-89ab-cdef-0123-456789abcdef"):
        seeds.add(line.encode())


def profile(seeds, profiles):
    """The smaller profiles, complete, and with each byte of the header and the first records
    changed."""
    for name in ("server4", "edge4", "smartlight72"):
        seeds.add((profiles / f"{name}.bin").read_bytes())
    whole = (profiles / "edge4.bin").read_bytes()
    places = list(range(TABLE + 16 * SECTIONS))
    for section in range(SECTIONS):
        offset, _, stride = struct.unpack_from("<QII", whole, TABLE + 16 * section)
        places += range(offset, offset + stride)
    for at in places:
        seeds.add(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:])


def ledger(seeds):
    """A circuit on each fabric, released, marked, judged."""
    for fabric in range(3):
        seeds.add(bytes([fabric, 0, 0x40, 0, 1, 1, 0x40, 1, 0, 3, 0]))
        seeds.add(bytes([fabric, 0, 0x44, 0, 1, 7, 4, 1, 3, 0, 0x48, 0, 1, 5, 9, 2, 0x80, 2, 3, 6, 2, 0, 1, 1, 4, 5, 1]))


def wire(kind, checksum, *body):
    """Prefix the output of a planner with its length, like libmorph's wire.h."""
    words = (0x4c504d57, WIRE_VERSION, kind, checksum, 5 + len(body), *body)
    return struct.pack(f"<I{len(words)}I", 4 * len(words), *words)


def answers(seeds, profiles):
    """A ring of two with defragmentation on an empty fabric; and protection of its ranks without
    spares."""
    blob = (profiles / "server4.bin").read_bytes()
    checksum, = struct.unpack_from("<I", blob, 24)
    elements, guides, accelerators = (struct.unpack_from("<I", blob, TABLE + 16 * at + 8)[0] for at in (2, 3, 4))
    none, rest = 0xffffffff, (elements + 3 * guides) * (0,)
    ring = wire(1, 0, 2, 2, 1, 2, 0, 2, 1, 1, 0, 1, 1, 0)
    ranks = (0, 0, 1, 0)
    dark = wire(2, checksum, accelerators, elements, guides, *(2 * accelerators) * (0,), *rest)
    running = wire(4, checksum, 0)
    room = wire(5, checksum, 1, 1, 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, *ranks, 5, 0, 0, 2, 0, 0, 0, 1, 0, 0)
    lit = wire(2, checksum, accelerators, elements, guides, 7, 0, 7, 0, *(2 * accelerators - 4) * (0,), *rest)
    found = wire(3, checksum, 1, 1, 2, 0, 0, 0, 1, 1, 2, 0, 0, 0, *ranks, 0, 0, 0, 0)
    bare = wire(6, checksum, 2, 2, 0, 0, 0, *(2, none, 0, 0, 0, 0) * 2)
    begin = len(blob).to_bytes(4, "little") + blob
    for which, before, answer in ((0, dark + ring + running, room), (1, lit + ring + found, bare)):
        head = bytes([which]) + begin + before
        seeds.add(head + answer)
        for at in range(0, len(answer), 4):
            seeds.add(head + answer[:at] + bytes([answer[at] ^ 1]) + answer[at + 1:])


def plan(seeds, profiles):
    """Placements for a server of four: two accelerators in a ring, and five, which is infeasible.
    """
    blob = (profiles / "server4.bin").read_bytes()
    checksum, = struct.unpack_from("<I", blob, 24)
    elements, guides, accelerators = (struct.unpack_from("<I", blob, TABLE + 16 * at + 8)[0] for at in (2, 3, 4))
    held = wire(2, checksum, accelerators, elements, guides, *(2 * accelerators + elements + 3 * guides) * (0,))
    ring = wire(1, 0, 2, 2, 1, 2, 0, 2, 1, 1, 0, 1, 1, 0)
    found = wire(3, checksum, 1, 1, 2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0)
    many = wire(1, 0, 5, 0, 1, 2, 0, 0, 0, 0)
    none = 0xffffffff
    refused = wire(3, checksum, 2, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1, 0, *(none, 0) * 5, 0, 0, 4, 5, 0, 0)
    begin = len(blob).to_bytes(4, "little") + blob + held
    for asked, answered in ((ring, found), (many, refused), (ring, refused), (many, found)):
        seeds.add(begin + asked + answered)
    # A profile with more wavelengths than a set of lanes has.
    wide = blob[:64] + (96).to_bytes(4, "little") + blob[68:]
    seeds.add(len(wide).to_bytes(4, "little") + wide + held + ring + found)
    for at in range(0, len(found), 4):
        seeds.add(begin + ring + found[:at] + bytes([found[at] ^ 1]) + found[at + 1:])
    for at in range(0, len(refused), 4):
        seeds.add(begin + many + refused[:at] + bytes([refused[at] ^ 1]) + refused[at + 1:])


def bandwidth(seeds):
    """One group of one hop, over a guide that has two lanes: it gets both."""
    none = 0xffffffff
    asked = wire(7, 0, 2, 2, 1, 1, 1, 1, 2, 2, 2, 2, 1, 1, none, 0, 0, 1, 1, 0, 1, 0)
    given = wire(8, 0, 1, 2, 1, 1, 2, 0, none, 0, 0, 0, 0, 2, 4, 0, 2, 0, 3, 0, 2, 0, 1)
    seeds.add(asked + given)
    for at in range(0, len(given), 4):
        seeds.add(asked + given[:at] + bytes([given[at] ^ 1]) + given[at + 1:])
    for at in range(0, len(asked), 4):
        seeds.add(asked[:at] + bytes([asked[at] ^ 1]) + asked[at + 1:] + given)


def schedule(seeds):
    """Two bytes from rank 0 to rank 1, over a circuit that the schedule sets, and over one that
    exists."""
    asked = wire(9, 0, 2, 1, 1, 1, 1, 0, 1, 2, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1)
    delay = wire(10, 0, 0, 100, 0, 10, 0, 8000000, 0, 1000, 0, 5, 0)
    whole = (0, 1, 0, 1)  # a matching, and its circuit
    made = wire(11, 0, 1, 2, 1, 1117, 0, 1, 1117, 0, 0, 1, 1, 1, 1, 1, *whole, 0, 0, 0, 0, 1005, 0, 1117, 0,
                0, 0, 1, 0, 1, 2, 0, 1005, 0, 1117, 0, 0)
    there = wire(11, 0, 1, 2, 1, 112, 0, 1, 112, 0, 1, 1, 1, 1, 1, 1, *whole, 0, 0, 0, 0, 0, 0, 112, 0,
                 0, 0, 1, 0, 1, 2, 0, 0, 0, 112, 0, 0)
    for before, answer in ((bytes(4), made), (made, there)):
        head = bytes([1]) + asked + delay + before
        seeds.add(head + answer)
        for at in range(0, len(answer), 4):
            seeds.add(head + answer[:at] + bytes([answer[at] ^ 1]) + answer[at + 1:])
    for at in range(0, len(asked), 4):
        seeds.add(bytes([1]) + asked[:at] + bytes([asked[at] ^ 1]) + asked[at + 1:] + delay + bytes(4) + made)


def msccl(seeds):
    """The files of the tests without their licence lines, because derived inputs have none."""
    for path in sorted((TOP / "libmorph/tests/files").glob("msccl-*.xml")):
        seeds.add(path.read_bytes().replace(b"SPDX-License-Identifier", b"licence"))
    step = b"<step s='%d' type='%s' srcbuf='i' srcoff='0' dstbuf='o' dstoff='%d' cnt='1'/>"
    seeds.add(b"<algo ngpus='2' coll='mine'><gpu id='0' i_chunks='1' o_chunks='0' s_chunks='0'><tb id='0' send='1'>" +
              step % (0, b"s", 0) + b"</tb></gpu><gpu id='1' i_chunks='0' o_chunks='2' s_chunks='0'><tb id='0' recv='0'>" +
              step % (0, b"r", 1) + b"</tb></gpu></algo>")


def trace(seeds):
    """What traces.py makes for the tests: the ring whole, and each file alone."""
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([sys.executable, "-B", TOP / "libmorph/tests/traces.py", directory], check=True)
        files = [path.read_bytes() for path in sorted(pathlib.Path(directory).glob("*.et"))]
    for parts in (files[1:], files[:1], files[1:2]):
        seeds.add(b"".join(len(part).to_bytes(4, "little") + part for part in parts))


def monitoring(seeds):
    """A line of each kind."""
    seeds.add(b"# POINT TO POINT\nE\t0\t1\t1000 bytes\t3 msgs sent\t0,0,3\nI\t0\t2\t4 bytes\t2 msgs sent\n# OSC\n"
              b"S\t0\t2\t50 bytes\t1 msgs sent\nR\t0\t1\t18446744073709551615 bytes\t1 msgs sent\n# COLLECTIVES\n"
              b"C\t0\t1\t24 bytes\t1 msgs sent\nD\tMPI_COMM_WORLD\tprocs: 0,1,2\nA2A\t0\t8 bytes\t2 msgs sent\n")


def segments(seeds):
    """A schedule of two steps, and some for few ranks that the planner can plan."""
    seeds.add(b'{"alpha_r": 1e3, "collective": "a", "cost": 134.6, "num_of_reconfigs": 1, "reconf_cost_total": 1000,\n'
              b'"steps": [{"step": 1, "topology": [[0, 1, 1], [1, 0, 2]]}, {"step": 2, "topology": [[0, 4095, 0.5]]}]}\n')
    seeds.add(b'{"collective": "a", "steps": [{"step": 0, "topology": [[0, 1, 1], [1, 2, 1], [2, 0, 1]]},\n{"step": 1, "topology": []},\n'
              b'{"step": 2, "topology": [[0, 2, 1], [1, 0, 1], [2, 1, 1], [0, 1, 1]]}]}\n')


def matrix(seeds):
    """Files in the form of users and programs."""
    for text in ("0 1\n2 0\n", "0,64K,1\n16M;0;2\n1G,,0\n", "# bytes\n0\t1,\r\n\n3, 0 # no more", "1\n", "0 1\n", "0 1125899906842625\n0 0\n",
                 "0 1\0\n", "0,1x\n1,0\n", " ".join(["7"] * 40) + "\n"):
        seeds.add(text.encode())


def shim(seeds):
    """Plans: complete, truncated, and with a changed word."""
    seeds.add(b"")
    for words in (24, 100, 400):
        seeds.add(words.to_bytes(2, "little"))
    for place in range(0, 160, 4):
        seeds.add(struct.pack("<HHI", 0, place, place % 7))


def main():
    root, profiles = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    shutil.rmtree(root, ignore_errors=True)
    for fill in (netlink, device, recording, document, graph, words, jobs, faults, ledger, bandwidth, schedule, msccl,
                 trace, monitoring, segments, matrix, shim):
        fill(Seeds(root, fill.__name__))
    profile(Seeds(root, "profile"), profiles)
    plan(Seeds(root, "plan"), profiles)
    answers(Seeds(root, "answers"), profiles)


if __name__ == "__main__":
    main()
