#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Free space for a slice while other slices run, and check that these stay lit. Prints TAP.

Four servers in a circle have one free fibre in each direction between neighbours. All other fibres
of the rack are cordoned. The slice `first` is in two adjacent servers. While the fibres between
these were also cordoned, it was lit on the longer path, over the fibres that a slice in the other
two servers needs. The kernel does not move it when the short path is free again.
"""

import sys

from place import OF_SERVER, check_lit, crossed, held, run

CIRCLE = (0, 2, 3, 1)       # servers; each is adjacent to the next
FIRST, SECOND = (0, 1), (2, 3)
WISH = ("--mesh", "2")
PORTS = 6


def fibres_between(rack):
    """One fibre for each pair of servers, by the pair."""
    return {(rack.host(a), rack.host(b)): guide for guide, (a, b) in rack.ends_of_fibres().items()}


def detour(rack, *token):
    """Build the setting above, for a controller or for none. Ranks 0 and 2 of `first` are in one
    server, 1 and 3 in the other."""
    fibre = fibres_between(rack)
    circle = {fibre[pair] for at in range(4) for pair in ((CIRCLE[at], CIRCLE[at - 1]), (CIRCLE[at - 1], CIRCLE[at]))}
    direct = [fibre[FIRST], fibre[FIRST[::-1]]]
    rack.fibre_ids = rack.fibres()
    rack.do("guide", "cordon", *(rack.fibre_ids - circle), *direct)
    chips = [OF_SERVER * server for server in FIRST]
    rack.do("slice", "create", "first", "--accelerators", ",".join(map(str, chips + [chip + 1 for chip in chips])),
            *token[:2])
    rack.do("circuit", "add", "first", 0, 1, *token)
    rack.do("circuit", "add", "first", 1, 0, *token)
    rack.do("guide", "uncordon", *direct)
    rest = [chip["id"] for chip in rack.ask("accelerator", "list")
            if chip["use"] == "free" and chip["id"] not in [OF_SERVER * server for server in SECOND]]
    rack.do("slice", "create", "rest", "--accelerators", ",".join(map(str, rest)))
    rack.ask("place", *WISH, status=1)


def end(rack, *slices):
    rack.end("first", "rest", *slices)
    rack.do("guide", "uncordon", *rack.fibre_ids)


def moved(before, after):
    """Circuits that are lit on other guides than before."""
    return {circuit[1] for circuit in set(before) ^ set(after)}


def room_is_made(rack):
    """A circuit moves to its new path before the old one goes dark, and the request fits."""
    detour(rack)
    before = held(rack.ask("circuit", "list"))
    answer = rack.ask("defrag", "second", *WISH, "--apply")
    assert answer["verdict"] == "feasible", answer
    assert answer["moved-circuits-count"] == answer["moved-circuits-bound-count"] == 1, answer
    assert [(one["moved-circuits-count"], one["dark-circuits-count"], one["dark-ns"])
            for one in answer["tenants"]] == [(1, 0, 0)], answer["tenants"]
    check_lit(rack, "second", answer["plan"])
    first = rack.ask("circuit", "list", "first")
    assert [step["kind"] for step in answer["steps"]] == ["move", "place"]
    (change,) = answer["steps"][0]["changes"]
    assert moved(before, held(first)) == {change["circuit"]}
    circuit = next(one for one in first if one["id"] == change["circuit"])
    assert crossed(circuit, rack.fibre_ids) == change["guides"], (circuit, change)
    assert circuit["state"] == "lit" and circuit["dark-ns"] == 0, circuit
    assert all(step["measured-dark-ns"] == 0 for step in answer["steps"]), answer["steps"]
    end(rack, "second")


def dry_run_changes_nothing(rack):
    """Without --apply, morphctl only reports the moves. The minimum here is one circuit."""
    detour(rack)
    before = held(rack.ask("circuit", "list"))
    for options in (["--dry-run"], ["--objective", "dark"], ["--objective", "moves", "--placement", "load"]):
        answer = rack.ask("defrag", *WISH, *options)
        assert answer["verdict"] == "feasible" and "new-slice" not in answer
        assert (answer["moved-circuits-count"], answer["dark-circuits-count"]) == (1, 0), answer
    assert held(rack.ask("circuit", "list")) == before and len(rack.ask("slice", "list")) == 2
    end(rack)


def without_a_port_it_is_dark(rack):
    """If the ends have no free port, a circuit must go dark first. The output announces that, and
    the light confirms it."""
    detour(rack)
    for ends in ((0, 2), (2, 0), (1, 3), (3, 1)):
        for _port in range(PORTS - 1):
            rack.do("circuit", "add", "first", *ends)
    answer = rack.ask("defrag", "second", *WISH, "--apply")
    assert [(one["moved-circuits-count"], one["dark-circuits-count"])
            for one in answer["tenants"]] == [(1, 1)], answer["tenants"]
    assert answer["tenants"][0]["dark-ns"] > 0
    assert all(step["measured-dark-ns"] > 0 for step in answer["steps"] if step["kind"] == "switch"), answer["steps"]
    check_lit(rack, "second", answer["plan"])
    assert {circuit["state"] for circuit in rack.ask("circuit", "list", "first")} == {"lit"}
    end(rack, "second")


def controllers_decide(rack):
    """Circuits of a controller's slice move with its token, and stay without it."""
    token = ("--controller", 7, "--epoch", 1)
    rack.do("controller", "take", 7, "--epoch", 1, "--lease", 600)
    detour(rack, *token)
    answer = rack.ask("defrag", *WISH, status=1)
    assert answer["verdict"] == "infeasible" and "controller" in answer["stays"][0]["text"], answer
    answer = rack.ask("defrag", "second", *WISH, "--apply", *token)
    assert answer["moved-circuits-count"] == 1
    check_lit(rack, "second", answer["plan"])
    end(rack, "second")
    rack.do("controller", "drop", 7)


def a_step_that_fails(rack):
    """An element on the new path is stuck. The circuit stays on the old path, and the new slice is
    deleted."""
    detour(rack)
    before = held(rack.ask("circuit", "list"))
    rack.fault("programming_error - after=0")
    error = rack.ask("defrag", "second", *WISH, "--apply", status=1)
    assert "step 1 of" in error and "deleted the slice again" in error, error
    rack.fault()
    assert held(rack.ask("circuit", "list")) == before
    assert {entry["name"] for entry in rack.ask("slice", "list")} == {"first", "rest"}
    end(rack)


def name_is_taken(rack):
    """If the kernel refuses before the first move, nothing changes."""
    detour(rack)
    before = held(rack.ask("circuit", "list"))
    assert "first" in rack.ask("defrag", "first", *WISH, "--apply", status=1)
    assert held(rack.ask("circuit", "list")) == before
    end(rack)


def nothing_helps(rack):
    """A request for more accelerators than are free is refused, with both numbers."""
    detour(rack)
    answer = rack.ask("defrag", "--mesh", "5", status=1)
    assert answer["verdict"] == "infeasible" and "5 requested, at most 2 free" in answer["text"], answer
    end(rack)


TESTS = (room_is_made, dry_run_changes_nothing, without_a_port_it_is_dark, controllers_decide, a_step_that_fails,
         name_is_taken, nothing_helps)


if __name__ == "__main__":
    sys.exit(run(TESTS))
