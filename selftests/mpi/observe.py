#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Test what libmorph-mpi.so learns about an MPI program without code for phases. Prints TAP."""

import json
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
SHIM = os.path.join(BUILD, "libmorph", "libmorph-mpi.so")
PROGRAMS = os.path.join(BUILD, "selftests", "mpi")
NAP = os.path.join(PROGRAMS, "nap.so")
PROGRAM = os.path.join(PROGRAMS, "training")
CORNERS = os.path.join(PROGRAMS, "corners")
FORTRAN = os.path.join(PROGRAMS, "fortran")
RANKS = 4
SECONDS = 120 * int(os.environ.get("SLOWNESS", "1"))
# Ranks on one machine need no networks and no components for them. Without these, an MPI program
# opens a third of the files.
OWN = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_pml": "ob1", "OMPI_MCA_osc": "sm,pt2pt", "OMPI_MCA_op": "^avx",
       "OMPI_MCA_coll": "basic,libnbc,self,inter,tuned",
       "HWLOC_PLUGINS_PATH": "/nowhere", "HWLOC_SYNTHETIC": "package:1 core:2 pu:1"}


class Run:
    """One run of a program, with its files."""

    def __init__(self, *arguments, program=(PROGRAM,), launch=(), ways="self,vader", **settings):
        with tempfile.TemporaryDirectory() as folder:
            settings = {"LD_PRELOAD": f"{SHIM}:{NAP}", "MORPH_TRACE": os.path.join(folder, "trace.%r.json"), **settings}
            words = [*launch, "mpirun", "-n", str(RANKS), "--oversubscribe", "--mca", "btl", ways]
            for name, value in settings.items():
                words += ["-x", f"{name}={value}"]
            if launch:
                words += ["-x", "MORPH_SLICE"]
            done = subprocess.run([*words, *program, *arguments], env={**os.environ, **OWN}, capture_output=True, text=True,
                                  timeout=SECONDS, check=False)
            self.status, self.said = done.returncode, done.stderr
            self.traces = []
            for rank in range(RANKS):
                try:
                    with open(os.path.join(folder, f"trace.{rank}.json"), encoding="utf-8") as file:
                        self.traces.append(json.load(file))
                except OSError:
                    pass

    def __str__(self):
        return "\n".join([f"status {self.status}", self.said, *(json.dumps(trace) for trace in self.traces)])

    def lines(self):
        """Messages of the shim."""
        return [line for line in self.said.splitlines() if line.startswith("libmorph-mpi: ")]


def stages(trace):
    """Members and operations of each stage, beginning with the one that has most members."""
    members = {comm["communicator"]: comm["members"] for comm in trace["communicators"]}
    all_stages = [(members[stage["communicator"]], stage["first"], stage["count"]) for stage in trace["stages"]]
    if not all_stages:
        return []
    first = max(range(len(all_stages)), key=lambda at: len(all_stages[at][0]))
    return all_stages[first:] + all_stages[:first]


def expected(rank):
    """The stages of training.c."""
    return [(list(range(RANKS)), 0, 1), ([rank & ~1, rank | 1], 0, 6), (sorted((rank, rank ^ 2)), 0, 3)]


def learns_stages():
    run = Run("12")
    assert run.status == 0 and not run.lines(), run.said
    assert len(run.traces) == RANKS
    for rank, trace in enumerate(run.traces):
        assert trace["rank"] == rank and trace["mode"] == "observe", trace
        assert stages(trace) == expected(rank), trace["stages"]
        assert all(stage["windows"] >= 5 for stage in trace["stages"]), trace["stages"]


def evaluation_is_a_stray():
    for trace in Run("12").traces:
        assert (trace["learned"], trace["strays"]) == (1, 1), trace


def numbers_are_agreed():
    run = Run("3")
    numbers = {tuple(comm["members"]): comm["number"] for trace in run.traces for comm in trace["communicators"]}
    for trace in run.traces:
        for comm in trace["communicators"]:
            assert comm["number"] == numbers[tuple(comm["members"])], trace
    assert numbers[(0, 1)] == numbers[(2, 3)] != numbers[(0, 2)] == numbers[(1, 3)], numbers


def too_short_to_learn():
    for trace in Run("2").traces:
        assert not trace["stages"] and trace["learned"] == 0, trace


def too_long_to_learn():
    run = Run("5", "long")
    assert run.status == 0 and len(run.lines()) == RANKS, run.said
    assert all("is too long to learn: at most 1024" in line for line in run.lines()), run.said


