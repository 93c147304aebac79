# SPDX-License-Identifier: GPL-2.0-only
"""Read selftests/*.list: which programs to run, and how."""

import fnmatch
import os
import shlex
from dataclasses import dataclass

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# How many times longer a debug kernel may take over anything, by its configuration: checks have
# their price.
SLOWNESS = {"kasan": 5, "kcsan": 3, "gcov": 2}


def slowness(kernel):
    """The factor by which every time limit grows on a kernel."""
    return SLOWNESS.get(kernel.partition("-")[2], 1)


@dataclass
class Test:
    path: str
    timeout: int = 120
    kernels: tuple = ()
    group: str = "main"
    campaign: bool = False
    udev: bool = False

    @property
    def name(self):
        return os.path.splitext(os.path.basename(self.path))[0]

    @property
    def program(self):
        return os.path.join(TOP, self.path)

    def seconds(self, kernel):
        """How long it may take."""
        return self.timeout * slowness(kernel)

    def runs_on(self, kernel):
        """A debug kernel is also one of its version."""
        return not self.kernels or kernel in self.kernels or kernel.partition("-")[0] in self.kernels


def parse_line(words):
    test = Test(words[0])
    for word in words[1:]:
        key, _, value = word.partition("=")
        if key == "timeout":
            test.timeout = int(value)
        elif key == "kernels":
            test.kernels = tuple(value.split(","))
        elif key == "group":
            test.group = value
        elif key == "campaign":
            test.group, test.campaign = value, True
        elif key == "udev":
            test.udev = True
        else:
            raise ValueError(f"{words[0]}: unknown option {word}")
    return test


@dataclass
class Difference:
    """A failure of programs and modules that are not of one tree, which is expected."""
    name: str
    reason: str

    @property
    def by_chance(self):
        """May it pass as well?"""
        return self.reason.startswith("a race: ")

    def explains(self, result):
        return fnmatch.fnmatchcase(result.name, self.name)


@dataclass
class Skip:
    """A skip that is expected."""
    name: str
    reason: str

    def allows(self, result):
        return fnmatch.fnmatchcase(result.name, self.name) and fnmatch.fnmatchcase(result.reason, self.reason)


def lines(name, top=TOP):
    """The words of each line of selftests/<name>.list."""
    with open(os.path.join(top, "selftests", name + ".list"), encoding="utf-8") as file:
        return [words for words in (shlex.split(line, comments=True) for line in file) if words]


def read(name, top=TOP):
    """The tests in selftests/<name>.list."""
    return [parse_line(words) for words in lines(name, top)]


def skips():
    """The skips in selftests/skips.list."""
    return [Skip(*words) for words in lines("skips")]


def differences():
    """The differences in selftests/compat.list."""
    return [Difference(*words) for words in lines("compat")]
