#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Train for a few steps over the circuits of a slice, with and without a failure. Prints TAP."""

import os
import subprocess
import sys
import tempfile
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import show     # noqa: E402
import trial    # noqa: E402

from trial import job   # noqa: E402

RANKS, STEPS, FAIL_AT, FAILING = 4, 24, 8, 3
LEAST_FALL = 0.8    # the loss of the last step, in that of the first one


def train(running, fail_at=None):
    with tempfile.TemporaryDirectory() as directory:
        training = trial.Trial(running, STEPS, directory)
        training.follow(fail_at, FAILING)
    return training


def training_continues_after_a_failure(running):
    chips = running.accelerators()
    failed = train(running, FAIL_AT)
    print("# ms by phase:", *(f"{name} {value:.0f}," for name, value in failed.phases().items()))
    assert running.accelerators()[FAILING] != chips[FAILING]
    assert [entry["rank"] for entry in failed.rejoined] == [FAILING], failed.rejoined
    running.fabric.fault()
    mine, other = (show.losses({"steps": training.steps}) for training in (failed, train(running)))
    print(f"# loss {mine[1]:.3f}, after {STEPS} steps {mine[STEPS]:.3f}")
    assert mine[STEPS] < LEAST_FALL * mine[1], mine
    assert mine == other, (mine, other)


def main():
    reason = job.why_not() if os.path.exists(trial.PROGRAM) else "there is no MPI"
    if reason:
        print(f"TAP version 13\n1..0 # SKIP {reason}")
        return 4
    print("TAP version 13\n1..1", flush=True)
    subprocess.run(["insmod", os.path.join(os.environ["MORPH_KMOD"], "morph_net.ko")], check=True)
    failed = 0
    with job.place.Rack("server8") as fabric:
        running = job.Job(fabric, RANKS)
        try:
            training_continues_after_a_failure(running)
            print("ok 1 training_continues_after_a_failure")
        except Exception:   # pylint: disable=broad-except
            failed = 1
            print("".join(f"# {line}\n" for line in traceback.format_exc().splitlines()), end="")
            print("not ok 1 training_continues_after_a_failure")
        running.end()
    subprocess.run(["rmmod", "morph_net"], check=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
