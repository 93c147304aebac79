#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Measure by iperf3 the rate between two ranks, with 1, 2 and 4 lanes. Prints TAP.

The parameter scale of the module makes a lane so slow that an emulated machine can carry all lanes.
The test compares medians of several runs.
"""

import json
import statistics
import subprocess
import sys

import job

LANES = (1, 2, 4)
LANE_MBPS = 5      # of the model: the rate of a lane, divided by scale
RUNS = 3
RATE_PERCENT, RATIO_PERCENT = 8, 5


def measure(address="10.0.0.2"):
    """Rate of a stream from rank 0 to an address of rank 1 in Mb/s, without headers."""
    with subprocess.Popen(["ip", "netns", "exec", "rank1", "iperf3", "-s", "-1"], stdout=subprocess.DEVNULL) as server:
        client = ["ip", "netns", "exec", "rank0", "iperf3", "-c", address, "-J", "-t", "2", "-O", "1"]
        for _ in range(50):
            done = subprocess.run(client, capture_output=True, text=True, check=False)
            answer = json.loads(done.stdout)
            if "refused" not in answer.get("error", ""):
                break
        assert done.returncode == 0, answer.get("error")
        server.wait(timeout=job.SECONDS)
    return answer["end"]["sum_received"]["bits_per_second"] / 1e6


def rates_follow_the_lanes(pair):
    rates = {}
    for lanes in LANES:
        pair.darken()
        pair.light(lanes)
        runs = [measure() for _ in range(RUNS)]
        rates[lanes] = statistics.median(runs)
        print(f"# {lanes} lanes, {lanes * LANE_MBPS} Mb/s in the model:", *(f"{rate:.2f}" for rate in runs), "Mb/s",
              flush=True)
    for lanes, rate in rates.items():
        assert abs(rate / (lanes * LANE_MBPS) - 1) <= RATE_PERCENT / 100, rates
        assert abs(rate / (lanes * rates[1]) - 1) <= RATIO_PERCENT / 100, rates


def scale(lane_mbps=LANE_MBPS):
    """The option of the module with which a lane of the only fabric has this rate."""
    said = subprocess.run([job.place.MORPHCTL, "fabric", "list", "--json"], capture_output=True, check=True).stdout
    return (f"scale={int(json.loads(said)[0]['lane-mbps'] / lane_mbps)}",)


if __name__ == "__main__":
    sys.exit(job.run_tests((rates_follow_the_lanes,), 2, job.why_not(), scale))
