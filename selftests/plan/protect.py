#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Test that failover uses the spares of protections. Prints TAP.

Each test reads from the kernel the preferred spare of a rank, the spare of its protection, and the
accelerator of the rank after a failure.
"""

import sys
import time

from place import PATIENCE_S, check_lit, run, tenants

SPARES = range(64, 72)


def ranks(rack, name):
    """The ranks of a slice, by number."""
    return {rank["rank"]: rank for rank in rack.ask("slice", "show", name)["ranks"]}


def settled(rack, name, good):
    """The ranks of a slice, after they have reached the expected state."""
    until = time.monotonic() + PATIENCE_S
    while not good(told := ranks(rack, name)):
        assert time.monotonic() < until, told
        time.sleep(0.05)
    return told


def planned(rack, name, spares):
    """Wait until the protections of these ranks use these spares."""
    def good(told):
        return all(told[rank]["protection-state"] == "current" and told[rank].get("spare") == spare
                   for rank, spare in spares.items())

    return settled(rack, name, good)


def chosen(rack, name):
    """The spares of the protections, which must all be ready."""
    told = settled(rack, name, lambda told: all(rank["protection-state"] == "current" for rank in told.values()))
    return {rank: entry["spare"] for rank, entry in told.items()}


def reset(rack, *slices):
    """No slices, all hardware healthy, all accelerators in their first role."""
    rack.end(*slices)
    chips = rack.ask("accelerator", "list")
    for chip in chips:
        if chip["health"] != "ok":
            rack.do("accelerator", "test", chip["id"])
    wrong = [chip["id"] for chip in chips if (chip["id"] in SPARES) != (chip["use"] == "spare")]
    for verb, chosen_ones in (("remove", set(wrong) - set(SPARES)), ("add", set(wrong) & set(SPARES))):
        if chosen_ones:
            rack.do("spare", verb, *chosen_ones)


def of_all_ranks(rack):
    """With other tenants in the rack, every second rank of a slice fails in turn and moves to the
    spare of its protection. Without a preference, the kernel would have chosen another spare."""
    names, differing = tenants(rack), 0
    rack.ask("place", "plain", "--shape", "2x2x4", "--apply")
    by_itself = chosen(rack, "plain")
    rack.end("plain")
    for number in range(0, 16, 2):
        plan = rack.ask("place", "safe", "--shape", "2x2x4", "--protect", "--apply")
        check_lit(rack, "safe", plan)
        spares = {rank["rank"]: rank["spare"] for rank in plan["protection"]["ranks"]}
        told = planned(rack, "safe", spares)
        assert {rank: entry["preferred"] for rank, entry in told.items()} == spares
        differing += spares[number] != by_itself[number]
        rack.do("accelerator", "fail", told[number]["accelerator"])
        told = settled(rack, "safe", lambda told: told[number]["replacements-count"] == 1)
        assert told[number]["accelerator"] == spares[number] and "preferred" not in told[number]
        circuits = rack.ask("circuit", "list", "safe")
        assert all(circuit["state"] == "lit" for circuit in circuits) and len(circuits) == plan["circuits-count"]
        reset(rack, "safe")
    assert differing, "a preference made no difference"
    rack.end(*names)


def until_replaced(rack):
    """A preference ends when the rank gets another accelerator."""
    rack.do("slice", "create", "pair", "--accelerators", "0,1", "--spares", "any")
    rack.do("circuit", "apply-ring", "pair")
    rack.do("slice", "set", "pair", "--prefer", "0=70,1=71")
    planned(rack, "pair", {0: 70, 1: 71})
    rack.do("replace", "pair", 0, "--spare", 68)
    told = planned(rack, "pair", {1: 71})
    assert told[0]["accelerator"] == 68 and "preferred" not in told[0] and told[1]["preferred"] == 71
    rack.do("slice", "set", "pair", "--prefer", "1=none")
    settled(rack, "pair", lambda told: "preferred" not in told[1])
    reset(rack, "pair")


def gives_way(rack):
    """If another slice takes the preferred spare, the preference stays. Meanwhile there is another
    protection."""
    for name, first in (("pair", 0), ("other", 4)):
        rack.do("slice", "create", name, "--accelerators", f"{first},{first + 1}", "--spares", "any")
        rack.do("circuit", "apply-ring", name)
    rack.do("slice", "set", "pair", "--prefer", "0=70")
    planned(rack, "pair", {0: 70})
    rack.do("replace", "other", 0, "--spare", 70)
    told = settled(rack, "pair", lambda told: told[0]["protection-state"] == "current" and told[0]["spare"] != 70)
    assert told[0]["preferred"] == 70
    reset(rack, "other")
    planned(rack, "pair", {0: 70})
    rack.do("accelerator", "fail", 0)
    settled(rack, "pair", lambda told: told[0]["accelerator"] == 70)
    reset(rack, "pair")


def refused(rack):
    """An invalid spare or rank is refused by name, and no preference changes."""
    rack.do("slice", "create", "pair", "--accelerators", "0,1", "--spares", "66,67")
    for wish, status, why in (("0=66,1=9", 6, "not among the spares"), ("0=66,1=70", 6, "not among the spares"),
                              ("0=66,2=67", 3, "rank"), ("0=66,1=4711", 3, "accelerator"), ("0=66,1=0", 6, "held"),
                              ("0=66,1", 2, "RANK=ACCELERATOR"), ("", 2, "RANK=ACCELERATOR")):
        said = rack.ask("slice", "set", "pair", "--prefer", wish, status=status)
        assert why in said, (wish, said)
        assert not any("preferred" in rank for rank in ranks(rack, "pair").values()), wish
    rack.do("accelerator", "cordon", 66)
    assert "healthy" in rack.ask("slice", "set", "pair", "--prefer", "0=66", status=6)
    rack.do("accelerator", "uncordon", 66)
    rack.end("pair")


TESTS = (of_all_ranks, until_replaced, gives_way, refused)

if __name__ == "__main__":
    sys.exit(run(TESTS))
