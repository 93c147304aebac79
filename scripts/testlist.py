# SPDX-License-Identifier: GPL-2.0-only
"""Read selftests/*.list: which programs to run, and how."""

import os
import shlex
from dataclasses import dataclass

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# How many times longer a debug kernel may take over anything, by its configuration: checks have their price.
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


def read(name):
    """The tests in selftests/<name>.list."""
    with open(os.path.join(TOP, "selftests", name + ".list"), encoding="utf-8") as file:
        lines = (shlex.split(line, comments=True) for line in file)
        return [parse_line(words) for words in lines if words]
