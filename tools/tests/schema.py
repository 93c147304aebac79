#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check JSON on standard input against the netlink specification.

schema.py SPECIFICATION OBJECT [VERB]

Every key must be an attribute of the object's set, and every value must have its type.
"""

import json
import sys

import yaml

# Objects of the tool whose records belong to a set with another name.
SETS = {"spare": "accelerator", "fail": "hardware", "replace": "rank"}
# Operations on a part return the part, like the kernel's operations on hardware.
ACTS = {"cordon", "uncordon", "fail", "test"}
# Verbs of a controller that return other objects. The report of a failure's effect has its own
# form.
CONTROLLER = {"reservations": "reservation", "reserve": "reservation", "fail": "reach"}
NUMBERS = {"u8", "u16", "u32", "u64", "s32", "s64"}


def load(path):
    with open(path, encoding="utf-8") as stream:
        spec = yaml.safe_load(stream)
    sets = {entry["name"]: {attr["name"]: attr for attr in entry["attributes"]}
            for entry in spec["attribute-sets"]}
    words = {}
    for entry in spec["definitions"]:
        words[entry["name"]] = {word if isinstance(word, str) else word["name"]
                                for word in entry["entries"]}
    return sets, words


def check_value(where, attr, value, spec):
    kind = attr["type"]
    if kind == "nest":
        check_record(where, attr["nested-attributes"], value, spec)
    elif "enum" in attr:
        if value not in spec[1][attr["enum"]] and not isinstance(value, int):
            sys.exit(f"{where}: {value!r} is no word of {attr['enum']}")
    elif kind in NUMBERS:
        # A number above 2^63 - 1 is a string of digits.
        large = kind == "u64" and isinstance(value, str) and value.isdigit() and \
            2 ** 63 <= int(value) < 2 ** 64
        if not large and (not isinstance(value, int) or isinstance(value, bool)):
            sys.exit(f"{where}: {value!r} is no number")
    elif kind == "flag":
        if value is not True:
            sys.exit(f"{where}: {value!r} is no flag")
    elif not isinstance(value, str):
        sys.exit(f"{where}: {value!r} is no text")


def check_record(where, name, record, spec):
    if not isinstance(record, dict):
        sys.exit(f"{where}: {record!r} is no object")
    for key, value in record.items():
        attr = spec[0][name].get(key)
        if attr is None:
            sys.exit(f"{where}: the set {name} has no {key!r}")
        if bool(attr.get("multi-attr")) != isinstance(value, list):
            sys.exit(f"{where}.{key}: is a list in one of the two only")
        for one in value if isinstance(value, list) else [value]:
            check_value(f"{where}.{key}", attr, one, spec)


def main():
    spec, name = load(sys.argv[1]), SETS.get(sys.argv[2], sys.argv[2])
    if name == "controller":
        name = CONTROLLER.get(sys.argv[3], name)
    elif sys.argv[3:] and sys.argv[3] in ACTS:
        name = "hardware"
    if name not in spec[0]:
        return
    document = json.load(sys.stdin)
    for number, record in enumerate(document if isinstance(document, list) else [document]):
        check_record(f"{name}[{number}]", name, record, spec)


if __name__ == "__main__":
    main()
