#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Run every command through the generic YNL client, and compare it with morphctl.

The two clients share no code, and the YNL client uses only the specification. If their JSON is
equal, the specification is correct and morphctl shows all of it. One client performs each verb, and
the other reads the result. json_names.def lists which keys of morphctl's JSON differ from the names
of attributes.
"""

import errno
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import generic

sys.path.insert(0, os.path.join(generic.TOP, "tools/scripts"))
import json_schema      # noqa: E402

with open(os.path.join(generic.TOP, json_schema.NAMES), encoding="utf-8") as stream:
    NAMES = json_schema.Names(stream.read())
MORPHCTL = os.path.join(generic.TOP, "build/tools/morphctl/morphctl")
CONFIGFS = "/sys/kernel/config/morph_sim/ynl"
OWNER = 4321
PATIENCE = 20 * int(os.environ.get("SLOWNESS", 1))
HOUR_NS = 3600 * 10 ** 9


def write(name, text):
    with open(os.path.join(CONFIGFS, name), "w", encoding="ascii") as file:
        file.write(text)


class Machine:
    """A simulated fabric, and the two clients."""

    def __init__(self):
        os.mkdir(CONFIGFS)
        write("profile", "server8")
        write("live", "1")
        self.ynl = generic.family()
        self.fabric = next(fabric["id"] for fabric in self.ynl.dump("fabric-get", {})
                           if fabric["name"] == "ynl")

    def close(self):
        write("live", "0")
        os.rmdir(CONFIGFS)

    def do(self, operation, **values):
        """A request about this fabric. Underscores stand for dashes."""
        values = {key.replace("_", "-"): value for key, value in values.items()}
        return self.ynl.do(operation, {"fabric": self.fabric, **values})

    def dump(self, operation, **values):
        return self.ynl.dump(operation, {"fabric": self.fabric, **values})

    def refused(self, error, operation, **values):
        """The kernel must refuse the request with this errno; return its detail string."""
        try:
            reply = self.do(operation, **values)
        except generic.NlError as refusal:
            assert -refusal.nl_msg.error == error, os.strerror(-refusal.nl_msg.error)
            return refusal.nl_msg.extack
        raise AssertionError(f"{operation} was granted: {reply}")

    def ended(self, txn):
        """Wait for the end of the transaction and return it."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            found = self.do("txn-get", id=txn)
            if found["outcome"] != "running":
                return found
            time.sleep(0.01)
        raise AssertionError(f"transaction {txn} runs for ever")

    def reaches(self, txn, outcome):
        until = time.monotonic() + PATIENCE
        found = self.ended(txn)
        while found["outcome"] != outcome and time.monotonic() < until:
            time.sleep(0.01)
            found = self.ended(txn)
        assert found["outcome"] == outcome, found
        return found

    def morphctl(self, *words, status=0, fabric=True, user=None):
        """Return morphctl's answer as JSON. A user has no capabilities."""
        command = [MORPHCTL, *words, "--json", *(["--fabric", str(self.fabric)] if fabric else [])]
        done = subprocess.run(command, user=user, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=3 * PATIENCE, check=False)
        assert done.returncode == status, (command, done.returncode, done.stdout, done.stderr)
        return json.loads(done.stdout) if done.stdout.strip() else None


def plain(value):
    """Convert to JSON types."""
    return json.loads(json.dumps(value))


def keyed(machine, owner, record):
    """Give a record of this set of attributes, or a list of them, the keys of morphctl's JSON."""
    if isinstance(record, list):
        return [keyed(machine, owner, one) for one in record]
    result = {}
    for name, value in record.items():
        attribute = machine.ynl.attr_sets[owner][name].yaml
        if "nested-attributes" in attribute:
            value = keyed(machine, attribute["nested-attributes"], value)
        if (owner, name) in NAMES.flags:
            value = bool(value)
        result[NAMES.key(owner, attribute)] = value
    return result


def same(ours, theirs):
    """Compare two objects or lists of objects, key by key."""
    if isinstance(ours, list) and not isinstance(theirs, list):
        theirs = [theirs]
    if isinstance(theirs, list) and not isinstance(ours, list):
        ours = [ours]
    if isinstance(ours, list):
        assert len(ours) == len(theirs), (len(ours), len(theirs))
        for one, other in zip(ours, theirs):
            if isinstance(one, dict):
                same(one, other)
            else:
                assert one == other, (one, other)
        return
    different = {key: (ours.get(key), theirs.get(key)) for key in ours.keys() | theirs.keys()
                 if plain(ours.get(key)) != theirs.get(key)}
    nested = {key for key, (one, other) in different.items()
              if isinstance(one, (dict, list)) and isinstance(other, (dict, list))}
    for key in nested:
        same(ours[key], theirs[key])
    assert not different.keys() - nested, {key: different[key] for key in different.keys() - nested}


