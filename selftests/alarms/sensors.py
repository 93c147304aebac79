#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Read the sensors of a fabric by sensors(1), and compare them with morphctl. Prints TAP."""

import errno
import glob
import json
import math
import os
import subprocess
import sys
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "selftests", "plan"))

import place    # noqa: E402

PLANES = 6              # of server8
POWER_DB = 0.3          # a step of a microwatt, and drift
TEMPERATURE_C = 1
FRESH_S = 1.1           # a reading is older than that: the next reader asks the device
SILENCE = "reading_timeout - every=1"
READERS, READS = 4, 100


class Chip:
    """The sensors of a fabric."""

    def __init__(self, fabric):
        self.number = fabric.ask("fabric", "show")["id"]
        self.name = f"morph_fabric{self.number}"
        self.directory = next(path for path in glob.glob("/sys/class/hwmon/*") if self.text(path, "name") == self.name)

    @staticmethod
    def text(directory, name):
        with open(os.path.join(directory, name), encoding="ascii") as file:
            return file.read().strip()

    def sensors(self, *options):
        return subprocess.run(["sensors", *options, f"{self.name}-*"], capture_output=True, text=True, check=True).stdout

    def lines(self):
        """The readings that sensors prints, by label."""
        return dict(line.split(":", 1) for line in self.sensors().splitlines() if ":" in line and "Adapter" not in line)

    def channels(self):
        """The channels of power, by label."""
        return {self.text(self.directory, os.path.basename(path)): path.replace("label", "input")
                for path in glob.glob(f"{self.directory}/power*_label")}

    def microwatts(self, label):
        """A power that is not older than this call; None: the receiver is not in use."""
        time.sleep(FRESH_S)
        try:
            with open(self.channels()[label], encoding="ascii") as file:
                return int(file.read())
        except OSError as error:
            assert error.errno == errno.ENODATA, error
            return None


class Pair:
    """A slice of two ranks with a circuit from rank 0 to rank 1, and the sensors of its fabric."""

    def __init__(self, fabric):
        self.fabric, self.chip = fabric, Chip(fabric)

    def __enter__(self):
        self.fabric.do("slice", "create", "pair", "--count", 2, "--failover", "none")
        self.fabric.do("circuit", "add", "pair", 0, 1)
        ranks = self.fabric.ask("slice", "show", "pair")["ranks"]
        circuit = self.fabric.ask("circuit", "list", "pair")[0]
        self.power = circuit["power-mdbm"] / 1000
        self.to = ranks[1]["accelerator"]
        self.receiver = f"receiver {self.to}.{circuit['dst-plane']}"
        self.laser = f"{ranks[0]['accelerator']}.{circuit['src-plane']}"
        return self

    def __exit__(self, *_):
        self.fabric.fault()
        self.fabric.end("pair")

    def check_power(self, label):
        shown = 10 * math.log10(self.chip.microwatts(label) / 1000)
        print(f"# {shown:.2f} dBm in hwmon, {self.power} dBm in morphctl; sensors: {self.chip.lines()[label]}")
        assert abs(shown - self.power) <= POWER_DB, (shown, self.power)


def temperature_is_that_of_the_fabric(fabric):
    shown = json.loads(Chip(fabric).sensors("-j"))
    shown = next(iter(shown.values()))["interposer"]["temp1_input"]
    core = fabric.ask("fabric", "show")["temperature-mc"] / 1000
    assert core and abs(shown - core) <= TEMPERATURE_C, (shown, core)


def each_receiver_has_a_channel(fabric):
    chip, accelerators = Chip(fabric), len(fabric.ask("accelerator", "list"))
    labels = {f"receiver {accelerator}.{plane}" for accelerator in range(accelerators) for plane in range(PLANES)}
    assert set(chip.channels()) == labels, chip.channels()
    assert labels < set(chip.lines()), chip.lines()


def power_is_that_of_the_circuit(fabric):
    with Pair(fabric) as pair:
        pair.check_power(pair.receiver)


def receivers_without_a_circuit_have_no_power(fabric):
    with Pair(fabric) as pair:
        time.sleep(FRESH_S)
        used = {label for label, text in pair.chip.lines().items() if label.startswith("receiver") and "N/A" not in text}
        assert used == {pair.receiver}, used


def receivers_read(fabric):
    with open(f"{os.path.dirname(place.DEBUGFS)}/{fabric.name}/ops", encoding="ascii") as file:
        return next(int(line.split()[-1]) for line in file if line.startswith("receivers_read"))


def reading_serves_for_a_second(fabric):
    """Readers cost the device at most one operation a second; patrol reads, too."""
    with Pair(fabric) as pair:
        path, before = pair.chip.channels()[pair.receiver], receivers_read(fabric)
        for _ in range(READS):
            with open(path, encoding="ascii") as file:
                file.read()
        assert receivers_read(fabric) - before < READS / 2, (before, receivers_read(fabric))


def device_that_does_not_answer_is_an_error(fabric):
    with Pair(fabric) as pair:
        path = pair.chip.channels()[pair.receiver]
        time.sleep(FRESH_S)
        fabric.fault(SILENCE)
        try:
            with open(path, encoding="ascii") as file:
                raise AssertionError(file.read())
        except OSError as error:
            assert error.errno == errno.ETIMEDOUT, error
        fabric.fault()
        assert pair.chip.microwatts(pair.receiver)


def dead_laser_darkens_its_receiver(fabric):
    with Pair(fabric) as pair:
        assert pair.chip.microwatts(pair.receiver) > 0
        for plane in range(PLANES):     # no other path remains
            fabric.fault(f"laser_dead {pair.laser.split('.', maxsplit=1)[0]}.{plane}")
        assert pair.chip.microwatts(pair.receiver) == 0


def removal_ends_all_readers(fabric):
    paths, ended = list(Chip(fabric).channels().values()), []

    def read():
        while True:
            for path in paths:
                try:
                    with open(path, encoding="ascii") as file:
                        file.read()
                except FileNotFoundError:
                    ended.append(path)
                    return
                except OSError:
                    pass

    readers = [threading.Thread(target=read) for _ in range(READERS)]
    for reader in readers:
        reader.start()
    fabric.write("live", "0")
    for reader in readers:
        reader.join()
    assert len(ended) == READERS, ended
    fabric.write("live", "1")


def large_fabric_has_a_channel_for_each_server(_):
    with place.Rack("pod192", "large") as large, Pair(large) as pair:
        names = {one["id"]: one["host-name"] for one in large.ask("accelerator", "list")}
        assert set(pair.chip.channels()) == {f"lowest of {name}" for name in names.values()}, pair.chip.channels()
        pair.check_power(f"lowest of {names[pair.to]}")


TESTS = (temperature_is_that_of_the_fabric, each_receiver_has_a_channel, power_is_that_of_the_circuit,
         receivers_without_a_circuit_have_no_power, reading_serves_for_a_second,
         device_that_does_not_answer_is_an_error, dead_laser_darkens_its_receiver, removal_ends_all_readers,
         large_fabric_has_a_channel_for_each_server)

if __name__ == "__main__":
    sys.exit(place.run(TESTS, "server8"))
