# SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
"""Read YAML descriptions. Errors name file, line and key of the mistake.

A rule is a function of a YAML node and its place. It returns the value, or raises a ValueError.
Functions of this file make rules for numbers, texts, lists and mappings:

    corner = sequence(integer(0, 63), 2, 2)
    shape = mapping({"tiles": corner, "spare": boolean})
    value = Description("server8.yaml").take("shape", shape)
    raise value.places["tiles"].wrong("too many")   # for mistakes that no single rule detects
"""

import os
import re
from dataclasses import dataclass

import yaml

MOST_BYTES = 1 << 24    # of a description


@dataclass(frozen=True)
class Place:
    """The place of a value: file, line and key."""
    file: str
    line: int
    key: str = ""

    def inside(self, node, key):
        """The place of a part."""
        return Place(self.file, node.start_mark.line + 1, f"{self.key}.{key}" if self.key else str(key))

    def wrong(self, what):
        """The error for this place."""
        return ValueError(f"{self.file}:{self.line}: {self.key}: {what}")


class Mapping(dict):
    """A mapping, and the places of its values."""

    def __init__(self):
        super().__init__()
        self.places = {}


class Sequence(list):
    """A list, and the places of its entries."""

    def __init__(self):
        super().__init__()
        self.places = []


# ---------------------------------------------------------------------------------------------------
# rules

def scalar(node, place, kind, wanted):
    """The value of a scalar of a standard YAML type."""
    if not isinstance(node, yaml.ScalarNode) or node.tag != "tag:yaml.org,2002:" + kind:
        raise place.wrong(f"must be {wanted}")
    try:
        return yaml.constructor.SafeConstructor().construct_object(node)
    except (ValueError, IndexError, KeyError):      # the tag forces the type: !!int x
        raise place.wrong(f"must be {wanted}, and is {node.value[:40]!r}") from None


def integer(least, most):
    """Rule: a number within bounds."""
    def rule(node, place):
        value = scalar(node, place, "int", "an integer")
        if not least <= value <= most:
            raise place.wrong(f"must be {least} to {most}" + (f", and is {value}" if abs(value) < 1 << 64 else ""))
        return value
    return rule


def boolean(node, place):
    """Rule: true or false."""
    return scalar(node, place, "bool", "true or false")


def text(pattern, wanted):
    """Rule: a text that matches the pattern."""
    def rule(node, place):
        value = scalar(node, place, "str", "a text")
        if not re.fullmatch(pattern, value, re.ASCII):
            raise place.wrong(f"must be {wanted}, and is {value[:40]!r}")
        return value
    return rule


def either(rule, other):
    """Rule: one rule for a single value, another one for lists and mappings."""
    return lambda node, place: (rule if isinstance(node, yaml.ScalarNode) else other)(node, place)


def sequence(rule, least, most):
    """Rule: a list whose length is within bounds, with one rule for all entries."""
    def whole(node, place):
        if not isinstance(node, yaml.SequenceNode) or not least <= len(node.value) <= most:
            raise place.wrong(f"must be a list of {least if least == most else f'{least} to {most}'} entries")
        found = Sequence()
        for index, entry in enumerate(node.value):
            found.places.append(place.inside(entry, index))
            found.append(rule(entry, found.places[-1]))
        return found
    return whole


def pairs(node, place):
    """The keys of a mapping, with the nodes and places of their values."""
    if not isinstance(node, yaml.MappingNode):
        raise place.wrong("must be a mapping")
    found = {}
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else "a key"
        if name in found:
            raise place.inside(key, name).wrong(f"stands in line {found[name][1].line} already")
        found[name] = value, place.inside(key, name)
    return found


def mapping(rules, optional=()):
    """Rule: a mapping with these keys, each with its rule. Those of optional may be missing."""
    def whole(node, place):
        found, result = pairs(node, place), Mapping()
        for key, (_, there) in found.items():
            if key not in rules:
                raise there.wrong(f"is unknown; known are {', '.join(rules)}")
        for key, rule in rules.items():
            if key not in found:
                if key in optional:
                    continue
                raise place.wrong(f"key '{key}' is missing")
            result.places[key] = found[key][1]
            result[key] = rule(*found[key])
        return result
    return whole


def table(name, rule, most):
    """Rule: a mapping of at least one name, with one rule for all values."""
    def whole(node, place):
        found, result = pairs(node, place), Mapping()
        if not 1 <= len(found) <= most:
            raise place.wrong(f"must have 1 to {most} entries")
        for key, (_, there) in zip(node.value, found.values()):
            name(key[0], there)
        for key, (value, there) in found.items():
            result.places[key] = there
            result[key] = rule(value, there)
        return result
    return whole


# ---------------------------------------------------------------------------------------------------
# files

def load(path):
    """The YAML nodes of a file. No node occurs twice."""
    def wrong(line, what):
        return ValueError(f"{path}:{line}: not YAML: {what}")
    with open(path, "rb") as file:
        raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise wrong(1, f"more than {MOST_BYTES} bytes")
    try:
        content = raw.decode("utf-8")
        root = yaml.compose(content, Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        raise wrong(raw[:error.start].count(b"\n") + 1, "no text in UTF-8") from None
    except yaml.reader.ReaderError as error:
        raise wrong(content[:error.position].count("\n") + 1, error.reason) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise wrong(mark.line + 1, error.problem or error.context) from None
    except RecursionError:
        raise wrong(1, "nested too deeply") from None
    seen, waiting = set(), [root] if root else []
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            raise wrong(node.start_mark.line + 1, "not as it is wanted here: an alias refers to this")
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            waiting += [part for pair in node.value for part in pair]
    return root


class Description:
    """The top-level keys of a file, with those of the file that its key "constants" names."""

    def __init__(self, path):
        self.place = Place(path, 1, "the file")
        self.parts = self.top(path)
        if "constants" in self.parts:
            node, place = self.parts.pop("constants")
            other = os.path.join(os.path.dirname(path), text("[^\0]+", "a file's name")(node, place))
            try:
                constants = self.top(other)
            except OSError as error:
                raise place.wrong(f"{other}: {error.strerror}") from None
            if "constants" in constants:
                raise constants["constants"][1].wrong("must not refer to another file")
            self.parts = {**constants, **self.parts}

    @staticmethod
    def top(path):
        """Keys of one file."""
        root = load(path)
        if not isinstance(root, yaml.MappingNode):
            raise Place(path, 1, "the file").wrong("must be a mapping")
        return pairs(root, Place(path, 1))

    def take(self, key, rule):
        """The value of a key. finish() does not report this key."""
        if key not in self.parts:
            raise self.place.wrong(f"key '{key}' is missing")
        return rule(*self.parts.pop(key))

    def put(self, path, content):
        """Replace the YAML of "key" or "key.key". Errors in it name the path as their file."""
        key, _, inner = path.partition(".")
        node = yaml.compose(content, Loader=yaml.SafeLoader)
        if key not in self.parts:
            raise self.place.wrong(f"key '{key}' is missing")
        if not inner:
            self.parts[key] = node, Place(path, 1, key)
            return
        outer, _ = self.parts[key]
        names = list(pairs(outer, self.where(key)))
        if inner not in names:
            raise self.where(key).wrong(f"key '{inner}' is missing")
        at = names.index(inner)
        outer.value[at] = outer.value[at][0], node

    def where(self, key):
        """The place of a key that take() has not returned yet."""
        return self.parts[key][1] if key in self.parts else self.place

    def end(self):
        """Reject keys that take() has not returned."""
        for _, place in self.parts.values():
            raise place.wrong("is unknown")