def slice_named(machine, name, ranks=4):
    return machine.do("slice-create", name=name, owner=OWNER, mode=0o640, ranks_count=ranks)


def end_slice(machine, number):
    """Delete it and wait until its accelerators are free."""
    free = machine.ynl.do("fabric-get", {"id": machine.fabric})["free"]
    ranks = machine.do("slice-get", id=number)["ranks-count"]
    machine.do("slice-delete", id=number)
    until = time.monotonic() + PATIENCE
    while machine.ynl.do("fabric-get", {"id": machine.fabric})["free"] < free + ranks:
        assert time.monotonic() < until, "the accelerators stay held"
        time.sleep(0.01)


def ring(count):
    return [{"op": "add", "src-rank": rank, "dst-rank": (rank + 1) % count} for rank in range(count)]


def cold(fabrics):
    """Fabrics without their temperature, which drifts."""
    for fabric in fabrics if isinstance(fabrics, list) else [fabrics]:
        assert isinstance(fabric.pop("temperature-mc"), int)
    return fabrics


def fabric_get(machine):
    ours = machine.ynl.do("fabric-get", {"id": machine.fabric})
    same(cold(keyed(machine, "fabric", ours)), cold(machine.morphctl("fabric", "show")))
    ours = keyed(machine, "fabric", machine.ynl.dump("fabric-get", {}))
    same(cold(ours), cold(machine.morphctl("fabric", "list", fabric=False)))


def accelerator_get(machine):
    ours = keyed(machine, "accelerator", machine.dump("accelerator-get"))
    theirs = machine.morphctl("accelerator", "list")
    for one, other in zip(ours, theirs):    # patrols go on meanwhile
        one.pop("last-verified-ns")
        other.pop("last-verified-ns")
    same(ours, theirs)
    assert machine.do("accelerator-get", id=3)["uuid"] == theirs[3]["uuid"]


def guide_get(machine):
    same(keyed(machine, "guide", machine.dump("guide-get")), machine.morphctl("guide", "list"))
    same(keyed(machine, "guide", machine.do("guide-get", id=5)), machine.morphctl("guide", "show", "5"))


def edge_get(machine):
    """server8 has no edges: a second fabric has eight."""
    place = pathlib.Path("/sys/kernel/config/morph_sim/ynl-edges")
    place.mkdir()
    try:
        (place / "profile").write_text("edge4")
        (place / "peer").write_text("33333333-3333-4333-8333-333333333333")
        (place / "live").write_text("1")
        fabric = next(one["id"] for one in machine.ynl.dump("fabric-get", {})
                      if one["name"] == place.name)
        ours = machine.ynl.dump("edge-get", {"fabric": fabric})
        theirs = machine.morphctl("edge", "list", "--fabric", str(fabric), fabric=False)
        assert len(ours) == 8 and ours[0]["peer-edge"] == 4, ours
        same(keyed(machine, "edge", ours), theirs)
        same(keyed(machine, "edge", machine.ynl.do("edge-get", {"fabric": fabric, "id": 5})),
             machine.morphctl("edge", "show", "5", "--fabric", str(fabric), fabric=False))
    finally:
        place.rmdir()


def element_get(machine):
    same(keyed(machine, "element", machine.dump("element-get")), machine.morphctl("element", "list"))
    same(keyed(machine, "element", machine.do("element-get", id=5)), machine.morphctl("element", "show", "5"))


def accelerator_set(machine):
    ours = machine.do("accelerator-set", id=7, use="spare", pci="0000:3b:00.0")
    theirs = machine.morphctl("accelerator", "show", "0000:3b:00.0")
    assert ours["use"] == theirs["use"] == "spare" and theirs["id"] == 7, (ours, theirs)
    machine.morphctl("accelerator", "set", "7", "--free")
    ours = machine.do("accelerator-set", id=7, pci="")
    assert ours["use"] == "free" and ours["pci"] == "", ours
    assert machine.refused(errno.EINVAL, "accelerator-set", id=7, use="held")["bad-attr"] == ".use"


