#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of morphctl are lines of one file, recordings/morphctl.jsonl.

    recordings.py unpack DIR           write all recordings below DIR
    recordings.py pack DIR             write the file from DIR
    recordings.py add DIR NAME...      add recordings of DIR, or replace those of the same name

In DIR a recording consists of several files. NAME.jsonl has the calls between library and kernel,
.args the arguments (one per line), .status the exit status, .out and .err the output. The same
recordings give the same file, byte by byte.
"""

import json
import os
import pathlib
import sys

FILE = pathlib.Path(__file__).resolve().parent / "recordings" / "morphctl.jsonl"
TEXTS = ("args", "status", "out", "err")


def encode(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def read():
    """Recordings by name. A file without recordings is an error."""
    try:
        records = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    except OSError as error:
        sys.exit(f"recordings: {error}")
    if not records:
        sys.exit(f"recordings: {FILE} has no recordings")
    return {record["name"]: record for record in records}


def write(records):
    new = FILE.with_suffix(".new")
    new.write_text("".join(encode(records[name]) + "\n" for name in sorted(records)), encoding="utf-8")
    new.rename(FILE)


def load(directory, name):
    """Read a recording from the files of a directory. Some have no arguments or output."""
    base = pathlib.Path(directory) / name
    record = {"name": name}
    for kind in TEXTS:
        path = base.parent / f"{base.name}.{kind}"
        if path.exists():
            record[kind] = path.read_text(encoding="utf-8")
    text = (base.parent / f"{base.name}.jsonl").read_text(encoding="utf-8")
    record["lines"] = [json.loads(line) for line in text.splitlines()]
    if text != transcript(record):
        sys.exit(f"recordings: {base}.jsonl has lines that would not come back the same")
    return record


def transcript(record):
    """The calls between library and kernel, as the library reads them."""
    return "".join(encode(line) + "\n" for line in record["lines"])


def unpack(directory):
    for name, record in read().items():
        base = pathlib.Path(directory) / name
        base.parent.mkdir(parents=True, exist_ok=True)
        for kind in TEXTS:
            if kind in record:
                (base.parent / f"{base.name}.{kind}").write_text(record[kind], encoding="utf-8")
        (base.parent / f"{base.name}.jsonl").write_text(transcript(record), encoding="utf-8")


def pack(directory):
    names = [os.fspath(path.relative_to(directory).with_suffix("")) for path in pathlib.Path(directory).rglob("*.jsonl")]
    write({name: load(directory, name) for name in names})


def add(directory, *names):
    write({**read(), **{name: load(directory, name) for name in names}})


def main():
    verbs = {"unpack": (unpack, 1), "pack": (pack, 1), "add": (add, 2)}
    verb, *arguments = sys.argv[1:] or [None]
    if verb not in verbs or len(arguments) < verbs[verb][1]:
        sys.exit(__doc__)
    verbs[verb][0](*arguments)


if __name__ == "__main__":
    main()
