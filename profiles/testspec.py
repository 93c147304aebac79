#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
"""Test wrong descriptions: testspec.py [SEED [COUNT]]

Each wrong description must give an error with file, line and key, or a profile that the independent
reader accepts. The first cases have one known mistake and a known error. Then the test makes COUNT
(default: 150) random descriptions: it changes values of the tree in some, and bytes of the text in
others. Prints TAP.
"""

import os
import random
import re
import sys
import tempfile
import traceback

import yaml

import interposer
import mkprofile
import morphprofile

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = ("server4", "edge4", "server8", "smartlight72")
MESSAGE = r"([^:\n]+):([1-9][0-9]*): (not YAML|the file|.+?): \S.*"
VALUES = (-1, 0, 1, 2, 3, 5, 16, 17, 64, 65, 4097, 65536, -200001, 1 << 31, 1 << 63, 1 << 64, 1.5, True, None, "", "x",
          "hexmesh", "interposer", "constants/interposer.yaml", "a" * 40, "\xe9\0", [], [0, 0], [0, 0, 0],
          [[0, 0]], {}, {"x": 1})
SNIPPETS = ("\t", "\0", "\xff", "&a ", "*a", "!!int ", "!!bool ", "!!python/none ", "? ", ": ", "- ", "[", "{", "}",
            "]", '"', "'", "|\n", "\n",
            "#", "---\n", "<<: ", "0x", "1_000", "1:30", "9" * 5000, "[" * 2000, "%YAML 9.9\n")