def slice_create(machine):
    ours = slice_named(machine, "made")
    theirs = machine.morphctl("slice", "show", "made")
    assert ours["id"] == theirs["id"] and theirs["owner"] == OWNER and theirs["mode"] == 0o640
    assert len(theirs["ranks"]) == 4
    same(keyed(machine, "slice", machine.do("slice-get", name="made")), machine.morphctl("slice", "show", "made"))
    same(keyed(machine, "slice", machine.dump("slice-get")), machine.morphctl("slice", "list"))
    assert machine.refused(errno.EEXIST, "slice-create", name="made", owner=0,
                           ranks_count=1)["bad-attr"] == ".name"
    end_slice(machine, ours["id"])


def slice_create_at(machine):
    theirs = machine.morphctl("slice", "create", "listed", "--accelerators", "6,1,4", "--failover",
                              "manual", "--transit", "own", "--owner", str(OWNER))
    ours = machine.do("slice-get", name="listed")
    assert [rank["accelerator"] for rank in ours["rank"]] == [6, 1, 4], ours
    assert ours["failover"] == "manual" and ours["transit"] == "own", ours
    assert (theirs[0] if isinstance(theirs, list) else theirs)["id"] == ours["id"]
    end_slice(machine, ours["id"])
    ours = machine.do("slice-create", name="listed", owner=OWNER, accelerator=[2, 0, 5])
    assert [rank["accelerator"] for rank in ours["rank"]] == [2, 0, 5], ours
    end_slice(machine, ours["id"])


def lent_spares(machine):
    """A lent spare is listed beside idle ones. Only administrators see its slice and rank."""
    spare, idle = (one["id"] for one in machine.morphctl("spare", "list"))
    number = machine.do("slice-create", name="borrower", owner=OWNER, accelerator=[0, spare], lend=True)["id"]
    ours = machine.do("accelerator-get", id=spare)
    assert ours["lent"] and (ours["slice"], ours["rank"]) == (number, 1), ours
    assert "lent" not in machine.do("accelerator-get", id=0)

    lent, other = machine.morphctl("spare", "list")
    same({**keyed(machine, "accelerator", ours), "last-verified-ns": lent["last-verified-ns"]}, lent)
    assert other["id"] == idle and "lent" not in other, other
    shown = machine.morphctl("spare", "list", user=OWNER)[0]
    assert shown == {key: value for key, value in lent.items() if key not in ("slice", "rank")}, shown

    fabric = machine.morphctl("fabric", "show", str(machine.fabric), fabric=False)
    assert (fabric["spares-count"], fabric["lent-count"]) == (1, 1), fabric
    machine.do("slice-delete", id=number)
    until = time.monotonic() + PATIENCE
    while "lent" in machine.do("accelerator-get", id=spare):
        assert time.monotonic() < until, "the spare stays lent"
        time.sleep(0.01)
    assert [one["use"] for one in machine.morphctl("spare", "list")] == ["spare", "spare"]


def slice_set(machine):
    number = slice_named(machine, "set")["id"]
    machine.do("slice-set", id=number, failover="none", mode=0o600, owner=77)
    theirs = machine.morphctl("slice", "show", "set")
    assert (theirs["failover"], theirs["mode"], theirs["owner"]) == ("none", 0o600, 77), theirs
    machine.morphctl("slice", "set", "set", "--failover", "manual")
    assert machine.do("slice-get", id=number)["failover"] == "manual"
    end_slice(machine, number)


def slice_delete(machine):
    number = slice_named(machine, "gone")["id"]
    with open(f"/dev/morph/slice{number}", "rb"):
        assert machine.refused(errno.EBUSY, "slice-delete", id=number)["bad-attr"] == ".id"
        machine.do("slice-delete", id=number, force=True)
    until = time.monotonic() + PATIENCE
    while machine.morphctl("slice", "list"):
        assert time.monotonic() < until, "the slice stays"
        time.sleep(0.05)


def circuit_apply(machine):
    number = slice_named(machine, "lit")["id"]
    txn = machine.do("circuit-apply", slice=number, change=ring(4), cookie=9)
    ended = machine.ended(txn["id"])
    assert ended["outcome"] == "committed" and len(ended["change"]) == 4, ended
    same(keyed(machine, "circuit", machine.dump("circuit-get", slice=number)),
         machine.morphctl("circuit", "list", "lit"))
    circuit = ended["change"][2]["circuit"]
    same(keyed(machine, "circuit", machine.do("circuit-get", slice=number, id=circuit)),
         machine.morphctl("circuit", "show", "lit", str(circuit)))
    same(keyed(machine, "txn", machine.do("txn-get", id=txn["id"])),
         machine.morphctl("txn", "show", str(txn["id"])))

    machine.morphctl("circuit", "remove", "lit", str(circuit))
    left = [found["id"] for found in machine.dump("circuit-get", slice=number)]
    assert len(left) == 3 and circuit not in left, left
    moved = machine.do("circuit-apply", slice=number, change=[{"op": "move", "circuit": left[0], "lanes": 2}])
    assert machine.ended(moved["id"])["outcome"] == "committed"
    assert machine.morphctl("circuit", "show", "lit", str(left[0]))["lane-mask"] == 2
    end_slice(machine, number)


