#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Train for a few steps over the circuits of a slice, with and without a failure. Prints TAP."""

import os
import sys
import tempfile

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


if __name__ == "__main__":
    sys.exit(job.run_tests((training_continues_after_a_failure,), RANKS,
                           job.why_not() if os.path.exists(trial.PROGRAM) else "there is no MPI"))
