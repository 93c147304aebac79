# SPDX-License-Identifier: GPL-2.0-only
"""Read KTAP, as nested as it comes, into flat results.

A result is a leaf: a test point that contains other points is not counted beside them.
"""

import re
from dataclasses import dataclass

POINT = re.compile(r"^(?P<indent>(?:  )*)(?P<verdict>ok|not ok)\b ?(?P<number>\d+)?(?: -)?\s*(?P<rest>.*)$")
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


def parse(text):
    """List the leaves in the output of one program, and what the program planned but did not report."""
    results = []
    depths = []     # of results, so that a point can find the deeper ones before it: its children
    plans = {}      # depth -> points still expected there
    for line in text.splitlines():
        if match := PLAN.match(line):
            plans[len(match["indent"])] = int(match["count"])
        elif match := POINT.match(line):
            depth = len(match["indent"])
            missing = sum(plans.pop(deeper) for deeper in [d for d in plans if d > depth])
            plans[depth] = plans.get(depth, 1) - 1
            add_point(results, depths, depth, parse_point(match), missing)
    lost = sum(max(count, 0) for count in plans.values())
    results += [Result(f"planned but not reported: {lost}", False)] if lost else []
    return results


def add_point(results, depths, depth, point, missing):
    first = len(results)
    while first and depths[first - 1] > depth:
        first -= 1
    children = results[first:]
    for child in children:
        child.name = f"{point.name}/{child.name}"
    depths[first:] = [depth] * len(children)
    # A parent that failed though no child did has something to say of its own.
    if not children or missing > 0 or (not point.passed and all(child.passed for child in children)):
        results.append(Result(point.name, point.passed and missing <= 0, point.skipped, point.reason))
        depths.append(depth)


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
    """Why a program that reported no point left: its last line."""
    lines = [line.strip("# ") for line in text.splitlines() if line.strip()]
    return re.sub(r"^1\.\.0\s*(# )?(SKIP)?\s*", "", lines[-1]) if lines else "no reason given"


def read_flat(line):
    """The result on a line that Result.line() wrote, or None."""
    match = POINT.match(line)
    return parse_point(match) if match and not match["indent"] else None
