#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""Derive jobs.csv from a published trace: derive.py TRACE > jobs.csv. Its jobs fill clusters.

TRACE is openb_pod_list_default.csv of Alibaba's cluster-trace-gpu-v2023.
"""

import csv
import sys

HEADER = """\
# SPDX-License-Identifier: LicenseRef-Alibaba-clusterdata
# All tasks of Alibaba's cluster-trace-gpu-v2023 (openb_pod_list_default.csv) that asked for GPUs and ended, in
#   order of creation: seconds from creation to deletion, GPUs. Described in "Beware of Fragmentation", USENIX ATC
#   2023. The publisher allows any use for research or study; the same holds for this file.
# Made by derive.py.
duration_s,accelerators"""


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: derive.py TRACE")
    print(HEADER)
    tasks = []
    with open(sys.argv[1], encoding="ascii", newline="") as file:
        for row in csv.DictReader(file):
            if row["deletion_time"] and int(row["num_gpu"]):
                begin = int(row["creation_time"])
                tasks.append((begin, int(row["deletion_time"]) - begin, int(row["num_gpu"])))
    for _, duration, count in sorted(tasks, key=lambda task: task[0]):
        if duration > 0:
            print(f"{duration},{count}")


if __name__ == "__main__":
    main()
