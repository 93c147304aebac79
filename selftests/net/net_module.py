#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Read the module of a network device by ethtool, and compare it with morphctl. Prints TAP."""

import os
import re
import subprocess
import sys
import traceback

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "selftests", "plan"))

import place    # noqa: E402

POWER_DB = 0.3          # a step of 0.1 microwatts, and drift
TEMPERATURE_C = 1
PLANES = 6              # of server8
LANES_PAGE = ("page", "0x11", "offset", "0x80", "length", "128")
# Flags of that page. ethtool 6.1 shows them at wrong channels.
RX_LOSS, RX_UNLOCKED, RX_LOW, TX_FAULT = 147 - 128, 148 - 128, 150 - 128, 135 - 128


class Pair:
    """A slice of two ranks with a circuit from rank 0 to rank 1."""

    def __init__(self, fabric):
        self.fabric = fabric
        fabric.do("slice", "create", "pair", "--count", 2)
        fabric.do("circuit", "add", "pair", 0, 1)
        fabric.do("net", "up", "pair")
        self.slice = fabric.ask("slice", "show", "pair")
        self.circuit = fabric.ask("circuit", "list", "pair")[0]

    def device(self, rank):
        return f"morph{self.slice['id']}.{rank}"

    def ethtool(self, rank, *words, status=0):
        done = subprocess.run(["ethtool", "-m", self.device(rank), *words], capture_output=True, text=True, check=False)
        assert (done.returncode == 0) == (status == 0), (words, done.returncode, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def fields(self, rank):
        """Fields by name, without the blanks that align them."""
        pairs = (line.split(" : ", 1) for line in self.ethtool(rank).splitlines() if " : " in line)
        return {" ".join(name.split()): value.strip() for name, value in pairs}

    def lanes(self, rank):
        """Bytes of the page that has the lanes."""
        said = self.ethtool(rank, "hex", "on", *LANES_PAGE)
        rows = re.findall(r"^0x[0-9a-f]+:?\s+((?:[0-9a-f]{2}\s*)+)$", said, re.MULTILINE)
        return bytes.fromhex("".join("".join(row.split()) for row in rows))

    def end(self):
        self.fabric.do("net", "down", "pair")
        self.fabric.end("pair")


def lane_field(fields, name, plane):
    """A field of the lane of a plane. ethtool writes some names with a blank before the bracket."""
    found = [value for key, value in fields.items()
             if key.replace(" ", "") == f"{name}(Channel{plane + 1})".replace(" ", "")]
    assert len(found) == 1, (name, plane, fields)
    return found[0]


def power_dbm(fields, plane):
    return float(lane_field(fields, "Rcvr signal avg optical power", plane).split("/")[1].split()[0])


def module_names_the_source(pair):
    fields = pair.fields(1)
    assert fields["Vendor name"] == "morph", fields
    assert fields["Vendor PN"] == "simulated fabric", fields
    assert fields["Vendor SN"] == f"accel {pair.slice['ranks'][1]['accelerator']}", fields


def temperature_is_that_of_the_fabric(pair):
    shown = float(pair.fields(1)["Module temperature"].split()[0])
    fabric = pair.fabric.ask("fabric", "show")["temperature-mc"] / 1000
    assert abs(shown - fabric) <= TEMPERATURE_C, (shown, fabric)


def power_is_that_of_the_circuit(pair):
    shown = power_dbm(pair.fields(1), pair.circuit["dst-plane"])
    core = pair.circuit["power-mdbm"] / 1000
    print(f"# {shown} dBm in ethtool, {core} dBm in morphctl")
    assert abs(shown - core) <= POWER_DB, (shown, core)


def lanes_without_a_circuit_have_an_alarm(pair):
    dark = (1 << PLANES) - 1 & ~(1 << pair.circuit["dst-plane"])
    page = pair.lanes(1)
    assert page[RX_LOSS] == page[RX_LOW] == page[RX_UNLOCKED] == dark, (dark, page.hex())


def sender_that_fails_is_seen_at_both_ends(pair):
    sends, receives = 1 << pair.circuit["src-plane"], 1 << pair.circuit["dst-plane"]
    assert not pair.lanes(0)[TX_FAULT] & sends and not pair.lanes(1)[RX_LOSS] & receives
    pair.fabric.do("slice", "set", "pair", "--failover", "none")
    pair.fabric.fault(f"laser_dead {pair.slice['ranks'][0]['accelerator']}.{pair.circuit['src-plane']}")
    assert pair.lanes(0)[TX_FAULT] & sends
    there = pair.lanes(1)
    assert there[RX_LOSS] & receives and there[RX_UNLOCKED] & receives


def page_that_is_missing_is_refused(pair):
    said = pair.ethtool(1, "hex", "on", "page", "0x20", "offset", "0x80", "length", "1", status=1)
    assert "the module has no such page" in said, said


def main():
    tests = (module_names_the_source, temperature_is_that_of_the_fabric, power_is_that_of_the_circuit,
             lanes_without_a_circuit_have_an_alarm, page_that_is_missing_is_refused,
             sender_that_fails_is_seen_at_both_ends)
    print(f"TAP version 13\n1..{len(tests)}", flush=True)
    subprocess.run(["insmod", os.path.join(os.environ["MORPH_KMOD"], "morph_net.ko")], check=True)
    failed = 0
    with place.Rack("server8") as fabric:
        pair = Pair(fabric)
        for number, test in enumerate(tests, 1):
            try:
                test(pair)
                print(f"ok {number} {test.__name__}", flush=True)
            except Exception:   # pylint: disable=broad-except
                failed += 1
                print("".join(f"# {line}\n" for line in traceback.format_exc().splitlines()), end="")
                print(f"not ok {number} {test.__name__}", flush=True)
        pair.fabric.fault()
        pair.end()
    subprocess.run(["rmmod", "morph_net"], check=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
