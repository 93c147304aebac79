#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Write execution traces as Chakra has them, byte by byte, for test_trace.

  traces.py DIR

A ring all-gather of four ranks by messages, ring.RANK.et; and job.0.et, of a program that computes and takes part in
collectives, with each form that a number can have.
"""

import pathlib
import struct
import sys

COMPUTES, SENDS, RECEIVES, COLLECTIVE = 4, 5, 6, 7


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def part(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def text(field, value):
    return part(field, value.encode())


def attribute(name, value):
    """The value, a field, behind its name."""
    return part(10, text(1, name) + value)


def uint64(value):
    return number(13, value)


def node(ident, name, kind, *rest):
    return number(1, ident) + text(2, name) + number(3, kind) + b"".join(rest)


def write(path, nodes):
    messages = [text(1, "0.0.4") + part(2, text(1, "schema") + text(29, "x")), *nodes]
    path.write_bytes(b"".join(varint(len(message)) + message for message in messages))


def message(ident, kind, src, dst, size, tag, *waits):
    return node(ident, f"m{ident}", kind, part(5, b"".join(varint(wait) for wait in waits)),
                attribute("comm_src", number(7, src)), attribute("comm_dst", number(7, dst)),
                attribute("comm_size", number(9, size)), attribute("comm_tag", uint64(tag)))


def ring(directory, ranks):
    for rank in range(ranks):
        nodes = []
        for step in range(ranks - 1):
            waits = [2 * step - 1] if step else []
            nodes.append(message(2 * step, SENDS, rank, (rank + 1) % ranks, 4096, step, *waits))
            nodes.append(message(2 * step + 1, RECEIVES, (rank - 1) % ranks, rank, 4096, step, *waits))
        write(directory / f"ring.{rank}.et", nodes)


def job(directory):
    write(directory / "job.0.et", [
        node(7, "forward", COMPUTES, number(6, 100), number(7, 250), attribute("num_ops", uint64(1 << 60)),
             part(8, text(1, "[1]")), number(99, 5), varint(98 << 3 | 1) + bytes(8), varint(97 << 3 | 5) + bytes(4)),
        node(3, "gradients", COLLECTIVE, number(4, 7), part(5, varint(9)), attribute("comm_type", number(15, 0)),
             attribute("comm_size", varint(21 << 3 | 1) + struct.pack("<Q", 1 << 33)), attribute("pg_name", text(29, "dp"))),
        node(9, "shard", COLLECTIVE, attribute("comm_type", number(17, 14)), attribute("comm_size", number(11, 77)),
             attribute("is_cpu_op", number(27, 0)), part(10, text(1, "ratio") + varint(3 << 3 | 1) + bytes(8))),
        node(1, "to the next", SENDS, number(4, 7), number(4, 3), number(5, 9),
             attribute("comm_dst", varint(19 << 3 | 5) + struct.pack("<I", 2)),
             attribute("comm_size", varint(23 << 3 | 5) + struct.pack("<I", 5)),
             attribute("comm_tag", varint(25 << 3 | 1) + struct.pack("<Q", 6))),
        node(2, "memory", 2),
    ])


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    ring(directory, 4)
    job(directory)


if __name__ == "__main__":
    main()
