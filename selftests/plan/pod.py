#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""A slice in several racks, of more circuits than one transaction takes: lit, given back as a
whole, protected. Prints TAP."""

import os
import sys

from place import DEBUGFS, check_lit, run
from protect import planned, settled

WISH = ("--shape", "12x4x4", "--tier", "crossing")      # three racks, and all their accelerators
CIRCUITS, OF_TRANSACTION = 1152, 1024


def operations():
    """How many requests the hardware has had that program it."""
    with open(os.path.join(DEBUGFS, "ops"), encoding="ascii") as file:
        counters = dict(line.split()[:2] for line in file)
    return int(counters["operation"])


def free(rack):
    """Accelerators that nobody holds."""
    return sum(chip["use"] == "free" for chip in rack.ask("accelerator", "list"))


def lit_in_several_transactions(rack):
    """All circuits are lit as planned, by as many transactions as are needed."""
    plan = rack.ask("place", "pod", *WISH, "--apply")
    assert plan["tier"] == "crossing" and plan["circuits-count"] == CIRCUITS
    assert [txn["outcome"] for txn in plan["txn"]] == ["committed"] * -(-CIRCUITS // OF_TRANSACTION), plan["txn"]
    check_lit(rack, "pod", plan)
    rack.end("pod")


def one_that_fails_takes_all_back(rack):
    """The last request that programs the hardware fails: what the first transaction has lit goes
    with the slice."""
    had, began = free(rack), operations()
    rack.ask("place", "pod", *WISH, "--apply")
    last = operations() - began - 1
    rack.end("pod")
    rack.fault(f"programming_error - after={last}")
    said = rack.ask("place", "pod", *WISH, "--apply", status=1)
    assert "the slice is deleted again" in said, said
    rack.fault()
    rack.end()
    assert not rack.ask("slice", "list") and not rack.ask("circuit", "list")
    assert free(rack) == had


def protected_across_racks(rack):
    """Each rank of the full racks counts on the spare of its protection, and the spare takes
    over."""
    plan = rack.ask("place", "pod", *WISH, "--protect", "--apply")
    spares = {rank["rank"]: rank["spare"] for rank in plan["protection"]["rank"]}
    assert plan["protection"]["verdict"] == "feasible" and len(spares) == plan["ranks-count"]
    planned(rack, "pod", spares)
    for number in (0, 100, 191):
        rack.do("accelerator", "fail", plan["rank"][number]["accelerator"])
        told = settled(rack, "pod", lambda told: told[number]["replacements"] == 1)
        assert told[number]["accelerator"] == spares[number]
    assert all(circuit["state"] == "lit" for circuit in rack.ask("circuit", "list", "pod"))
    rack.end("pod")


TESTS = (lit_in_several_transactions, one_that_fails_takes_all_back, protected_across_racks)


if __name__ == "__main__":
    sys.exit(run(TESTS, "pod192"))
