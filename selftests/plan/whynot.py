#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Test the reasons of `morphctl why-not`: after lifting the named constraint, the request fits.
Prints TAP.

Each test creates an obstacle, asks `morphctl why-not` for the binding constraint, lifts only that
one, and places the request with `morphctl place`.
"""

import sys

from place import OF_SERVER, TENANTS, run, tenants


def binding(rack, *wish):
    """The named constraint, and the verdicts on the constraints that were lifted before it."""
    answer = rack.ask("why-not", *wish, status=1)
    assert answer["tried"][-1] == {"constraint": answer["binding"]["constraint"], "verdict": "feasible"}, answer
    return answer["binding"]["constraint"], {one["verdict"] for one in answer["tried"][:-1]}


def fits(rack, *wish):
    """The request fits, and why-not agrees."""
    assert rack.ask("place", *wish)["verdict"] == "feasible"
    assert rack.ask("why-not", *wish)["verdict"] == "feasible"


def transit(rack):
    """Light may not cross servers of other tenants. place reports whether the request fits if it
    may, and the reverse."""
    names, wish = tenants(rack), ("--shape", "2x4x4", "--whole-servers")
    assert binding(rack, *wish, "--transit", "own") == ("transit", set())
    refused = rack.ask("place", *wish, "--transit", "own", status=1)
    assert refused["transit-any"] == "feasible" and "transit-own" not in refused
    fits(rack, *wish)
    assert rack.ask("place", *wish)["transit-own"] == "infeasible"
    assert rack.ask("place", "--ring", "4")["transit-own"] == "feasible"
    rack.end(*names)


def others(rack):
    """Other slices have the accelerators."""
    names, wish = tenants(rack), ("--count", 64 - OF_SERVER * len(TENANTS) + 9, "--tier", "stitched")
    assert binding(rack, *wish) == ("slices", {"infeasible"})
    rack.end(*names)
    fits(rack, *wish)


def hardware(rack):
    """All fibres are cordoned."""
    fibres, wish = sorted(rack.fibres()), ("--ring", 8)
    rack.do("guide", "cordon", *fibres)
    assert binding(rack, *wish)[0] == "hardware"
    rack.do("guide", "uncordon", *fibres)
    fits(rack, *wish)


def mesh(rack, name, *servers):
    """A mesh of seven in two servers, with any number of fibres. All other accelerators are
    held."""
    free = [chip["id"] for chip in rack.ask("accelerator", "list")
            if chip["use"] == "free" and chip["host"] not in servers]
    rack.do("slice", "create", "others", "--accelerators", ",".join(map(str, free)))
    rack.ask("place", name, "--mesh", 7, "--apply", "--unprotect")
    rack.end("others")


def light_and_failover(rack):
    """Slices in far corners have circuits across the rack, and fibres that their spares need."""
    mesh(rack, "one", 0, 15)
    mesh(rack, "two", 3, 12)
    wish = ("--shape", "2x4x5")
    assert binding(rack, *wish)[0] == "failover"
    fits(rack, *wish, "--unprotect")
    wish = ("--shape", "4x4x3")
    constraint, before = binding(rack, *wish)
    assert constraint == "light" and "feasible" not in before
    rack.ask("place", *wish, "--unprotect", status=1)
    for name in ("one", "two"):
        rack.do("circuit", "remove", name, *(circuit["id"] for circuit in rack.ask("circuit", "list", name)))
    fits(rack, *wish)
    rack.end("one", "two")


def by_the_kernel(rack):
    """Without options for the planner, the kernel answers."""
    answer = rack.ask("why-not", "--count", 65, status=1)
    assert (answer["reason"], answer["have"], answer["need"]) == ("accelerators", 64, 65), answer
    assert rack.ask("why-not", "--accelerators", "0,1,2,3", "--ring", "--lanes", 4)["reason"] == "none"
    assert rack.ask("why-not", "-r", "--count", 4)["reason"] == "none"


TESTS = (transit, others, hardware, light_and_failover, by_the_kernel)


if __name__ == "__main__":
    sys.exit(run(TESTS))
