#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check JSON of morphctl against its schema.

    schema.py SCHEMA DEFINITION       standard input, as output.slice.list
    schema.py SCHEMA --all DIR        all calls that morphctl() in common.bash has noted in DIR

A call consists of two files: NAME.args has the arguments, one per line, and NAME.out has the
output. The script prints each command that was checked.
"""

import json
import pathlib
import sys

from jsonschema import Draft202012Validator


class Schema:
    def __init__(self, path):
        with open(path, encoding="utf-8") as stream:
            self.document = json.load(stream)
        Draft202012Validator.check_schema(self.document)

    def faults(self, definition, value):
        validator = Draft202012Validator({**self.document, "$ref": "#/$defs/" + definition})
        for error in validator.iter_errors(value):
            yield f"{definition}: {error.json_path}: {error.message[:300]}"
            for inner in error.context:
                yield f"    {inner.json_path}: {inner.message[:300]}"

    def command(self, arguments):
        """The definition of a call's output; None if the schema has none, as for help."""
        words, skip = [], False
        for argument in arguments:
            if skip:
                skip = False
            elif not argument.startswith("-"):
                words.append(argument)
            else:
                skip = argument in ("--fabric", "--fields", "-f", "-o")
        for count in (2, 1):
            name = "output." + ".".join(words[:count])
            if name in self.document["$defs"]:
                return name
        return None


def load(text, definition):
    """Documents of an output. The monitor writes JSON Lines."""
    if definition == "output.monitor":
        return [json.loads(line) for line in text.splitlines()]
    return [json.loads(text)] if text.strip() else []


def check_all(schema, directory):
    checked, faults = set(), []
    for path in sorted(pathlib.Path(directory).glob("*.args")):
        arguments = path.read_text(encoding="utf-8", errors="replace").splitlines()
        definition = schema.command(arguments)
        if not definition:
            continue
        # The monitor has no --json, so its messages are text.
        messages = "" if definition == "output.monitor" else path.with_suffix(".err").read_text(encoding="utf-8")
        try:
            values = load(path.with_suffix(".out").read_text(encoding="utf-8"), definition)
            errors = [json.loads(text) for text in messages.splitlines()]
        except json.JSONDecodeError as error:
            faults.append(f"morphctl {' '.join(arguments)}: {error}: {messages}")
            continue
        checked.update([definition.removeprefix("output.")] * len(values))
        found = [fault for value in values for fault in schema.faults(definition, value)]
        found += [fault for value in errors for fault in schema.faults("error", value)]
        if found:
            faults += [f"morphctl {' '.join(arguments)}", *found]
    print("\n".join(sorted(checked)))
    return faults


def main():
    schema = Schema(sys.argv[1])
    if sys.argv[2] == "--all":
        faults = check_all(schema, sys.argv[3])
    else:
        faults = [fault for value in load(sys.stdin.read(), sys.argv[2]) for fault in schema.faults(sys.argv[2], value)]
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
