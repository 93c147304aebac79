#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Give a slice the circuits of training jobs with `morphctl jobs apply`. Prints TAP.

The tests read light from the kernel's dump of circuits.
"""

import errno
import json
import subprocess
import sys
import time

from place import MORPHCTL, PATIENCE_S, run
from schedules import schedule

BUSY, USAGE = 6, 2    # exit status
SITES = """
bandwidth-mbps: 100000
dark-ns: 20000000
sites:
- {rank: 0, sites-count: 4, ports-count: 2}
"""


def job(*sites, compute_ms=400, push=2500000000):
    """A job with a worker at each site; the first site is the root."""
    return {"push-bytes": push, "compute-ns": compute_ms * 1000000, "iterations-count": 1000, "root-site": sites[0],
            "parts": [{"site": site, "workers-count": 1} for site in sites]}


# Two equal jobs that share the ports of rank 0.
PAIR = (job(0, 1), job(0, 2))


def apply(*jobs, policy="auto", status=0, options=(), sites=SITES):
    """The answer of `morphctl jobs apply`, or its messages."""
    text = f"{sites}\njobs: {json.dumps(jobs)}\n"
    done = subprocess.run([MORPHCTL, "jobs", "apply", "-", "job", "--policy", policy, "--json", *options], input=text,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=6 * PATIENCE_S, check=False)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout) if done.stdout.strip() else done.stderr


def lit(rack):
    """The ranks of each lit circuit, by its number."""
    return {one["id"]: (one["src-rank"], one["dst-rank"]) for one in rack.ask("circuit", "list", "job")
            if one["state"] == "lit"}


def both_ways(*pairs):
    """A circuit in each direction for each pair of ranks."""
    return sorted([*pairs, *((dst, src) for src, dst in pairs)])


def counts(answer):
    return tuple(answer[f"circuits-{what}-count"] for what in ("set", "cleared", "kept"))


def set_and_kept(rack):
    """The difference from the lit circuits is set. Right circuits stay, and the same file changes
    nothing."""
    rack.do("slice", "create", "job", "--count", 4)
    rack.do("circuit", "add", "job", 0, 1)
    first, = lit(rack)
    answer = apply(job(0, 1), job(2, 3))
    before = lit(rack)
    assert counts(answer)[2] == 1 and first in before, answer
    assert set(before.values()) == set(both_ways((0, 1), (2, 3))), before
    assert [change["status"] for change in answer["changes"]] == [0] * answer["circuits-set-count"], answer
    again = apply(job(0, 1), job(2, 3))
    assert counts(again) == (0, 0, len(before)) and not again["changes"] and lit(rack) == before, again
    answer = apply(job(0, 2))
    assert answer["ok"] and counts(answer)[0] > 0 < counts(answer)[1], answer
    assert sorted(set(lit(rack).values())) >= both_ways((0, 2)), lit(rack)
    rack.end("job")


def dry_run(rack):
    """A dry run sets nothing, and reports what an application would set."""
    rack.do("slice", "create", "job", "--count", 4)
    dry = apply(job(0, 1), job(2, 3), options=("--dry-run",))
    assert dry["dry-run"] and not lit(rack), dry
    assert counts(dry) == counts(apply(job(0, 1), job(2, 3)))
    dry = apply(*PAIR, policy="grouped", options=("--dry-run",))
    assert [(one["action"], "schedule" in one) for one in dry["schedules"]] == [("load", False)], dry
    assert schedule("list", "job") == []
    rack.end("job")


def turns(rack, number):
    """The lit pairs of ranks in each step of a running schedule."""
    seen, until = {}, time.monotonic() + 2 * PATIENCE_S
    while len(seen) < 2:
        assert time.monotonic() < until, seen
        told = schedule("show", "job", number)
        pairs = set(lit(rack).values())
        if schedule("show", "job", number)["position"] == told["position"]:
            seen[told["lit-step"]] = pairs
    return seen


def in_turn(rack):
    """Two equal jobs that share the ports of a rank get all its ports in turn, as steps of a
    schedule."""
    rack.do("slice", "create", "job", "--count", 4)
    # Long turns, in which the test can read the circuits.
    answer = apply(*(job(0, other, compute_ms=4000, push=25000000000) for other in (1, 2)), policy="grouped")
    told, = answer["schedules"]
    assert told["action"] == "load" and told["period-ns"] == 6000000000, told
    assert [step["cohort-jobs"] for step in told["steps"]] == [[0], [1]], told
    assert [step["after-ns"] for step in told["steps"]] == [3960000000, 2000000000], told
    assert [len(step["circuits"]) for step in told["steps"]] == [4, 4], told
    assert [one["offset-ns"] for one in answer["jobs"]] == [0, 2020000000], answer["jobs"]
    assert turns(rack, told["schedule"]) == {0: set(both_ways((0, 1))), 1: set(both_ways((0, 2)))}
    rack.end("job")


def not_in_turn(rack):
    """Equal jobs that compute for less than two dark times are not interleaved: both have light all
    the time."""
    rack.do("slice", "create", "job", "--count", 4)
    answer = apply(job(0, 1, compute_ms=39), job(0, 2, compute_ms=39), policy="grouped")
    assert answer["schedules"] == [] and not any("cohort" in one for one in answer["jobs"]), answer
    assert sorted(lit(rack).values()) == both_ways((0, 1), (0, 2)), lit(rack)
    rack.end("job")


def same_schedule(rack):
    """The same file keeps the schedule. Other jobs replace it with --force only."""
    rack.do("slice", "create", "job", "--count", 4)
    number = apply(*PAIR, policy="grouped")["schedules"][0]["schedule"]
    again = apply(*PAIR, policy="grouped")
    assert [(one["action"], one["schedule"]) for one in again["schedules"]] == [("keep", number)], again
    assert counts(again) == (0, 0, 0) and [one["id"] for one in schedule("list", "job")] == [number], again
    # Another job of the same number of circuits, and another time.
    for others in ((job(0, 1), job(0, 3)), (job(0, 1, compute_ms=500), job(0, 2, compute_ms=500))):
        refused = apply(*others, policy="grouped", status=BUSY)
        assert not refused["ok"] and [one["id"] for one in schedule("list", "job")] == [number], refused
        answer = apply(*others, policy="grouped", options=("--force",))
        assert [one["action"] for one in answer["schedules"]] == ["unload", "load"], answer
        number = answer["schedules"][1]["schedule"]
        assert [one["id"] for one in schedule("list", "job")] == [number]
    answer = apply(*PAIR, options=("--force",))
    assert [one["action"] for one in answer["schedules"]] == ["unload"] and not schedule("list", "job"), answer
    assert set(lit(rack).values()) == set(both_ways((0, 1))), lit(rack)
    rack.end("job")


def crashed(rack):
    """If a planner is killed at any moment, the next one completes the circuits. The one after it
    changes nothing."""
    rack.do("slice", "create", "job", "--count", 4)
    text = f"{SITES}\njobs: {json.dumps(PAIR)}\n"
    for delay_ms in (20, 60, 100, 150, 250, 400):
        with subprocess.Popen([MORPHCTL, "jobs", "apply", "-", "job", "--policy", "grouped", "--force"],
                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as planner:
            planner.stdin.write(text.encode())
            planner.stdin.close()
            time.sleep(delay_ms / 1000)
            planner.kill()
        number, = (one["schedule"] for one in apply(*PAIR, policy="grouped", options=("--force",))["schedules"]
                   if one["action"] != "unload")
        again = apply(*PAIR, policy="grouped")
        assert [(one["action"], one["schedule"]) for one in again["schedules"]] == [("keep", number)], again
        assert counts(again) == (0, 0, 0) and [one["id"] for one in schedule("list", "job")] == [number], again
        if delay_ms == 60:     # begin the next one in the dark
            schedule("unload", "job", number)
    rack.end("job")


def settled(rack):
    """Wait until the driver has replaced the accelerator."""
    until = time.monotonic() + PATIENCE_S
    while rack.ask("slice", "show", "job")["state"] != "ok" or rack.ask("slice", "show", "job")["generation"] == 0:
        assert time.monotonic() < until, rack.ask("slice", "show", "job")
        time.sleep(0.05)


def failed(rack):
    """After the driver has replaced an accelerator, circuits and schedule are right as they are."""
    for policy in ("auto", "grouped"):
        rack.do("slice", "create", "job", "--count", 4)
        apply(*PAIR, policy=policy)
        before = rack.ask("slice", "show", "job")
        rack.do("accelerator", "fail", before["ranks"][1]["accelerator"])
        settled(rack)
        after = rack.ask("slice", "show", "job")
        assert after["ranks"][1]["accelerator"] != before["ranks"][1]["accelerator"], after
        answer = apply(*PAIR, policy=policy)
        assert counts(answer)[:2] == (0, 0), answer
        assert [one["action"] for one in answer["schedules"]] == ["keep"] * (policy == "grouped"), answer
        rack.end("job")
        rack.do("accelerator", "test", before["ranks"][1]["accelerator"])


def wait_state(rack, state):
    """Wait for the state of the job's slice."""
    until = time.monotonic() + PATIENCE_S
    while (told := rack.ask("slice", "show", "job"))["state"] != state:
        assert time.monotonic() < until, told
        time.sleep(0.05)


