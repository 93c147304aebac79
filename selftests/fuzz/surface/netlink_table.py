#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Make the fuzzer's table of netlink commands: netlink_table.py SPECIFICATION OUTPUT

Every attribute of a command's request is a field. So are one attribute that the command does not
accept (the last of its set), the flags of the message, and the version.
"""

import sys

import yaml

BYTES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "s32": 4, "s64": 8}
FORMS = {"string": "FORM_TEXT", "binary": "FORM_UUID", "flag": "FORM_FLAG"}


def symbol(text):
    """A name as C has it."""
    return text.replace("-", "_").upper()


class Table:
    """The fields and lists of one command."""

    def __init__(self, sets):
        self.sets = sets
        self.fields = ["{ \"nlflags\", 0, 2, NO_LIST, FORM_NUMBER }"]
        self.lists = []

    def add(self, owner, attribute, place="NO_LIST", prefix=""):
        """One attribute of a set, in a list or not."""
        number = symbol(self.sets[owner]["name-prefix"] + attribute["name"])
        if attribute["type"] == "nest":
            inner = attribute["nested-attributes"]
            self.lists.append(f"{{ \"{attribute['name']}\", {number}, 0 }}")
            for one in self.sets[inner]["attributes"]:
                if one["type"] not in ("nest", "pad"):
                    self.add(inner, one, str(len(self.lists) - 1), attribute["name"] + ".")
            return
        self.fields.append(f"{{ \"{prefix}{attribute['name']}\", {number}, {BYTES.get(attribute['type'], 0)}, "
                           f"{place}, {FORMS.get(attribute['type'], 'FORM_NUMBER')} }}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        spec = yaml.safe_load(file)
    sets = {one["name"]: one for one in spec["attribute-sets"]}
    made, entries = [], []
    for operation in spec["operations"]["list"]:
        if "do" not in operation:
            continue
        owner, wanted = operation["attribute-set"], operation["do"]["request"]["attributes"]
        known = [one for one in sets[owner]["attributes"] if one["type"] != "pad"]
        table = Table(sets)
        for attribute in known:
            if attribute["name"] in wanted or attribute is known[-1]:
                table.add(owner, attribute)
        at = len(entries)
        made.append(f"static const struct field netlink_fields_{at}[] = {{ {', '.join(table.fields)} }};")
        lists = "NULL, 0"
        if table.lists:
            made.append(f"static const struct list netlink_lists_{at}[] = {{ {', '.join(table.lists)} }};")
            lists = f"netlink_lists_{at}, {len(table.lists)}"
        entries.append(f"{{ \"nl {operation['name']}\", HOW_NETLINK, MORPH_CMD_{symbol(operation['name'])}, 0, "
                       f"netlink_fields_{at}, {len(table.fields)}, {lists} }}")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write("\n".join(made) + "\n#define NETLINK_COMMANDS " + ", \\\n".join(entries) + ",\n")


if __name__ == "__main__":
    main()
