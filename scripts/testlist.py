# SPDX-License-Identifier: GPL-2.0-only
"""Read selftests/*.list: the programs to run, and their options."""

import fnmatch
import os
import shlex
from dataclasses import dataclass

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# How many times slower programs are on a debug kernel, by its configuration.
SLOWNESS = {"kasan": 5, "kcsan": 3, "gcov": 2}


def slowness(kernel):
    """Factor of all time limits on a kernel."""
    return SLOWNESS.get(kernel.partition("-")[2], 1)


@dataclass
class Test:
    path: str
    timeout: int = 120
    kernels: tuple = ()
    group: str = "main"
    campaign: bool = False
    udev: bool = False
    build: str = ""
    count: bool = False

    @property
    def name(self):
        return os.path.splitext(os.path.basename(self.path))[0]

    @property
    def program(self):
        return os.path.join(TOP, self.path)

    def seconds(self, kernel):
        """Time limit of the test."""
        return self.timeout * slowness(kernel)

    def runs_on(self, kernel):
        """Whether the test runs on a kernel. A debug kernel counts as its version, too."""
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
        elif key == "build":
            test.build = value
        elif key == "count":
            test.count = True
        else:
            raise ValueError(f"{words[0]}: unknown option {word}")
    return test


@dataclass
class Difference:
    """An expected failure if programs and modules belong to different versions."""
    name: str
    reason: str

    @property
    def by_chance(self):
        """Whether the test may also pass."""
        return self.reason.startswith("a race: ")

    def explains(self, result):
        return fnmatch.fnmatchcase(result.name, self.name)


@dataclass
class Skip:
    """An expected skip."""
    name: str
    reason: str

    def allows(self, result):
        return fnmatch.fnmatchcase(result.name, self.name) and fnmatch.fnmatchcase(result.reason, self.reason)


def lines(name, top=TOP):
    """Words of each line of selftests/<name>.list."""
    with open(os.path.join(top, "selftests", name + ".list"), encoding="utf-8") as file:
        return [words for words in (shlex.split(line, comments=True) for line in file) if words]


def read(name, top=TOP):
    """Tests in selftests/<name>.list."""
    return [parse_line(words) for words in lines(name, top)]


def skips():
    """Skips in selftests/skips.list."""
    return [Skip(*words) for words in lines("skips")]


def differences():
    """Differences in selftests/compat.list."""
    return [Difference(*words) for words in lines("compat")]
