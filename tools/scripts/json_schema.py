#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Write the JSON Schema of morphctl's output: json_schema.py COMMANDS

COMMANDS is the table of commands from 'morphctl __dump-commands'. The schema (draft 2020-12) has a
definition for each object, and one for the output of each command, such as output.slice.list. Its
sources are the attribute sets of the netlink specification and of libmorph, json_names.def, and
reports.yaml, which describes its own form.

The script fails if a key has values of different types, if json_names.def names no attribute, or if
a command with --json has no output in reports.yaml.
"""

import json
import os
import re
import sys

import yaml

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPEC = "Documentation/netlink/specs/morph.yaml"
LOCAL = "libmorph/attrs-local.yaml"
NAMES = "tools/morphctl/client/json_names.def"
REPORTS = "tools/schema/reports.yaml"

SCALARS = {
    "u8": {"type": "integer", "minimum": 0, "maximum": 255},
    "u32": {"type": "integer", "minimum": 0, "maximum": 2 ** 32 - 1},
    "u64": {"$ref": "#/$defs/u64"},
    "s32": {"type": "integer", "minimum": -2 ** 31, "maximum": 2 ** 31 - 1},
    "s64": {"type": "integer", "minimum": -2 ** 63, "maximum": 2 ** 63 - 1},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "flag": {"type": "boolean"},
    "string": {"type": "string"},
    "binary": {"type": "string", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"},
}
U64 = {"description": "A number; above 2^63 - 1 it is a text of digits.",
       "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]{19,20}$"}]}


class Names:
    """The entries of json_names.def, by set and attribute."""

    def __init__(self, text):
        self.keys, self.flags, self.requests, self.added = {}, set(), set(), {}
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        for kind, name, arguments in re.findall(r"^(\w+)\((\w+), (.*)\)$", text, re.M):
            words = [None if word == "NULL" else word.strip('"') for word in arguments.split(", ")]
            owner = name.lower().replace("_", "-")
            if kind == "NAME":
                self.keys[owner, words[0]] = words[1]
            elif kind == "FLAG":
                self.flags.add((owner, words[0]))
            elif kind == "REQUEST":
                self.requests.add((owner, words[0]))
            else:
                self.added[owner, words[0]] = words[1]

    def key(self, owner, attribute):
        plural = attribute["name"] + ("s" if attribute.get("multi-attr") else "")
        return self.keys.get((owner, attribute["name"]), plural)


class Sources:
    """The source files, as one list of objects: {name: (doc, [(key, attribute)], partial)}."""

    def __init__(self, top=TOP):
        self.top = top
        self.spec, self.local, self.reports = (self.load(path) for path in (SPEC, LOCAL, REPORTS))
        with open(os.path.join(top, NAMES), encoding="utf-8") as stream:
            self.names = Names(stream.read())
        self.words = {entry["name"]: [word if isinstance(word, str) else word["name"] for word in entry["entries"]]
                      for entry in self.spec["definitions"] + self.local["definitions"]}
        self.sets = {entry["name"]: entry for entry in self.spec["attribute-sets"] + self.local["attribute-sets"]}
        for name, attributes in self.local["attributes"].items():
            self.sets[name]["attributes"] += attributes
        self.check_names()
        self.objects = {}
        for name, entry in self.sets.items():
            pairs = [(self.names.key(name, attribute), self.typed(name, attribute)) for attribute in entry["attributes"]
                     if attribute["type"] != "pad" and (name, attribute["name"]) not in self.names.requests]
            pairs += [(attribute["name"], attribute) for attribute in self.reports["additions"].get(name, [])]
            self.objects[name] = (entry.get("doc", ""), pairs, True)
        for name, entry in self.reports["objects"].items():
            pairs = [(attribute["name"], attribute) for attribute in entry["attributes"]]
            self.objects[name] = (entry["doc"], pairs, entry.get("partial", False))
        self.check_types()

    def load(self, path):
        with open(os.path.join(self.top, path), encoding="utf-8") as stream:
            return yaml.safe_load(stream)

    def typed(self, owner, attribute):
        return {**attribute, "type": "bool"} if (owner, attribute["name"]) in self.names.flags else attribute

    def check_names(self):
        """Each entry of json_names.def is about an attribute, or an addition of reports.yaml. No
        reply contains an attribute of a REQUEST entry."""
        known = {(name, attribute["name"]) for name, entry in self.sets.items() for attribute in entry["attributes"]}
        unknown = (set(self.names.keys) | self.names.flags | self.names.requests) - known
        replies = {(operation["attribute-set"], attribute) for operation in self.spec["operations"]["list"]
                   for call in ("do", "dump", "event")
                   for attribute in ((operation.get(call) or {}).get("reply") or operation.get(call) or {}).get("attributes", [])}
        unknown |= self.names.requests & replies
        additions = {(name, attribute["name"]) for name, attributes in self.reports["additions"].items()
                     for attribute in attributes if name != "defrag-step"}
        unknown |= additions ^ set(self.names.added)
        if unknown:
            sys.exit(f"{NAMES}: wrong entries: {sorted(unknown)}")

    def check_types(self):
        """A key has values of one type in all objects."""
        seen = {}
        for name, (_, pairs, _) in self.objects.items():
            for key, attribute in pairs:
                kind = self.kind(attribute)
                first, owner = seen.setdefault(key, (kind, name))
                if first != kind:
                    sys.exit(f"{key}: {first} in {owner}, {kind} in {name}")

    @staticmethod
    def kind(attribute):
        if attribute["type"] == "nest":
            kind = "object"
        elif "enum" in attribute or attribute["type"] in ("string", "binary"):
            kind = "text"
        elif attribute["type"] in ("bool", "flag"):
            kind = "boolean"
        else:
            kind = "fraction" if attribute["type"] == "float" else "number"
        return "list of " + kind if attribute.get("multi-attr") else kind

    def value(self, attribute):
        if attribute["type"] == "nest":
            nested = attribute["nested-attributes"]
            schema = {"$ref": f"#/$defs/{nested}"} if isinstance(nested, str) else \
                {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in nested]}
        elif "enum" in attribute:
            # A newer kernel can send numbers without a word.
            schema = {"anyOf": [{"enum": self.words[attribute["enum"]]}, {"type": "integer"}]}
        elif "words" in attribute:
            schema = {"enum": attribute["words"]}
        else:
            schema = dict(SCALARS[attribute["type"]])
        if attribute.get("nullable"):
            schema = {"anyOf": [schema, {"type": "null"}]}
        if attribute.get("multi-attr"):
            schema = {"type": "array", "items": schema}
        if "doc" in attribute:
            schema["description"] = " ".join(attribute["doc"].split())
        return schema

    def object(self, name):
        doc, pairs, partial = self.objects[name]
        schema = {"type": "object", "description": " ".join(doc.split()),
                  "properties": {key: self.value(attribute) for key, attribute in pairs}, "additionalProperties": False}
        if not partial:
            schema["required"] = [key for key, attribute in pairs if not attribute.get("optional")]
        return schema

    @staticmethod
    def output(text):
        if " or " in text:
            return {"anyOf": [Sources.output(part) for part in text.split(" or ")]}
        if text.startswith("list of "):
            return {"type": "array", "items": Sources.output(text.removeprefix("list of "))}
        return {"$ref": "#/$defs/" + text.removeprefix("lines of ")}

    def schema(self, commands):
        outputs = dict(self.reports["outputs"])
        definitions = {"u64": U64, **{name: self.object(name) for name in self.objects}}
        for command in commands:
            name = " ".join(filter(None, (command["object"], command["verb"])))
            target = command["alias-of"] or name
            takes_json = any(option["name"] == "json" for option in command["options"]) or target == "monitor"
            if takes_json != (target in self.reports["outputs"]):
                sys.exit(f"{REPORTS}: {name}: has an output here or --json, and not the other")
            if takes_json:
                definitions["output." + name.replace(" ", ".")] = self.output(self.reports["outputs"][target])
                outputs.pop(name, None)
        if outputs:
            sys.exit(f"{REPORTS}: no such commands: {sorted(outputs)}")
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "morphctl",
                "description": "JSON of morphctl. Definitions such as output.slice.list are the outputs of commands; "
                               "the others are objects. The object error is written to standard error.",
                "$defs": definitions}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as stream:
        commands = json.load(stream)["commands"]
    json.dump(Sources().schema(commands), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
