# SPDX-License-Identifier: GPL-2.0-only
"""Convert the recordings of selftests/model/record to the model's events, slice by slice."""

import re
from dataclasses import dataclass, field

MOST_EVENTS = 190       # the model can hold 199
MOST_CHANCES = 3        # most faults, repairs and errors of a replay

STATES = {"repairing": "STATE_REPAIRING", "ok": "STATE_OK", "degraded": "STATE_DEGRADED"}
OTHERS = {"txn_stage": "STAGE", "txn_commit": "COMMIT_BEGINS", "failover": "REPLACED", "slice_release": "RELEASE"}
LEASES = {"prepared": "LEASE_PREPARED", "unconfirmed": "LEASE_UNCONFIRMED"}


@dataclass
class Slice:
    """The events of one slice, and the faults of its hardware."""
    events: list = field(default_factory=list)
    open_txns: set = field(default_factory=set)
    signals: int = 0
    faults: int = 0
    heals: int = 0
    errors: int = 0
    whole: bool = False         # the recording has its end
    beyond: str = ""            # reason why the model does not cover it

    def chances(self):
        # The model has one rank and one spare. A fault of any other counts for these.
        counts = {"faults": self.faults + self.signals, "heals": self.heals, "errors": self.errors}
        return {name: min(count, MOST_CHANCES) for name, count in counts.items()}


def parse(line):
    """The event's name and its numbers and words."""
    name, _, text = line.partition(": ")
    return name, dict(re.findall(r"(\w+)=([\w-]+)", text))


def hardware(name, values, slices):
    """Count an event of the hardware for each of these slices."""
    for entry in slices:
        if name == "op_fail":
            entry.errors += 1
        elif name == "signal":
            entry.signals += values["value"] == "0"
        elif values["health"] != "ok":
            entry.faults += 1
        else:
            entry.heals += 1


def observe(entry, name, values):
    """The model's name of an event of the slice."""
    if name == "txn_lease":
        if values["outcome"] == "prepared":
            entry.open_txns.add(values["txn"])
        return LEASES[values["outcome"]]
    if name == "txn_end":
        entry.open_txns.discard(values["txn"])
        return "END_" + values["outcome"].replace("-", "_").upper()
    if name == "slice_state":
        return STATES[values["state"]]
    return OTHERS[name]


def add(entry, name, values):
    what = observe(entry, name, values)
    # Ranks that one repair replaces together are one to the model, which has one.
    if what == "REPLACED" and entry.events[-1] == "REPLACED":
        return
    entry.events.append(what)
    entry.whole |= what == "RELEASE"
    if len(entry.open_txns) > 1 or (name == "txn_commit" and entry.open_txns - {values["txn"]} and
                                    "STATE_REPAIRING" not in entry.events):
        entry.beyond = "several transactions at once"
    elif len(entry.events) > MOST_EVENTS:
        entry.beyond = "too long"


def read(path):
    """All slices of a recording whose end was seen."""
    live, ended = {}, []
    with open(path, encoding="ascii") as file:
        for line in file:
            name, values = parse(line)
            key = values["fabric"], values.get("slice")
            if name == "slice_create":
                live[key] = Slice()
            elif name in ("fault", "signal", "op_fail"):
                if values.get("type") != "temperature":
                    hardware(name, values, [entry for (fabric, _), entry in live.items() if fabric == key[0]])
            elif key in live:
                add(live[key], name, values)
                if live[key].whole:
                    ended.append(live.pop(key))
    return ended