# Changes of smartlight72, edge4 or rack64 (a pattern and its replacement), and words of the
# expected message.
REFUSALS = (
    ("edge4", "name: edge4", "name: Edge4", "name: must be 1 to 31"),
    ("edge4", "name: edge4", "nome: edge4", "the file: key 'name' is missing"),
    ("edge4", "name: edge4", "name: edge4\nextra: 1", "extra: is unknown"),
    ("edge4", "name: edge4", "name: edge4\nname: edge4", "name: stands in line"),
    ("edge4", "name: edge4", "name: edge4\ngeometry: sphere",
     "geometry: must be interposer or hexmesh"),
    ("edge4", "name: edge4", "name: edge4: 5", "not YAML"),
    ("edge4", "name: edge4", "name: edge4\x00", "not YAML"),
    ("edge4", "name: edge4", "name: edge4\nlosses: &a [*a]", "not YAML"),
    ("edge4", "constants/interposer.yaml", "none.yaml", "constants: .*none.yaml: No such file"),
    ("edge4", "constants/interposer.yaml", "edge4.yaml", "constants: must not refer"),
    ("edge4", r"tiles: \[2, 2\]", "tiles: [2]", "shape.tiles: must be a list of 2"),
    ("edge4", r"tiles: \[2, 2\]", "tiles: [2, 0]", "shape.tiles.1: must be 1 to 64, and is 0"),
    ("edge4", r"tiles: \[2, 2\]", "tiles: [2, true]", "shape.tiles.1: must be an integer"),
    ("edge4", r"tiles: \[2, 2\]", "tiles: [2, !!int x]",
     "shape.tiles.1: must be an integer, and is 'x'"),
    ("edge4", r"\[\[2, 0\]\]", "[[1, 0]]", r"shape.spare_tiles.0: there is a tile at \[1, 0\]"),
    ("edge4", r"\[\[2, 0\]\]", "[[9, 0]]", r"shape: the tile at \[9, 0\] would have neither"),
    ("edge4", r"\[\[1, 0\], \[1, 0\]", "[[7, 0], [1, 0]",
     r"shape.edges.fibres.0: there is no tile at \[7, 0\]"),
    ("edge4", r"\[\[1, 0\], \[1, 0\]", "[" + "[1, 0], " * 20 + "[1, 0]", "shape: an element"),
    ("edge4", "most_mdbm: 4000", "most_mdbm: 4001",
     "shape.edges.most_mdbm: must be -5000.*to 4000"),
    ("edge4", "least_mdbm: -5000", "least_mdbm: -40000", "shape.edges.least_mdbm: must be"),
    ("rack64", "switches: ring", "switches: both", "shape.switches: must be ring, to the next rack, or any"),
    ("pod4096", r"racks: \[4, 4, 4\][^\n]*\n  switches: ring", "racks: [5, 4, 4]\n  switches: any",
     "shape: a circuit switch would join 80 racks"),
    ("rack64", r"tiles: \[2, 2\]", "tiles: [64, 64]", "shape: the accelerators would have"),
    ("rack64", r"joins: \[\[0, 0, 0\], \[1, 0, 0\]", "joins: [[9, 0, 0]",
     r"shape.spare_servers.0.joins.0: there is no server"),
    ("rack64", r"joins: \[\[0, 0, 0\], \[1.*\]\]", "joins: rings",
     "shape.spare_servers.0.joins: must be ring or levels, or a list"),
    ("rack64", r"at: \[-1, 0, 0\], joins: .*\]\]", "at: [-1, -1, 0], joins: ring",
     "shape.spare_servers.0.at: must be at -1 of one axis"),
    ("rack64", r"at: \[0, -1, 0\]", "at: [-1, 0, 0]",
     "shape: two accelerators would be at position"),
    ("rack64", r"at: \[0, -1, 0\]", "at: [0, -2, 0]", "shape.spare_servers.1.at.1: must be -1"),
    ("smartlight72", "planes: 1", "planes: 2", "parameters.planes: .*must be 1"),
    ("smartlight72", "deadline_ns: 500000000", "deadline_ns: 0",
     "parameters.deadline_ns: must be 1"),
    ("smartlight72", "sensitivity_mdbm: -15800", "sensitivity_mdbm: 0",
     "parameters.sensitivity_mdbm: must be at most overload"),
    ("smartlight72", "extinction_mdb: 35000", "extinction_mdb: 300",
     "losses.element_mdb: must be at most extinction"),
    ("smartlight72", "extinction_mdb: 35000", "extinction_db: 35000",
     "losses.extinction_db: is unknown"),
    ("smartlight72", "extinction_mdb: 35000", "", "losses: key 'extinction_mdb' is missing"),
    ("smartlight72", "width: 7", "width: 6",
     "shape.width: must be odd, and is 6: .*; use 5 or 7"),
    ("smartlight72", "width: 7", "width: 64", "shape.width: must be 1 to 63, and is 64"),
    ("smartlight72", "width: 7", "width: 7\n  accelerators: 14",
     "shape: must have either hosts or accelerators"),
    ("smartlight72", r"(?s)hosts:.*", "accelerators: 21",
     "shape.accelerators: must be at most 20, since the mesh has 40 ports, and is 21"),
    ("smartlight72", r"(?s)hosts:.*", "", "shape: must have either hosts or accelerators"),
    ("smartlight72", "height: 3", "height: 4", "shape.port_nodes: must name each of"),
    ("smartlight72", r"\[7, 3, 1,", "[7, 3, 3,", "shape.port_nodes: must name each of"),
    ("smartlight72", "server3:", "server2:", "shape.hosts.server2: stands in line"),
    ("smartlight72", "server3:", "'a b':", "shape.hosts.a b: must be 1 to 31 printable"),
    ("smartlight72", r"tx: 38, rx: 39, spare: false", "tx: 38, rx: 38, spare: false",
     "shape.hosts.server3.2.rx: port 38 is taken"),
    ("smartlight72", r"tx: 38, rx: 39, spare: false", "tx: 38, rx: 40, spare: false",
     "shape.hosts.server3.2.rx: port 40 is taken"),
    ("smartlight72", r"tx: 38, rx: 39, spare: false", "tx: 38, rx: 39, spare: 0",
     "shape.hosts.server3.2.spare: must be true"),
)


class Tap:
    """Counts and prints results."""

    def __init__(self):
        self.count = self.failed = 0

    def check(self, passed, name):
        """Report one result."""
        self.count += 1
        self.failed += not passed
        print(f"{'ok' if passed else 'not ok'} {self.count} - {name}")


class Room:
    """A directory with one description."""

    def __init__(self, directory):
        self.path = os.path.join(directory, "one.yaml")
        os.symlink(os.path.join(HERE, "constants"), os.path.join(directory, "constants"))
        os.symlink(os.path.join(HERE, "edge4.yaml"), os.path.join(directory, "edge4.yaml"))

    @staticmethod
    def stands_there(path, line, key):
        """Whether the key is in that line. An entry of a list has no key."""
        name = key.rpartition(".")[2]
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
        return int(line) <= len(lines) and (key in ("not YAML", "the file") or not name.isidentifier() or
                                            name.encode() in lines[int(line) - 1])

    def answer(self, text):
        """The message of a rejection, or None for a valid profile. Any other exception is a
        defect."""
        with open(self.path, "wb") as file:
            file.write(text.encode("latin-1"))
        try:
            image = mkprofile.make(self.path)
        except ValueError as error:
            said = re.fullmatch(MESSAGE, str(error))
            if not said or not self.stands_there(*said.groups()):
                raise AssertionError(f"does not say where: {error}") from error
            return str(error)
        morphprofile.Profile(bytes(image))
        return None