def threads():
    run = Run("8", "threads")
    assert run.status == 0 and not run.lines(), run.said
    for trace in run.traces:
        assert sum(comm["operations"] for comm in trace["communicators"]) >= 300 + 8 * 10, trace


def a_missing_slice_is_reported_once():
    run = Run("8", MORPH_SLICE="nowhere", MORPH_PHASES="provision")
    assert run.status == 0, run.said
    assert len(run.lines()) == RANKS, run.said
    assert all(trace["mode"] == "observe" for trace in run.traces)


def the_page_has_what_is_read_of_the_environment():
    folder = os.path.join(TOP, "libmorph", "mpi")
    read = set()
    for name in os.listdir(folder):
        if name.endswith(".c"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                read |= set(re.findall(r'getenv\("(\w+)"\)', file.read()))
    with open(os.path.join(folder, "libmorph-mpi.7"), encoding="utf-8") as file:
        told = set(re.findall(r"^\.B (MORPH_\w+)$", file.read(), re.M))
    assert read == told, read ^ told


def mode_unknown():
    run = Run("3", MORPH_SLICE="nowhere", MORPH_PHASES="often")
    assert run.status == 0 and len(run.lines()) == RANKS, run.said


def trace_that_cant_be_written():
    run = Run("3", MORPH_TRACE="/nowhere/trace")
    assert run.status == 0 and len(run.lines()) == RANKS, run.said


def corner(name, **settings):
    """The observed number of operations of each rank's communicators, in a case of corners.c."""
    run = Run(name, program=(CORNERS,), **settings)
    assert run.status == 0 and not run.lines() and len(run.traces) == RANKS, run
    return [[(comm["members"], comm["operations"]) for comm in trace["communicators"] if comm["operations"]]
            for trace in run.traces]


WORLD = list(range(RANKS))


def persistent_requests_are_counted():
    for rank, counted in enumerate(corner("persistent")):
        assert counted == [(WORLD, 3 * 20), ([rank & ~1, rank | 1], 3 * 20 + 1)], counted


def duplicates_are_known_as_their_original():
    assert corner("duplicates") == [[(WORLD, 3)]] * RANKS


def neighbourhoods_are_counted():
    assert corner("neighbours") == [[(WORLD, 1), (WORLD, 1)]] * RANKS


def matched_probes_are_counted():
    assert corner("matched_probes") == [[(WORLD, 2 * 2)]] * RANKS


def groups_are_counted():
    for rank, counted in enumerate(corner("group_of_two")):
        assert counted == ([([0, RANKS - 1], 1)] if rank in (0, RANKS - 1) else []), counted


def spawned_programs_are_left_alone():
    between = {"ways": "self,vader,tcp", "OMPI_MCA_btl_tcp_if_include": "lo"}
    for name in ("spawn", "spawn_alike"):
        corner(name, **between)


def a_rank_in_fortran_is_not_waited_for():
    if not os.path.exists(FORTRAN):
        return
    choose = f"if [ $OMPI_COMM_WORLD_RANK = 2 ]; then exec {FORTRAN}; else exec {CORNERS} sums; fi"
    run = Run(program=("sh", "-c", choose))
    assert run.status == 0 and len(run.lines()) == RANKS and not run.traces, run
    assert sum("starts MPI from Fortran" in line for line in run.lines()) == 1, run


def main(tests):
    print("TAP version 13")
    if not all(map(os.path.exists, (SHIM, NAP, PROGRAM, CORNERS))):
        print("1..0 # SKIP there is no MPI")
        return 0
    print(f"1..{len(tests)}")
    failed = 0
    for number, test in enumerate(tests, 1):
        try:
            test()
            print(f"ok {number} {test.__name__}", flush=True)
        except (AssertionError, subprocess.TimeoutExpired, KeyError) as error:
            failed += 1
            print("".join(f"# {line}\n" for line in (str(error) or repr(error)).splitlines()), end="")
            print(f"not ok {number} {test.__name__}", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main([learns_stages, evaluation_is_a_stray, numbers_are_agreed, too_short_to_learn,
                   too_long_to_learn, threads, a_missing_slice_is_reported_once, mode_unknown,
                   trace_that_cant_be_written, persistent_requests_are_counted, duplicates_are_known_as_their_original,
                   neighbourhoods_are_counted, matched_probes_are_counted, groups_are_counted,
                   spawned_programs_are_left_alone, a_rank_in_fortran_is_not_waited_for,
                   the_page_has_what_is_read_of_the_environment]))
