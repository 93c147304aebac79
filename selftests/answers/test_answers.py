#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the answers of morphctl's planning verbs and of the router with the recorded ones. Prints
TAP.

The environment has MORPHCTL and PROFILES. ROUTED is a file with new answers of the router.
"""

import difflib
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RECORDED = os.path.join(HERE, "answers.jsonl")
LINES_MOST = 40     # of a difference


def run(path, only=""):
    """Output and exit status of `answers check`."""
    done = subprocess.run([os.path.join(HERE, "answers"), "check", path, "--only", only], stdout=subprocess.PIPE, text=True,
                          check=False)
    return done.stdout.splitlines(), done.returncode


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def planners():
    """Each group of cases is one result."""
    lines, status = run(RECORDED)
    results = []
    for line in lines:
        words = line.split(" - ", 1)
        if line.startswith("#"):
            print(line)
        elif len(words) == 2:
            results.append((words[1], words[0].startswith("ok")))
    return [*results, ("all planning verbs were asked", status == (0 if all(passed for _, passed in results) else 1))]


def router():
    found = list(difflib.unified_diff(read(os.path.join(HERE, "router.txt")), read(os.environ["ROUTED"]), "recorded", "now",
                                      lineterm="", n=0))
    for line in found[:LINES_MOST]:
        print("#", line)
    return [("answers of the router are the recorded ones", not found)]


def altered(path, change):
    """A copy of the recording with one changed answer."""
    records = [json.loads(line) for line in read(RECORDED)]
    place = next(record for record in records if record["case"].startswith("server4/place/"))
    change(records, place)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(record) + "\n" for record in records)
    return path


def the_check_can_fail():
    """The check detects a changed answer, a changed exit status, a missing case, and an unrecorded
    case."""
    changes = {"answer": lambda _records, one: one.update(json="0" * 16), "status": lambda _records, one: one.update(status=99),
               "case that nobody asks": lambda _records, one: one.update(case="server4/place/none"),
               "case that is not recorded": lambda records, one: records.remove(one)}
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name, change in changes.items():
            lines, status = run(altered(os.path.join(folder, "altered"), change), "server4/place/")
            results.append((f"a recording with another {name} is rejected",
                            status == 1 and any(line.startswith("not ok") for line in lines)))
    return results


def main():
    results = [*router(), *the_check_can_fail(), *planners()]
    print(f"TAP version 13\n1..{len(results)}")
    for number, (name, passed) in enumerate(results, 1):
        print(f"{'ok' if passed else 'not ok'} {number} - {name}")
    return 0 if all(passed for _, passed in results) else 1


if __name__ == "__main__":
    sys.exit(main())