def read(name):
    with open(os.path.join(HERE, name + ".yaml"), encoding="latin-1") as file:
        return file.read()


def known(tap, room):
    """Descriptions with one mistake each, and a file without end."""
    try:
        said = "accepted" if mkprofile.make("/dev/zero") else ""
    except ValueError as error:
        said = str(error)
    tap.check(said.startswith("/dev/zero:1: not YAML: more than"), f"/dev/zero: {said[:120]!r}")
    for name, pattern, instead, message in REFUSALS:
        text = read(name)
        found = re.search(pattern, text)
        try:
            said = room.answer(text[:found.start()] + instead + text[found.end():]) or "accepted"
        except Exception as error:      # pylint: disable=broad-except
            said = f"{type(error).__name__}: {error}"
        said = re.sub(r"^[^:]*/", "", said)
        tap.check(bool(re.match(r"[^:]*:\d+: " + message, said)), f"{name}: {instead.strip()[:40]!r}: {said[:120]!r}")


# random descriptions

def places(tree, found):
    """Each (container, key) of a tree."""
    for key, value in list(tree.items() if isinstance(tree, dict) else enumerate(tree)):
        found.append((tree, key))
        if isinstance(value, (dict, list)):
            places(value, found)
    return found


def damage_tree(chance, tree):
    """Change values, remove them, duplicate them or rename their keys."""
    for _ in range(chance.randint(1, 3)):
        container, key = chance.choice(places(tree, []))
        how = chance.randrange(8)
        if how < 5:
            old = container[key]
            container[key] = old + chance.choice((-1, 1, 7)) if isinstance(old, int) and chance.randrange(2) \
                else chance.choice(VALUES)
        elif how == 5:
            del container[key]
            if not tree:
                return
        elif isinstance(container, list):
            container.insert(key, container[key])
        else:
            container[chance.choice(("none", 7, "name", "shape", True))] = container.pop(key)


def damage_text(chance, text):
    """Insert bytes, remove bytes, swap lines."""
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(text) + 1)
        how = chance.randrange(4)
        if how == 0:
            text = text[:at] + chance.choice(SNIPPETS) + text[at:]
        elif how == 1:
            text = text[:at] + text[at + chance.choice((1, 2, 30)):]
        elif how == 2:
            text = text[:at] + chr(chance.randrange(256)) + text[at + 1:]
        else:
            lines = text.splitlines(True)
            first = chance.randrange(len(lines) + 1)
            text = "".join(lines[:first] + lines[first + 1:] + lines[first:first + 1])
    return text


def make_damage(chance):
    """A description."""
    text = read(chance.choice(NAMES))
    if chance.randrange(3):
        tree = yaml.safe_load(text)
        if "constants" in tree and chance.randrange(2):
            with open(os.path.join(HERE, tree.pop("constants")), encoding="utf-8") as file:
                tree.update(yaml.safe_load(file))
        damage_tree(chance, tree)
        text = yaml.safe_dump(tree, default_flow_style=chance.choice((None, True, False)),
                              sort_keys=chance.randrange(2) > 0)
    if not chance.randrange(3):
        text = damage_text(chance, text)
    return text


def by_chance(tap, room, seed, count):
    """Test count descriptions. Returns the number of rejections, and each case with neither a good
    error nor a valid profile."""
    refused, bad = 0, []
    for number in range(count):
        text = make_damage(random.Random(f"{seed}:{number}"))
        try:
            refused += room.answer(text) is not None
        except Exception:       # pylint: disable=broad-except
            bad.append(number)
            print(f"# description {number} of seed {seed}: kept in {room.path}.{number}")
            print("#", traceback.format_exc().rstrip().replace("\n", "\n# "))
            os.replace(room.path, f"{room.path}.{number}")
    tap.check(not bad, f"by chance: of {count} of seed {seed} {refused} are refused with their place, "
                       "the others are valid")
    tap.check(count < 100 or count // 2 < refused < count, "by chance: some are refused, some are not")
    return not bad


def main():
    """Command line."""
    seed, count = (sys.argv[1:] + ["1", "150"][len(sys.argv) - 1:])[:2]
    # The same rule rejects these sizes earlier if it has a minimum.
    interposer.MOST_PORTS = 1 << 10
    tap = Tap()
    print("TAP version 13")
    directory = tempfile.mkdtemp(prefix="spec-")
    room = Room(directory)
    known(tap, room)
    if by_chance(tap, room, seed, int(count)):
        for path in ("one.yaml", "constants", "edge4.yaml"):
            os.unlink(os.path.join(directory, path))
        os.rmdir(directory)
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
