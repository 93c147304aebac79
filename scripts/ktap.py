# SPDX-License-Identifier: GPL-2.0-only
"""Read KTAP of any depth into flat results.

A result is a leaf. A test point that contains other points does not count.
"""

import re
from dataclasses import dataclass

POINT = re.compile(r"^(?P<indent>(?:  )*)(?P<verdict>ok|not ok)\b ?(?P<number>\d+)?(?: -)?\s*(?P<rest>.*)$")
VERSION = re.compile(r"^K?TAP version \d+")
PLAN = re.compile(r"^(?P<indent>(?:  )*)1\.\.(?P<count>\d+)")
DIRECTIVE = re.compile(r"\s*# (?P<kind>SKIP|XFAIL|TODO)\b:?\s*(?P<reason>.*)$", re.IGNORECASE)
KSFT_SKIP = 4


@dataclass
class Result:
    name: str
    passed: bool
    skipped: bool = False
    reason: str = ""

    def line(self):
        verdict = "ok" if self.passed else "not ok"
        directive = f" # SKIP {self.reason}".rstrip() if self.skipped else ""
        return f"{verdict} {self.name}{directive}"


def parse_point(match):
    """The result on one line. An expected failure passes, and a failing skip is a failure."""
    name = match["rest"].strip()
    passed = match["verdict"] == "ok"
    directive = DIRECTIVE.search(name)
    if not directive:
        return Result(name.partition(" # ")[0], passed)
    name = name[:directive.start()]
    if directive["kind"].upper() == "SKIP":
        return Result(name, passed, passed, directive["reason"])
    return Result(name, True)


class Reader:
    """Collects the leaves of programs, one after another."""

    def __init__(self):
        self.results = []
        # For each depth the number of results when its point began: later results are its children.
        self.depths = []
        self.planned = {}   # depth: points that the plan announced
        self.seen = {}      # depth: points read

    def read(self, line):
        if VERSION.match(line):
            self.end_program()
        elif match := PLAN.match(line):
            self.plan(len(match["indent"]), int(match["count"]))
        elif match := POINT.match(line):
            self.point(len(match["indent"]), parse_point(match))

    def plan(self, depth, count):
        """A plan may stand before or after its points. A second plan belongs to another program."""
        if not depth and depth in self.planned:
            self.end_program()
        self.planned[depth] = count

    def point(self, depth, point):
        lost = sum(self.lost(deeper) for deeper in [d for d in {*self.planned, *self.seen} if d > depth])
        self.seen[depth] = self.seen.get(depth, 0) + 1
        first = len(self.results)
        while first and self.depths[first - 1] > depth:
            first -= 1
        children = self.results[first:]
        for child in children:
            child.name = f"{point.name}/{child.name}"
        self.depths[first:] = [depth] * len(children)
        # A parent that failed without a failed child reports a failure of its own.
        if not children or lost or (not point.passed and all(child.passed for child in children)):
            point.passed = point.passed and not lost
            self.add(depth, point)

    def lost(self, depth):
        """The number of missing points of a plan. The next plan of this depth is a new one."""
        return max(self.planned.pop(depth, 0) - self.seen.pop(depth, 0), 0)

    def end_program(self):
        lost = sum(self.lost(depth) for depth in list(self.planned))
        self.seen.clear()
        if lost:
            self.add(0, Result(f"planned but not reported: {lost}", False))

    def add(self, depth, result):
        self.results.append(result)
        self.depths.append(depth)


def parse(text):
    """List the leaves in the output of one or more programs, and the planned points that are
    missing."""
    reader = Reader()
    for line in text.splitlines():
        reader.read(line)
    reader.end_program()
    return reader.results


def judge(name, text, status, timed_out=False):
    """Flat results of a program from its output and exit status, named after it."""
    results = parse(text)
    for result in results:
        result.name = f"{name}: {result.name}"
    if timed_out:
        results.append(Result(f"{name}: did not end in time", False))
    elif not results and status == KSFT_SKIP:
        results.append(Result(name, True, True, last_words(text)))
    elif status not in (0, KSFT_SKIP) and all(result.passed for result in results):
        results.append(Result(f"{name}: ended with status {status}", False))
    elif not results:
        results.append(Result(f"{name}: reported nothing", False))
    return results


def last_words(text):
    """The reason why a program ended without a point: its last line."""
    lines = [line.strip("# ") for line in text.splitlines() if line.strip()]
    return re.sub(r"^1\.\.0\s*(# )?(SKIP)?\s*", "", lines[-1]) if lines else "no reason given"


def read_flat(line):
    """The result in a line from Result.line(), or None."""
    match = POINT.match(line)
    return parse_point(match) if match and not match["indent"] else None
