#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Derive jobs.csv, the jobs that the demo replays, from a published trace: derive.py TRACE >
jobs.csv

TRACE is openb_pod_list_default.csv of Alibaba's cluster-trace-gpu-v2023. The script keeps tasks of
nine days: all tasks of several accelerators, and one of SINGLES_EVERY tasks of one accelerator. The
trace has no shape of more than eight accelerators. The script draws such shapes by seed from the
published mix of a production torus cluster, and marks them "drawn".
"""

import csv
import random
import sys

DAY = 86400
FIRST_DAY, LAST_DAY = 123, 131      # the days with the most tasks of several accelerators
SINGLES_EVERY = 8
DRAWN, DRAWN_SEED = 12, 1
# Accelerators and share in percent; the split of the shapes below 64 is unverified.
SHAPES = ((16, 8.9), (32, 4.6), (64, 14.0), (128, 16.0))

HEADER = f"""\
# SPDX-License-Identifier: LicenseRef-Alibaba-clusterdata
# Jobs for the demo: seconds since the window's begin, seconds, accelerators, where from.
# trace: a task of Alibaba's cluster-trace-gpu-v2023 (openb_pod_list_default.csv), described in "Beware of
#   Fragmentation", USENIX ATC 2023: days {FIRST_DAY} to {LAST_DAY}, all tasks of two GPUs or more, and one of
#   every {SINGLES_EVERY} of one GPU. The publisher allows any use for research or study; the same holds for this file.
# drawn: a shape of the production mix of a torus cluster (16, 32, 64, 128 chips), by seed {DRAWN_SEED}, with the
#   duration of one of those tasks; the trace has none of more than eight.
# Made by derive.py."""


def read(path):
    """Tasks of these days that ended: (creation, duration, accelerators), in order of creation."""
    tasks = []
    with open(path, encoding="ascii", newline="") as file:
        for row in csv.DictReader(file):
            begin, count = int(row["creation_time"]), int(row["num_gpu"])
            if not row["deletion_time"] or not count or not FIRST_DAY <= begin // DAY <= LAST_DAY:
                continue
            duration = int(row["deletion_time"]) - begin
            if duration > 0:
                tasks.append((begin - FIRST_DAY * DAY, duration, count))
    return sorted(tasks)


def sample(tasks):
    singles = [task for task in tasks if task[2] == 1]
    return [task + ("trace",) for task in singles[::SINGLES_EVERY] + [task for task in tasks if task[2] > 1]]


def draw(tasks):
    chance = random.Random(DRAWN_SEED)
    counts, weights = zip(*SHAPES)
    # Draw arrivals after the first eighth of the time, when the fabric is busy.
    span = (LAST_DAY + 1 - FIRST_DAY) * DAY
    return [(chance.randrange(span // 8, span), chance.choice(tasks)[1],
             chance.choices(counts, weights)[0], "drawn") for _ in range(DRAWN)]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tasks = read(sys.argv[1])
    print(HEADER)
    print("arrival_s,duration_s,accelerators,source")
    for job in sorted(sample(tasks) + draw(tasks)):
        print(",".join(map(str, job)))


if __name__ == "__main__":
    main()
