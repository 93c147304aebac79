#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Place a slice in several racks, with more circuits than one transaction holds. Test light,
rollback and protection. Prints TAP."""

import os
import sys

from place import DEBUGFS, check_lit, run
from protect import planned, settled

WISH = ("--shape", "12x4x4", "--tier", "crossing")      # all accelerators of three racks
CIRCUITS, OF_TRANSACTION = 1152, 1024


def operations():
    """Number of programming requests to the hardware."""
    with open(os.path.join(DEBUGFS, "ops"), encoding="ascii") as file:
        counters = dict(line.split()[:2] for line in file)
    return int(counters["operation"])


def free(rack):
    """Accelerators without a holder."""
    return sum(chip["use"] == "free" for chip in rack.ask("accelerator", "list"))


def lit_in_several_transactions(rack):
    """All circuits are lit as planned, in as many transactions as they need."""
    plan = rack.ask("place", "pod", *WISH, "--apply")
    assert plan["tier"] == "crossing" and plan["circuits-count"] == CIRCUITS
    outcomes = [txn["outcome"] for txn in plan["transactions"]]
    assert outcomes == ["committed"] * -(-CIRCUITS // OF_TRANSACTION), outcomes
    check_lit(rack, "pod", plan)
    rack.end("pod")


def one_that_fails_takes_all_back(rack):
    """The last programming request fails. The circuits of the first transaction end with the slice,
    before the command ends."""
    had, began = free(rack), operations()
    rack.ask("place", "pod", *WISH, "--apply")
    last = operations() - began - 1
    rack.end("pod")
    rack.fault(f"programming_error - after={last}")
    said = rack.ask("place", "pod", *WISH, "--apply", status=1)
    assert "the command has deleted the slice again" in said, said
    assert not rack.ask("slice", "list") and not rack.ask("circuit", "list")
    assert free(rack) == had
    rack.fault()


def protected_across_racks(rack):
    """Each rank in the full racks has a protection, and its spare takes over."""
    plan = rack.ask("place", "pod", *WISH, "--protect", "--apply")
    spares = {rank["rank"]: rank["spare"] for rank in plan["protection"]["ranks"]}
    assert plan["protection"]["verdict"] == "feasible" and len(spares) == plan["ranks-count"]
    planned(rack, "pod", spares)
    for number in (0, 100, 191):
        rack.do("accelerator", "fail", plan["ranks"][number]["accelerator"])
        told = settled(rack, "pod", lambda told: told[number]["replacements-count"] == 1)
        assert told[number]["accelerator"] == spares[number]
    assert all(circuit["state"] == "lit" for circuit in rack.ask("circuit", "list", "pod"))
    rack.end("pod")


TESTS = (lit_in_several_transactions, one_that_fails_takes_all_back, protected_across_racks)


if __name__ == "__main__":
    sys.exit(run(TESTS, "pod192"))
