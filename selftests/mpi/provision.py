#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Test circuits that libmorph-mpi.so adds and removes for an MPI program without code for them.
Prints TAP.

The communicators of the program are two pairs, two other pairs, and all ranks. Their circuits share
ports, so each iteration needs three phases.
"""

import os
import sys

import observe

LAUNCH = os.path.join(observe.BUILD, "selftests", "mpi", "launch")
ITERATIONS = 12
# Operations of each iteration: a sum; for each of three batches a gradient and an activation on
# both sides; three sums.
ENTERED = 1 + 3 + 3
LEAST_ENTERED = ITERATIONS * ENTERED
TURNS = 10


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
        assert trace["entered"] == 40 * ENTERED + 1 and trace["late"] == 0, run
    print("# failover", [trace["repairs"] for trace in run.traces])


def threads():
    run = observe.Run("4", "threads", launch=(LAUNCH, "server8", str(observe.RANKS)), MORPH_PHASES="provision")
    assert run.status == 0 and not run.lines(), run
    assert all(trace["late"] == 0 for trace in run.traces), run


def threads_take_turns():
    run = observe.Run("1", "turns", launch=(LAUNCH, "server8", str(observe.RANKS)), MORPH_PHASES="on-demand")
    assert run.status == 0 and not run.lines(), run
    for trace in run.traces:
        # The turns of one thread, and at least one sum of each of the two others.
        assert trace["entered"] >= ENTERED + TURNS + 2 and trace["late"] == 0, run
    print("# turns", [{name: trace[name] for name in ("entered", "changes", "wait_ns")} for trace in run.traces])


def failover_beside_loads():
    launch = (LAUNCH, "server8", str(observe.RANKS), "--fail", "150")
    run = observe.Run("1", "threads", launch=launch, MORPH_PHASES="provision")
    assert run.status == 0 and "launch:" not in run.said and not run.lines(), run
    assert all(trace["late"] == 0 for trace in run.traces), run


def corner(name):
    """Run a case of corners.c on a slice."""
    run = observe.Run(name, program=(observe.CORNERS,), launch=(LAUNCH, "server8", str(observe.RANKS)))
    assert run.status == 0 and "launch:" not in run.said and len(run.traces) == observe.RANKS, run
    return run


def in_time(name):
    run = corner(name)
    assert not run.lines() and all(trace["late"] == 0 for trace in run.traces), run
    return run


def a_send_that_was_freed_leaves_its_phase():
    in_time("freed_send")


def a_request_over_at_once_leaves_its_phase():
    in_time("over_at_once")


def who_waits_for_light_lets_messages_go_on():
    in_time("progress")


def the_end_waits_for_no_request():
    in_time("pending_at_end")
    in_time("freed_at_end")


def calls_of_all_kinds_enter():
    for name in ("persistent", "duplicates", "neighbours", "matched_probes", "group_of_two"):
        in_time(name)


def members_that_are_alone_have_no_phase():
    for rank, trace in enumerate(in_time("alone").traces):
        phases = {tuple(comm["members"]): comm.get("phase") for comm in trace["communicators"]}
        assert phases[(rank,)] is None and max(phase or 0 for phase in phases.values()) == 3, trace


def all_members_pass_where_one_has_to():
    for name, late in (("pending_elsewhere", [20, 0, 20, 0]), ("overlapped", [20] * observe.RANKS)):
        run = corner(name)
        assert [trace["late"] for trace in run.traces] == late, run
        assert all("has operations in another phase" in line for line in run.lines()), run
        assert len(run.lines()) == sum(count > 0 for count in late), run


if __name__ == "__main__":
    sys.exit(observe.main([on_demand, provisioned, failover, threads, threads_take_turns, failover_beside_loads,
                           a_send_that_was_freed_leaves_its_phase, a_request_over_at_once_leaves_its_phase,
                           who_waits_for_light_lets_messages_go_on, the_end_waits_for_no_request, calls_of_all_kinds_enter,
                           members_that_are_alone_have_no_phase, all_members_pass_where_one_has_to]))
