#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Run the KUnit suites of morph.ko: load the build that has them, run them, and print the kernel's
reports.

The module stays loaded, so that the caller can look for leaks.
"""

import glob
import os
import re
import subprocess
import sys
import threading

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODULE = os.environ["MORPH_KMOD"] + "-kunit/morph.ko"
KSFT_SKIP = 4
QUIET_SECONDS = 1   # silence after which all messages have been read


def suites():
    """Names of all suites, from the sources. A suite that is not linked would otherwise go
    unnoticed."""
    names = []
    for path in sorted(glob.glob(TOP + "/kmod/tests/*_kunit.c")):
        with open(path, encoding="ascii") as file:
            names += re.findall(r'\.name = "(morph_\w+)"', file.read())
    return names


class Reader(threading.Thread):
    """Prints kernel messages while the suites run, because the size of the kernel's log is
    limited."""

    def __init__(self):
        super().__init__(daemon=True)
        self.kmsg = os.open("/dev/kmsg", os.O_RDONLY)
        os.lseek(self.kmsg, 0, os.SEEK_END)
        self.lines = []
        self.lost = False

    def run(self):
        while True:
            try:
                record = os.read(self.kmsg, 8192).decode(errors="replace")
            except BrokenPipeError:
                self.lost = True
                continue
            text = record.partition(";")[2].split("\n", 1)[0].replace("\\x0a", "\n")
            self.lines.append(text)
            print(text, flush=True)


def unload():
    for module in ("morph_sim", "morph"):
        if os.path.exists("/sys/module/" + module):
            subprocess.run(["rmmod", module], check=True)


def main():
    if not os.path.exists(MODULE):
        print(f"there is no {MODULE}: this kernel has no KUnit")
        return KSFT_SKIP
    unload()
    reader = Reader()
    reader.start()
    status = subprocess.run(["insmod", MODULE], check=False).returncode
    if not status:
        with open("/sys/module/morph/parameters/kunit", "w", encoding="ascii") as file:
            file.write("1")
    reader.join(QUIET_SECONDS)
    said = "\n".join(reader.lines)
    missing = [name for name in suites() if not re.search(rf"^(not )?ok \d+ -? ?{name}\b", said, re.MULTILINE)]
    for name in missing:
        print(f"# {name} did not report")
    if reader.lost:
        print("# kernel messages were lost")
    return 1 if status or missing or reader.lost else 0


if __name__ == "__main__":
    sys.exit(main())