def circuit_apply_dry_run(machine):
    number = slice_named(machine, "dry")["id"]
    ours = machine.do("circuit-apply", slice=number, dry_run=True, change=ring(4))
    assert ours["status"] == 0 and len(ours["change"]) == 4 and "id" not in ours, ours
    ours = machine.do("circuit-apply", slice=number, dry_run=True,
                      change=[{"op": "add", "src-rank": 0, "dst-rank": 4}])
    assert ours["status"] == -errno.ENOENT and "rank 4" in ours["text"], ours
    assert not machine.morphctl("circuit", "list", "dry")
    machine.morphctl("circuit", "add", "dry", "0", "1", "--dry-run")
    assert not machine.dump("circuit-get", slice=number)
    end_slice(machine, number)


def circuit_apply_each(machine):
    number = slice_named(machine, "each")["id"]
    txn = machine.do("circuit-apply", slice=number, each=True,
                     change=[{"op": "remove", "circuit": 99}, *ring(4)[:1]])
    ended = machine.ended(txn["id"])
    assert [change["status"] for change in ended["change"]] == [-errno.ENOENT, 0], ended
    assert len(machine.morphctl("circuit", "list", "each")) == 1
    end_slice(machine, number)


def txn_step(machine):
    number = slice_named(machine, "steps")["id"]
    prepared = machine.do("circuit-apply", slice=number, prepare=True, lease_ns=HOUR_NS, change=ring(4))
    machine.reaches(prepared["id"], "prepared")
    assert 0 < machine.do("txn-step", id=prepared["id"], verb="query")["lease-ns"] <= HOUR_NS
    machine.do("txn-step", id=prepared["id"], verb="commit")
    machine.reaches(prepared["id"], "unconfirmed")
    machine.do("txn-step", id=prepared["id"], verb="verify")
    machine.reaches(prepared["id"], "unconfirmed")
    machine.morphctl("txn", "verify", str(prepared["id"]), "--lease", "60")
    machine.morphctl("txn", "confirm", str(prepared["id"]))
    machine.reaches(prepared["id"], "committed")

    theirs = machine.morphctl("circuit", "remove", "steps", str(
        machine.dump("circuit-get", slice=number)[0]["id"]), "--prepare", "--lease", "60")
    second = (theirs[0] if isinstance(theirs, list) else theirs)["id"]
    machine.reaches(second, "prepared")
    machine.do("txn-step", id=second, verb="revert")
    machine.reaches(second, "rolled-back")
    assert len(machine.morphctl("circuit", "list", "steps")) == 4
    ours, theirs = machine.dump("txn-get"), machine.morphctl("txn", "list")
    same(keyed(machine, "txn", ours), theirs)
    end_slice(machine, number)


def hardware(machine):
    ours = machine.do("hardware-set", part="guide", index=3, cordoned=1)
    assert ours["cordoned"] == 1, ours
    same(keyed(machine, "hardware", machine.dump("hardware-get")), machine.morphctl("hardware", "list"))
    machine.morphctl("hardware", "uncordon", "guide", "3")
    assert machine.do("hardware-get", part="guide", index=3)["cordoned"] == 0
    assert machine.do("hardware-fail", part="element", index=6)["health"] == "failed"
    assert machine.morphctl("element", "show", "6")["health"] == "failed"
    test = machine.do("hardware-test", part="element", index=6)
    assert machine.ended(test["txn"])["outcome"] == "committed"
    assert machine.morphctl("element", "show", "6")["health"] == "ok"
    assert not machine.morphctl("hardware", "list")
    assert machine.refused(errno.ENOENT, "hardware-fail", part="guide", index=10 ** 6)["bad-attr"] == ".index"