def reclaimed(rack):
    """Rank 3 is a lent spare that reduces data. A failover of another slice takes it back. The job
    goes on with a CPU aggregator, and its other circuits stay lit."""
    chips = rack.ask("accelerator", "list")
    free = [chip["id"] for chip in chips if chip["use"] == "free"]
    lent, idle = (chip["id"] for chip in chips if chip["use"] == "spare")
    rack.do("slice", "create", "job", "--accelerators", ",".join(map(str, (*free[:3], lent))), "--lend-spares")
    rack.do("slice", "create", "other", "--accelerators", ",".join(map(str, free[3:5])), "--spares", "any")
    one = job(0, 1)
    one["parts"][1]["workers-count"] = 2
    sites = SITES.replace("sites-count: 4, ports-count: 2",
                          "sites-count: 3, ports-count: 1, aggregators-count: 1, slots-count: 1")
    answer = apply(one, sites=sites)
    assert "aggregators-count" not in answer["jobs"][0], answer["jobs"]
    rack.do("circuit", "add", "job", 1, 3)
    before = {number: pair for number, pair in lit(rack).items() if 3 not in pair}
    assert sorted(before.values()) == both_ways((0, 1)) and len(lit(rack)) == 3, lit(rack)
    for accelerator in (idle, free[3]):
        rack.do("accelerator", "fail", accelerator)
    wait_state(rack, "degraded")
    assert lent in [rank["accelerator"] for rank in rack.ask("slice", "show", "other")["ranks"]]
    assert lit(rack) == before, lit(rack)
    answer = apply(one, sites=sites.replace("slots-count: 1", "slots-count: 0"))
    assert counts(answer) == (0, 0, 2) and answer["jobs"][0]["job-state"] == "runs", answer
    assert answer["jobs"][0]["aggregators-count"] == 1 and lit(rack) == before, answer["jobs"]
    rack.end("job", "other")
    rack.do("accelerator", "test", idle, free[3])


