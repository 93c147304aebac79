#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Circuits come and go for a program for MPI that knows nothing of them, under libmorph-mpi.so. Prints TAP.

Its communicators are two pairs, two other pairs, and all, whose circuits share ports: so each iteration needs three phases.
"""

import os
import socket
import subprocess
import sys

import observe

LAUNCH = os.path.join(observe.BUILD, "selftests", "mpi", "launch")
ITERATIONS = 12
# Of each iteration: a sum, a gradient and an activation for each of three batches from either side, three sums.
LEAST_ENTERED = ITERATIONS * (1 + 3 + 3)


def prepare_machine():
    """What an MPI wants of a machine: a name, and a way to itself."""
    if socket.gethostname() in ("", "(none)"):
        socket.sethostname("machine")
    subprocess.run(["busybox", "ifconfig", "lo", "127.0.0.1", "up"], check=False)


def on_a_slice(mode):
    run = observe.Run(str(ITERATIONS), launch=(LAUNCH, "server8", str(observe.RANKS)), MORPH_PHASES=mode)
    assert run.status == 0 and not run.lines(), run
    for trace in run.traces:
        assert trace["mode"] == mode, run
        assert all("phase" in comm for comm in trace["communicators"]), run
        assert trace["entered"] == LEAST_ENTERED + 1 and trace["late"] == 0, run
    print("#", mode, {name: [trace[name] for trace in run.traces]
                      for name in ("entered", "lit", "changes", "provisioned", "jumps", "wait_ns")})
    return run


def on_demand():
    run = on_a_slice("on-demand")
    assert not any(trace["provisioned"] for trace in run.traces)


def provisioned():
    run = on_a_slice("provision")
    assert any(trace["provisioned"] for trace in run.traces)


def failover():
    launch = (LAUNCH, "server8", str(observe.RANKS), "--fail", "20")
    run = observe.Run("40", launch=launch, MORPH_PHASES="provision")
    assert run.status == 0 and "launch:" not in run.said and not run.lines(), run
    for trace in run.traces:
        assert trace["entered"] == 40 * 7 + 1 and trace["late"] == 0, run
    print("# failover", [trace["repairs"] for trace in run.traces])


def threads():
    run = observe.Run("4", "threads", launch=(LAUNCH, "server8", str(observe.RANKS)), MORPH_PHASES="provision")
    assert run.status == 0 and not run.lines(), run
    assert all(trace["late"] == 0 for trace in run.traces), run


def failover_beside_loads():
    launch = (LAUNCH, "server8", str(observe.RANKS), "--fail", "150")
    run = observe.Run("1", "threads", launch=launch, MORPH_PHASES="provision")
    assert run.status == 0 and "launch:" not in run.said and not run.lines(), run
    assert all(trace["late"] == 0 for trace in run.traces), run


if __name__ == "__main__":
    prepare_machine()
    sys.exit(observe.main([on_demand, provisioned, failover, threads, failover_beside_loads]))
