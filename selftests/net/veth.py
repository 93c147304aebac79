#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Compare the rate of a network device with that of a veth pair, by iperf3. Prints TAP.

    veth.py [--rows FILE]

Both join the same namespaces, with the same MTU, and are measured in turn. The circuits are faster
than the machine. --rows also appends a row for `make bench` to FILE.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

import job
import rate

RUNS = 3
LANES = 4
LEAST = 0.5
DIRECT = "10.0.1"


def join_directly():
    """A veth pair between the namespaces of both ranks."""
    names = [job.Job.name(rank) for rank in range(2)]
    job.ip("link", "add", "direct", "type", "veth", "peer", "name", "direct", "netns", names[1], name=names[0])
    for rank, name in enumerate(names):
        job.ip("address", "add", f"{DIRECT}.{rank + 1}/24", "dev", "direct", name=name)
        job.ip("link", "set", "direct", "mtu", job.MTU, "up", name=name)


def compare():
    """The row of the bench."""
    device, veth = [], []
    for _ in range(RUNS):
        veth.append(rate.measure(f"{DIRECT}.2"))
        device.append(rate.measure())
    median, reference = statistics.median(device), statistics.median(veth)
    return {"name": "TCP stream over a network device, server8", "unit": "Mb/s", "samples": RUNS, "median": median,
            "p10": min(device), "p90": max(device), "reference_name": "veth pair", "reference": reference,
            "ratio": median / reference, "bar": "ratio", "limit": LEAST, "met": median >= LEAST * reference}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", help="file of the bench, to which the row is appended")
    return parser.parse_args()


def main():
    args = parse()
    print("TAP version 13\n1..1", flush=True)
    subprocess.run(["insmod", os.path.join(os.environ["MORPH_KMOD"], "morph_net.ko")], check=True)
    with job.place.Rack("server8") as fabric:
        pair = job.Job(fabric, 2, lanes=LANES)
        join_directly()
        row = compare()
        pair.end()
    subprocess.run(["rmmod", "morph_net"], check=True)
    print(f"# device {row['median']:.0f} Mb/s, veth pair {row['reference']:.0f} Mb/s, ratio {row['ratio']:.2f}")
    print(f"{'ok' if row['met'] else 'not ok'} 1 device_has_at_least_half_the_rate_of_a_veth_pair")
    if args.rows:
        with open(args.rows, "a", encoding="utf-8") as file:
            print(json.dumps(row), file=file)
        return 0    # the row shows a missed limit
    return 0 if row["met"] else 1


if __name__ == "__main__":
    reason = job.why_no_veth()
    if reason:
        print(f"TAP version 13\n1..0 # SKIP {reason}")
        sys.exit(4)
    sys.exit(main())
