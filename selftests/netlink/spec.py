#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""The specification alone, without a kernel that knows the family: schema, consistency, encoding.
"""

import re
import struct
import sys

import generic

FAMILY_ID = 0x55


def client():
    """A client that assumes a registered family. It sends nothing."""
    generic.module.genl_family_name_to_id = {"morph": {"id": FAMILY_ID, "mcast": {"monitor": 7}}}
    return generic.family()


def schema_is_kept():
    generic.SpecFamily(generic.SPEC, generic.SCHEMA)


def operations_name_attributes_that_there_are():
    spec = generic.SpecFamily(generic.SPEC, generic.SCHEMA)
    for name, operation in spec.msgs.items():
        for mode in ("do", "dump", "event"):
            part = operation.yaml.get(mode, {})
            lists = [part] if mode == "event" else [part.get("request", {}), part.get("reply", {})]
            for attributes in lists:
                for attribute in attributes.get("attributes", []):
                    assert attribute in operation.attr_set, f"{name}: {attribute}"


def everything_is_explained():
    spec = generic.SpecFamily(generic.SPEC, generic.SCHEMA)
    for name, attribute_set in spec.attr_sets.items():
        for _name, attribute in attribute_set.items():
            assert attribute.type == "pad" or attribute.yaml.get("doc"), f"{name}: {attribute.name}"
    for name, operation in spec.msgs.items():
        assert operation.yaml.get("doc"), name


def numbers_of_enums_are_those_of_the_header():
    with open(generic.TOP + "/uapi/linux/morph.h", encoding="utf-8") as file:
        header = dict(re.findall(r"^\t(MORPH_\w+) = (\d+),$", file.read(), re.MULTILINE))
    spec = generic.SpecFamily(generic.SPEC, generic.SCHEMA)
    compared = 0
    for enum in spec.consts.values():
        for name, entry in enum.entries.items():
            constant = (enum.yaml["name-prefix"] + name).upper().replace("-", "_")
            assert int(header[constant]) == entry.value, constant
            compared += 1
    assert compared > 80, compared


def sample(attribute, spec):
    """Return a value of an attribute's type, in the client's form."""
    if "enum" in attribute:
        entries = list(spec.consts[attribute["enum"]].entries)
        value = entries[-1]
    elif attribute.type == "nest":
        nested = spec.attr_sets[attribute["nested-attributes"]]
        value = {name: sample(inner, spec) for name, inner in nested.items() if inner.type != "pad"}
    else:
        value = {"string": "text", "binary": "0102030405060708090a0b0c0d0e0f10", "flag": True,
                 "u8": 1, "s32": -3, "s64": -5}.get(attribute.type, 42)
    return [value] if attribute.is_multi else value


def requests_are_encoded():
    ynl = client()
    for name, operation in ynl.ops.items():
        request = operation.yaml["do"]["request"]["attributes"]
        values = {attribute: sample(operation.attr_set[attribute], ynl) for attribute in request}
        # pylint: disable=protected-access
        values = {key: value for key, value in values.items()
                  if operation.attr_set[key].type != "binary"}
        message = ynl._encode_message(operation, values, [], 1)
        length, kind, _flags, _seq, _port, command = struct.unpack("<IHHIIB", message[:17])
        assert length == len(message) and kind == FAMILY_ID, name
        assert command == operation.value, name
        written = [attribute.type for attribute in generic.module.NlAttrs(message[20:])]
        assert written == [operation.attr_set[attribute].value for attribute in values], name


def what_is_encoded_is_decoded():
    ynl = client()
    for name in ("circuit-apply", "slice-create", "quota-set"):
        operation = ynl.ops[name]
        values = {attribute: sample(operation.attr_set[attribute], ynl)
                  for attribute in operation.yaml["do"]["request"]["attributes"]}
        # pylint: disable=protected-access
        message = ynl._encode_message(operation, values, [], 1)
        attributes = generic.module.NlAttrs(message[20:])
        assert ynl._decode(attributes, operation.attr_set.name) == values, name


def main():
    return generic.run_tests([
        schema_is_kept,
        operations_name_attributes_that_there_are,
        everything_is_explained,
        numbers_of_enums_are_those_of_the_header,
        requests_are_encoded,
        what_is_encoded_is_decoded,
    ])


if __name__ == "__main__":
    sys.exit(main())