def replace(machine):
    created = slice_named(machine, "moved")
    number, before = created["id"], created["rank"][1]["accelerator"]
    queued = machine.do("replace", slice=number, rank=1)
    assert machine.ended(queued["txn"])["outcome"] == "committed"
    theirs = machine.morphctl("slice", "show", "moved")["ranks"][1]
    assert theirs["accelerator"] != before and theirs["replacements-count"] == 1, theirs
    end_slice(machine, number)


def why_not(machine):
    ours = machine.do("why-not", count=4, ring=True)
    assert ours["status"] == 0 and len(ours["chosen"]) == 4, ours
    same(keyed(machine, "why-not", ours), machine.morphctl("why-not", "--count", "4", "--ring"))
    number = slice_named(machine, "held")["id"]
    ours = machine.do("why-not", count=5)
    assert ours["reason"] == "accelerators" and (ours["have"], ours["need"]) == (4, 5), ours
    same(keyed(machine, "why-not", ours), machine.morphctl("why-not", "--count", "5", status=1))
    end_slice(machine, number)


def same_quotas(machine):
    """The driver releases charges asynchronously; when nothing changes, morphctl prints the same.
    """
    until = time.monotonic() + PATIENCE
    while True:
        before = machine.ynl.dump("quota-get", {})
        theirs = machine.morphctl("quota", "list", fabric=False)
        if machine.ynl.dump("quota-get", {}) == before:
            return same(keyed(machine, "quota", before), theirs)
        assert time.monotonic() < until, before


def quota(machine):
    before = machine.ynl.do("quota-get", {"uid": OWNER})
    ours = machine.ynl.do("quota-set", {"uid": OWNER, "accelerators": 3, "bytes": 2 ** 40})
    try:
        assert ours["accelerators"] == 3 and ours["circuits"] == before["circuits"], ours
        same_quotas(machine)
        assert machine.refused(errno.EDQUOT, "slice-create", name="much", owner=OWNER,
                               ranks_count=4)["bad-attr"] == ".owner"
    finally:
        machine.morphctl("quota", "set", str(OWNER), "--accelerators", str(before["accelerators"]), fabric=False)
    assert machine.ynl.do("quota-get", {"uid": OWNER})["accelerators"] == before["accelerators"]
    default = machine.ynl.do("quota-get", {})
    machine.ynl.do("quota-set", {"prepared": default["prepared"] + 1})
    theirs = machine.morphctl("quota", "list", fabric=False)[0]
    assert "uid" not in theirs and theirs["prepared-limit"] == default["prepared"] + 1, theirs
    machine.ynl.do("quota-set", {"prepared": default["prepared"]})


def stats(machine):
    moving = ("provider-ops", "patrols", "signals")
    ours, theirs = keyed(machine, "stats", machine.do("stats-get")), machine.morphctl("stats")
    theirs = theirs[0] if isinstance(theirs, list) else theirs
    for name in moving:
        assert theirs.pop(name) >= ours.pop(name) > 0, name
    same(ours, theirs)
    assert ours["committed"] > 0 and ours["failovers"] > 0, ours


def notifications(machine):
    listener = generic.family()
    listener.ntf_subscribe("monitor")
    number = slice_named(machine, "heard")["id"]
    txn = machine.do("circuit-apply", slice=number, change=ring(4))
    machine.ended(txn["id"])
    end_slice(machine, number)
    heard, states = {}, []
    until = time.monotonic() + PATIENCE
    while states[-1:] != ["dying"]:     # its notification comes after the accelerators are free
        assert time.monotonic() < until, states
        time.sleep(0.01)
        listener.check_ntf()
        heard = {}
        for message in listener.async_msg_queue:
            heard.setdefault(message["name"], []).append(message["msg"])
        states = [message["state"] for message in heard.get("slice-ntf", []) if message["id"] == number]
    assert states[0] == "ok", states
    assert [message["outcome"] for message in heard["txn-ntf"]] == ["committed"], heard["txn-ntf"]
    assert {"fabric", "seq", "generation", "slice", "txn"} <= heard["event-ntf"][0].keys()
    assert all(message["use"] == "free" for message in heard["accelerator-ntf"])


