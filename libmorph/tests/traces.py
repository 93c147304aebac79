#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Let protobuf write execution traces in Chakra's format, for test_trace.

traces.py DIR

The files are ring.RANK.et, a ring all-gather of four ranks by messages, and job.0.et. The latter is
of a program that computes and takes part in collectives, with each form of numbers.
"""

import json
import pathlib
import subprocess
import sys

SCHEMA = pathlib.Path(__file__).resolve().with_name("chakra.proto")


class Word(str):
    """A word without quotes."""


COMPUTES, SENDS, RECEIVES, COLLECTIVE, LOADS = map(Word, ("COMPUTES", "SENDS", "RECEIVES", "COLLECTIVE", "LOADS"))


def text(value):
    if isinstance(value, dict):
        return "{%s}" % fields(value)
    return json.dumps(value) if type(value) is str else str(value)


def fields(values):
    """Format values as protobuf text: a dictionary for a message, a list for a repeated field."""
    return " ".join(f"{name}: {text(one)}" for name, value in values.items()
                    for one in (value if isinstance(value, list) else [value]))


def encoded(message, **values):
    """Let protoc encode a message of the schema."""
    return subprocess.run(["protoc", f"--proto_path={SCHEMA.parent}", f"--encode=chakra.{message}", SCHEMA.name],
                          input=fields(values).encode(), stdout=subprocess.PIPE, check=True).stdout


def attributes(**values):
    """Each value by its name, as a pair of form and value."""
    return [{"name": name, f"as_{form}": value} for name, (form, value) in values.items()]


def node(ident, name, kind, **values):
    return encoded("Node", id=ident, name=name, kind=kind, **values)


def message(ident, kind, src, dst, size, tag, *waits):
    return node(ident, f"m{ident}", kind, data_deps=list(waits),
                attr=attributes(comm_src=("int32", src), comm_dst=("int32", dst), comm_size=("int64", size), comm_tag=("uint64", tag)))


def length(data):
    """The length before each message: seven bits in each byte, the last byte below 128."""
    number, out = len(data), b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def write(path, nodes):
    messages = [encoded("Metadata", version="0.0.4", attr=attributes(schema=("string", "x"))), *nodes]
    path.write_bytes(b"".join(length(data) + data for data in messages))


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
        node(7, "forward", COMPUTES, start_us=100, duration_us=250, attr=attributes(num_ops=("uint64", 1 << 60)),
             inputs={"values": "[1]"}) +
        encoded("Unknown", in_four_bytes=4, in_eight_bytes=8, in_some=5, words="later"),
        node(3, "gradients", COLLECTIVE, data_deps=[9],
             attr=attributes(comm_type=("sint32", 0), comm_size=("fixed64", 1 << 33), pg_name=("string", "dp"))) +
        encoded("Unpacked", ctrl_deps=[7]),
        node(9, "shard", COLLECTIVE,
             attr=attributes(comm_type=("sint64", 7), comm_size=("uint32", 77), is_cpu_op=("bool", 0), ratio=("double", 0.5),
                             involved_dim=("numbers", {"values": [1, 0]}))),
        node(1, "to the next", SENDS,
             attr=attributes(comm_dst=("fixed32", 2), comm_size=("sfixed32", 5), comm_tag=("sfixed64", 6))) +
        encoded("Unpacked", ctrl_deps=[7, 3], data_deps=[9]),
        node(2, "memory", LOADS),
    ])


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    ring(directory, 4)
    job(directory)


if __name__ == "__main__":
    main()