def refused(rack):
    """A refusal names the site or the driver's reason, and sets nothing."""
    rack.do("slice", "create", "job", "--count", 4)
    told = apply(job(0, 4), sites=SITES + "- {ports-count: 2}\n", status=USAGE)
    assert "job 0: site 4 is no rank; give its entry of 'sites' a 'rank', or remove the job" in told, told
    told = apply(job(0, 1), sites=SITES + "- {rank: 4, ports-count: 2}\n", status=USAGE)
    assert "site 4 is rank 4, but slice 'job' has ranks 0 to 3" in told, told
    told = apply(job(0, 1), sites=SITES + "circuits: [{a-site: 0, b-site: 1, circuits-count: 1}]\n", status=USAGE)
    assert "remove 'circuits'; the driver reports the circuits of the slice" in told, told
    many = SITES.replace("ports-count: 2", "ports-count: 400")
    answer = apply(job(0, 1), sites=many, status=BUSY)
    short, = (change for change in answer["changes"] if change["status"] != -errno.ECANCELED)
    assert not answer["ok"] and (short["status"], short["reason"]) == (-errno.EBUSY, "blocked"), short
    assert not lit(rack)
    rack.end("job")


TESTS = (set_and_kept, dry_run, in_turn, not_in_turn, same_schedule, crashed, failed, reclaimed, refused)

if __name__ == "__main__":
    sys.exit(run(TESTS, "server8"))
