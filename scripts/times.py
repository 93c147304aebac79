# SPDX-License-Identifier: GPL-2.0-only
"""Times of the parts of a check: the line that reports one part, and the table of all parts.

Processor time is user plus system time of all processes of a part. It depends little on other load.
"""

import re
from collections import defaultdict
from dataclasses import dataclass

LINE = re.compile(r"^# time: (?P<stage>\S+) (?P<name>.*): (?P<seconds>[\d.]+) s, (?P<processor>[\d.]+) s of processor$")
SHOWN_PARTS = 8     # parts per stage in the table
VM_PROGRAMS = "vm-programs"     # a stage whose parts are also in the stage vm


@dataclass
class Time:
    stage: str
    name: str
    seconds: float
    processor: float

    def line(self):
        return f"# time: {self.stage} {self.name}: {self.seconds:.1f} s, {self.processor:.1f} s of processor"


def read(line):
    """The time in a line from Time.line(), or None."""
    match = LINE.match(line)
    return match and Time(match["stage"], match["name"], float(match["seconds"]), float(match["processor"]))


def total(times):
    """Total of the processor seconds."""
    return sum(part.processor for part in times if part.stage != VM_PROGRAMS)


def table(times):
    """Lines with the processor seconds of each stage, and of its longest parts."""
    stages = defaultdict(list)
    for time in times:
        stages[time.stage].append(time)
    width = max([len(stage) for stage in stages] + [len("stage")])
    rows = [f"{'stage':{width}}  processor s  longest parts (processor s)"]
    for stage, parts in stages.items():
        parts.sort(key=lambda part: -part.processor)
        shown = ", ".join(f"{part.name} {part.processor:.0f}" for part in parts[:SHOWN_PARTS])
        rows.append(f"{stage:{width}}  {sum(part.processor for part in parts):11.0f}  {shown}")
    return rows