def overrun(machine):
    """A monitor that reads too late gets a notice and then the state; it misses nothing after that.
    """
    listener = subprocess.Popen(
        [MORPHCTL, "monitor", "--fabric", str(machine.fabric), "--buffer", "4096", "--banner"],
        stdout=subprocess.PIPE, text=True)
    watchdog = threading.Timer(PATIENCE, listener.kill)
    watchdog.start()
    lines = []

    def until(name, **values):
        """Return the messages up to one of this name with these values."""
        first = len(lines)
        while True:
            lines.append(json.loads(listener.stdout.readline()))
            message = lines[-1].get("msg", {})
            if lines[-1]["name"] == name and all(message.get(key) == value for key, value in values.items()):
                return lines[first:]

    def cordon(index, cordoned):
        machine.do("hardware-set", part="guide", index=index, cordoned=cordoned)

    try:
        until("ready")
        os.kill(listener.pid, signal.SIGSTOP)
        for index in range(100):
            cordon(index % 8, 1)
        os.kill(listener.pid, signal.SIGCONT)
        kept = [line["msg"]["index"] for line in until("resync")[:-1]]
        assert 0 < len(kept) < 100 and kept == [index % 8 for index in range(len(kept))], kept
        state = until("hardware-get", index=7)
        assert all(line["name"].endswith("-get") for line in state), state
        for index in range(8):
            cordon(index, 0)
        assert [line["msg"]["index"] for line in until("hardware-ntf", index=7)] == list(range(8))
    finally:
        watchdog.cancel()
        listener.kill()
        listener.wait()


def read(*path):
    with open(os.path.join(*path), encoding="ascii") as file:
        return file.read()


def debugfs(machine):
    """Files in the driver's directory agree with netlink."""
    directory = f"/sys/kernel/debug/morph/fabric{machine.fabric}"

    def ledger(key):
        lines = read(directory, "ledger").splitlines()
        return next(int(line[len(key):]) for line in lines if line.startswith(key + " "))

    number = slice_named(machine, "seen")["id"]
    machine.ended(machine.do("circuit-apply", slice=number, change=ring(4))["id"])
    circuits = machine.dump("circuit-get", slice=number)
    assert ledger("transmit lanes on") == ledger("receive lanes held") == 4
    assert ledger("guide lanes held") == sum(len(circuit["guide"]) for circuit in circuits)
    assert ledger("pins") == sum(len(circuit["element"]) for circuit in circuits)
    routes = read(directory, "guide_routes").splitlines()
    live = [line.split()[0] for line in routes for word in line.split() if f"L:slice{number}:" in word]
    assert sorted(map(int, live)) == sorted(guide for circuit in circuits for guide in circuit["guide"])
    plans = [line.split() for line in read(directory, "plans").splitlines() if line[0] != "#"]
    assert [words[:2] for words in plans] == [[str(number), str(rank)] for rank in range(4)], plans
    counters = dict(line.split() for line in read(directory, "stats").splitlines())
    assert int(counters["committed"]) == machine.do("stats-get")["committed"]
    assert read(directory, "operations").startswith("last id ")
    end_slice(machine, number)
    assert ledger("transmit lanes on") == ledger("guide lanes held") == ledger("pins") == 0


def tracepoints(machine):
    """A transaction leaves its trace, in order."""
    tracing = "/sys/kernel/tracing"
    with open(f"{tracing}/events/morph/enable", "w", encoding="ascii") as file:
        file.write("1")
    number = slice_named(machine, "traced")["id"]
    machine.ended(machine.do("circuit-apply", slice=number, change=ring(4))["id"])
    end_slice(machine, number)
    with open(f"{tracing}/events/morph/enable", "w", encoding="ascii") as file:
        file.write("0")
    lines = [line.split(": ", 2) for line in read(tracing, "trace").splitlines() if ": morph_" in line]
    found = [(name, text) for _task, name, text in lines]
    names = [name for name, _text in found]
    for name in ("morph_slice_create", "morph_txn_stage", "morph_op_submit", "morph_txn_end", "morph_slice_release"):
        assert name in names, (name, sorted(set(names)))
    assert names.index("morph_slice_create") < names.index("morph_txn_stage") < names.index("morph_txn_end")
    end = next(text for name, text in found if name == "morph_txn_end")
    assert f"slice={number} outcome=committed status=0" in end, end
    submit = next(text for name, text in found if name == "morph_op_submit")
    assert "method=" in submit and "(" not in submit.partition("method=")[2].split()[0], submit


def main():
    machine = Machine()
    try:
        return generic.run_tests([
            fabric_get, accelerator_get, guide_get, edge_get, element_get, accelerator_set, slice_create,
            slice_create_at, lent_spares, slice_set, slice_delete, circuit_apply, circuit_apply_dry_run,
            circuit_apply_each, txn_step, hardware, replace, why_not, quota, notifications, overrun, debugfs, tracepoints,
            stats,
        ], machine)
    finally:
        machine.close()


if __name__ == "__main__":
    sys.exit(main())
