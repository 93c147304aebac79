#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Test the assignment of slices to controllers, and reservations of fibres for controllers. Prints
TAP.

The tests compare the output of `morphctl controller assign` and `morphctl te apply` with the state
that the kernel reports afterwards.
"""

import json
import sys
import tempfile

from place import run, tenants

LANES = 16      # per fibre


class Controllers:
    """Controllers of the rack, each in epoch 1."""

    def __init__(self, rack, *numbers):
        self.rack, self.numbers = rack, numbers

    def __enter__(self):
        for number in self.numbers:
            self.rack.do("controller", "take", number, "--epoch", 1, "--lease", 600)

    def __exit__(self, *_):
        for number in self.numbers:
            self.rack.do("controller", "drop", number)


def deciders(rack):
    """The controller of each slice, as the kernel reports it; 0: none."""
    return {entry["id"]: entry.get("controller", 0) for entry in rack.ask("slice", "list")}


def reserved(rack):
    """Lanes by controller and fibre, as the kernel reports them."""
    return {(entry["controller"], entry["guide"]): entry["lanes-count"]
            for entry in rack.ask("controller", "reservations")}


def assigned(rack):
    """Assign whole slices by weight. A second run moves nothing and keeps the backups."""
    names = tenants(rack)
    wish = ["controller", "assign", "--controllers", "7,8,9"]
    with Controllers(rack, 7, 8, 9):
        before = deciders(rack)
        planned = rack.ask(*wish, "--dry-run")
        assert deciders(rack) == before and set(before.values()) == {0}
        answer = rack.ask(*wish)
        told = {entry["id"]: entry["controller"] for entry in answer["slices"]}
        assert told == {entry["id"]: entry["controller"] for entry in planned["slices"]} == deciders(rack)
        # Six rings of four circuits with one lane each: two rings per controller.
        assert [(one["slices-count"], one["lanes-count"]) for one in answer["controllers"]] == [(2, 8)] * 3, answer
        for number in (7, 8, 9):
            backups = [entry["backup-controller"] for entry in answer["slices"] if entry["controller"] == number]
            assert len(set(backups)) == 2 and number not in backups, answer
        again = rack.ask(*wish)
        assert {entry["result"] for entry in again["slices"]} == {"kept"}
        assert [entry["backup-controller"] for entry in again["slices"]] == \
            [entry["backup-controller"] for entry in answer["slices"]]
        assert "no controller" in rack.ask("controller", "assign", "--controllers", "7,8,6", status=3)
        assert deciders(rack) == told
        # One controller is removed. The other two take over its slices, and are backups of each
        # other.
        fewer = rack.ask("controller", "assign", "--controllers", "7,8")
        assert set(deciders(rack).values()) == {7, 8}
        assert all({entry["controller"], entry["backup-controller"]} == {7, 8} for entry in fewer["slices"])
        rack.end(*names)


def applied(rack):
    """A controller gets the lanes of the solution. Lanes that it already has stay on their
    fibres."""
    def apply(controller, *demands, options=(), epoch=1, status=0):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            keys = ("src-host", "dst-host", "amount-lanes", "controller")
            json.dump({"decision-epoch": 1, "ways": 1, "demands": [dict(zip(keys, demand)) for demand in demands]}, file)
            file.flush()
            answer = rack.ask("te", "apply", file.name, "--controller", controller, "--epoch", epoch, *options,
                              status=status)
            differs = rack.ask("te", "divergence", file.name)
        missing = {one["controller"]: one["missing-lanes-count"] + one["surplus-lanes-count"]
                   for one in differs["controllers"]}
        return answer, missing.get(controller)

    fibres = rack.between(0, 4)
    with Controllers(rack, 7, 8, 9):
        first = ((0, 4, 20, 8), (0, 1, 7, 8), (4, 0, 3, 9))
        answer, missing = apply(8, *first, options=["--dry-run"])
        assert not reserved(rack) and missing == 27 and answer["lanes-count"] == 27, answer
        asked = {entry["guide"]: entry["asked-lanes-count"] for entry in answer["fibres"]}
        answer, missing = apply(8, *first)
        assert missing == 0 and answer["granted-lanes-count"] == 27, answer
        assert answer["conflicts-count"] == 0 and not answer["short-links"], answer
        assert reserved(rack) == {(8, guide): lanes for guide, lanes in asked.items()}
        before = reserved(rack)
        assert apply(8, *first)[1] == 0 and reserved(rack) == before
        # Controller 8 has two of the four fibres, completely or mostly. Controller 9 gets the rest,
        # and its remaining demand is reported.
        answer, missing = apply(9, (0, 4, 4 * LANES, 9), (0, 1, 1, 8), status=7)
        assert missing == 20 and answer["granted-lanes-count"] == 4 * LANES - 20, answer
        assert answer["conflicts-count"] >= 2, answer
        assert answer["short-links"] == [{"src-host": 0, "dst-host": 4, "lanes-count": 4 * LANES,
                                          "granted-lanes-count": 4 * LANES - 20}]
        assert {key: lanes for key, lanes in reserved(rack).items() if key[0] == 8} == before
        # Controller 8 returns lanes that it does not need any more. Then 9 gets them.
        answer, missing = apply(8, (0, 4, 0, 8))
        assert missing == 0 and {entry["result"] for entry in answer["fibres"]} == {"given-back"}, answer
        assert {key[0] for key in reserved(rack)} == {9}
        assert apply(9, (0, 4, 4 * LANES, 9))[1] == 0
        assert {guide for _, guide in reserved(rack)} == set(fibres)
        before = reserved(rack)
        apply(9, (0, 4, 8, 9), epoch=2, status=6)
        apply(7, (0, 4, 8, 9), status=2)
        assert reserved(rack) == before


def unusable(rack):
    """A cordoned fibre is reported, and the next one is used."""
    fibres = rack.between(0, 4)
    rack.do("guide", "cordon", fibres[0])
    with Controllers(rack, 8), tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"demands": [{"src-host": 0, "dst-host": 4, "amount-lanes": LANES + 2, "controller": 8}], "ways": 1}, file)
        file.flush()
        answer = rack.ask("te", "apply", file.name, "--controller", 8, "--epoch", 1)
        results = {entry["guide"]: entry["result"] for entry in answer["fibres"]}
        assert results[fibres[0]] == "unusable" and answer["granted-lanes-count"] == LANES + 2, answer
        assert (8, fibres[0]) not in reserved(rack)
    rack.do("guide", "uncordon", fibres[0])


TESTS = (assigned, applied, unusable)


if __name__ == "__main__":
    sys.exit(run(TESTS))
