#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Instances of the simulated provider: configfs, debugfs, faults, clocks, removal. Prints TAP."""

import contextlib
import errno
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import time
import zlib

CONFIGFS = "/sys/kernel/config/morph_sim"
DEBUGFS = "/sys/kernel/debug/morph_sim"
DRIVER = "/sys/bus/morph_sim/drivers/morph_sim"
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TABLE = os.path.join(TOP, "kmod/sim/fault_table.h")
MORPHCTL = os.path.join(TOP, "build/tools/morphctl/morphctl")
FIRMWARE = "/sys/module/firmware_class/parameters/path"
CHECKSUM_AT, WINDOW_AT = 24, 104    # in a profile's header; the drift follows the window
RUNS_MOST = 50      # until one is over between two rounds of the core's patrol
PATIENCE_S = 10 * int(os.environ.get("SLOWNESS", 1))


def write(path, text):
    """The errno of a write, 0 where it succeeded."""
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    except OSError as error:
        return error.errno
    return 0


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def eventually(condition):
    until = time.monotonic() + PATIENCE_S
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    return condition()


class Instance:
    """A simulated fabric, for a with statement."""

    made = 0

    def __init__(self, profile="server4", name=None, **attributes):
        Instance.made += 1
        self.name = name or f"instances-{os.getpid()}-{Instance.made}"
        os.mkdir(self.config(""))
        for attribute, value in {"profile": profile, **attributes}.items():
            assert not write(self.config(attribute), str(value)), attribute

    def __enter__(self):
        assert not write(self.config("live"), "1"), "live"
        return self

    def __exit__(self, *_):
        os.rmdir(self.config(""))

    def config(self, attribute):
        return os.path.join(CONFIGFS, self.name, attribute)

    def debug(self, file):
        return os.path.join(DEBUGFS, self.name, file)

    def control(self, file, text):
        return write(self.debug(file), text)

    def live(self):
        return read(self.config("live")) == "1\n"

    def asked(self):
        """How often the core has asked the hardware for what."""
        return re.findall(r"^(?:[gs]et_\w+|probe) \d+$", read(self.debug("ops")), re.M)


def knobs():
    """Every fault of the table is a knob that can be injected, listed and cleared."""
    names = re.findall(r"^SIM_FAULT\((\w+), (\w+)", read(TABLE), re.MULTILINE)
    targets = {"ACCELERATOR": "0", "LASER": "0.0.0x3", "ELEMENT": "0", "RECEIVER": "0.0", "DEVICE": "-"}
    with Instance("rack64", clock="stepped") as sim:
        listed = [line.split("\t")[0] for line in read(sim.debug("knobs")).splitlines()]
        assert listed == [name for name, _ in names] and len(listed) == 18, listed
        for name, target in names:
            if target == "GUIDE":
                sim.control("fault", f"{name} 99999999")
                guides = int(re.search(r"below (\d+)", read(sim.debug("error")))[1])
                text = next(str(guide) for guide in reversed(range(guides))
                            if not sim.control("fault", f"{name} {guide} after=9"))
            else:
                text = targets[target]
                assert not sim.control("fault", f"{name} {text} after=9"), name
            assert f"armed {name} {text}" in read(sim.debug("fault")), name
        assert not sim.control("clear", "all")
        assert not read(sim.debug("fault"))


def refusals():
    """The simulator refuses invalid requests with a text that names the error."""
    wrong = {"nosuch 1": "nosuch", "laser_dead": "target", "laser_dead 0.99": "plane",
             "laser_weak 0.0 mdb=0": "mdb=0", "element_stuck 0 state=99": "state=99",
             "element_stuck 0 mdb=1": "takes no 'mdb'", "fibre_cut 0": "not a fibre",
             "receiver_deaf 99.0": "accelerator", "accelerator_dead 0 for=x": "for='x'"}
    with Instance() as sim:
        for line, word in wrong.items():
            assert sim.control("fault", line), line
            assert word in read(sim.debug("error")), (line, read(sim.debug("error")))
        assert sim.control("advance", "5") and "real" in read(sim.debug("error"))
        assert sim.control("flip", "0 99") and sim.control("clear", "99")
        assert write(sim.config("seed"), "5"), "attributes must be fixed while live"
        assert not read(sim.debug("log"))


def bad_profiles():
    """An instance with a missing profile cannot go live, and can be corrected."""
    sim = Instance("nosuch")
    try:
        assert write(sim.config("live"), "1") and not sim.live()
        assert not write(sim.config("profile"), "server4")
        assert not write(sim.config("live"), "1") and sim.live()
    finally:
        os.rmdir(sim.config(""))


def broken_from_the_start():
    """A fabric whose hardware does not answer at its start never is ready, and the reason is in the
    log. Broken parts do not keep a fabric from being ready; no slice gets them."""
    for fault in ("query_error every=1", "reading_timeout every=1"):
        sim = Instance("server8", start_faults=fault)
        try:
            error = write(sim.config("live"), "1")
            assert error in (errno.EIO, errno.ETIMEDOUT) and not sim.live(), (fault, error)
            done = subprocess.run([MORPHCTL, "status"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            assert done.returncode == 3 and "no fabric" in done.stderr and not done.stdout, done
            log = subprocess.run(["dmesg"], stdout=subprocess.PIPE, text=True, check=True).stdout
            assert re.search(rf"{sim.name}: .*({errno.errorcode[error]}|-{error})", log), log[-800:]
            assert not write(sim.config("start_faults"), "\n")
            assert not write(sim.config("live"), "1") and sim.live()
            assert morphctl(sim, "status")[1]["state"] == "ok"
        finally:
            os.rmdir(sim.config(""))
    with Instance("server8", start_faults="accelerator_dead 1; element_stuck 5 state=1") as sim:
        report = morphctl(sim, "status")[1]
        assert report["state"] == "degraded" and report["fabrics"][0]["state"] == "ready", report
        assert [(part["part"], part["index"]) for part in report["hardware"]] == [("accelerator", 1), ("element", 5)], report
        ranks = morphctl(sim, "slice", "create", "rest", "--count", "7")[1]["ranks"]
        assert 1 not in [rank["accelerator"] for rank in ranks], ranks
    sim = Instance("server8", start_faults="laser_dead 99.0")
    try:
        assert write(sim.config("live"), "1") == errno.EINVAL and not sim.live()
    finally:
        os.rmdir(sim.config(""))


def one_stepped_run(seed):
    """Return the state after a run of faults and flips, or None if the core's patrol, with its own
    clock, interfered."""
    with Instance("server8", name="instances-repeat", clock="stepped", seed=seed) as sim:
        before = sim.asked()
        for line in ("element_slow 3 ns=2000", "guide_lossy 9 mdb=900 for=20000", "laser_weak 1.2",
                     "receiver_deaf 2.1 for=7000", "element_stuck 14 for=9000"):
            assert not sim.control("fault", line), line
        for step in range(40):
            sim.control("flip", f"{step * 7} {step % 2}")
            assert not sim.control("advance", str(311 * step))
        left = read(sim.debug("log")) + read(sim.debug("hardware")) + read(sim.debug("fault"))
        return left if sim.asked() == before else None


def stepped_run(seed):
    """A run of one seed by the stepped clock, and by nothing else."""
    for _ in range(RUNS_MOST):
        left = one_stepped_run(seed)
        if left:
            return left
    raise AssertionError(f"the patrol came by in each of {RUNS_MOST} runs")


def repetition():
    """By the stepped clock a run repeats byte for byte, and the seed matters."""
    first = stepped_run(3)
    assert first == stepped_run(3)
    assert first != stepped_run(4)
    assert "end receiver_deaf 2.1" in first and "end guide_lossy 9" in first


def random_faults(seed):
    """Return the faults that a seed chooses, waiting for operations that never come."""
    with Instance("server8", clock="stepped") as sim:
        assert not sim.control("fault", f"random {seed} 50 over=1000000")
        return [line.split(" ", 1)[1] for line in read(sim.debug("fault")).splitlines()]


def randomness():
    """A seed chooses the same faults each time; another seed chooses others."""
    first = random_faults(11)
    assert first == random_faults(11) and len(first) == 50
    assert first != random_faults(12)


def flapping():
    """A flapping accelerator dies and returns the requested number of times."""
    with Instance(clock="stepped") as sim:
        assert not sim.control("fault", "accelerator_flapping 1 period=4000 count=3")
        seen = ""
        for _ in range(8):
            seen += re.search(r"^accelerator 1 alive (\d)", read(sim.debug("hardware")), re.M)[1]
            assert not sim.control("advance", "2000")
        assert seen == "01010111", seen
        assert not read(sim.debug("fault"))


def drifting():
    """A drifting guide loses more and more light up to the requested loss, and recovers when the
    fault is cleared."""
    with Instance(clock="stepped") as sim:
        assert not sim.control("fault", "guide_drifting 4 mdb=800 period=8000")
        seen = []
        for _ in range(10):
            seen += [int(mdb) for mdb in re.findall(r"^guide 4 extra_mdb (\d+)", read(sim.debug("hardware")), re.M)]
            assert not sim.control("advance", "1000")
        assert seen == [100, 200, 300, 400, 500, 600, 700, 800, 800], seen
        assert not sim.control("clear", "all") and "guide 4 extra_mdb" not in read(sim.debug("hardware"))


def physical_state():
    """Faults and flips are visible only in the hardware."""
    with Instance(clock="stepped") as sim:
        assert not sim.control("flip", "5 1")
        assert re.search(r"^element 5 state 1 .* from 0 settles_ns", read(sim.debug("hardware")), re.M)
        assert not sim.control("advance", "1000000")
        assert not re.search(r"^element 5 .* from", read(sim.debug("hardware")), re.M)
        assert not sim.control("fault", "element_stuck 5") and sim.control("flip", "5 0")
        assert not sim.control("fault", "guide_lossy 4 mdb=700 for=500")
        assert "guide 4 extra_mdb 700\n" in read(sim.debug("hardware"))
        assert not sim.control("advance", "500")
        assert "guide 4 extra_mdb" not in read(sim.debug("hardware"))
        assert not sim.control("fault", "accelerator_dead 2")
        assert "accelerator 2 alive 0\n" in read(sim.debug("hardware"))


def removal():
    """Hardware disappears by unbind, by a fault and by configfs, and comes back."""
    with Instance() as sim:
        assert not write(os.path.join(DRIVER, "unbind"), sim.name) and not sim.live()
        assert not os.path.exists(sim.debug(""))
        assert not write(os.path.join(DRIVER, "bind"), sim.name) and sim.live()
        assert not sim.control("fault", "provider_removed")
        assert eventually(lambda: not sim.live())
        assert not write(sim.config("live"), "1") and sim.live()
        assert not write(sim.config("live"), "0") and not sim.live()
        assert not write(sim.config("live"), "0")
        assert not write(sim.config("live"), "1") and sim.live()


@contextlib.contextmanager
def drifting_profile():
    """server8, with elements that drift by 4 dB; the core tolerates drift that keeps the lock."""
    with open(os.path.join(TOP, "build/profiles/server8.bin"), "rb") as file:
        blob = bytearray(file.read())
    assert struct.unpack_from("<II", blob, WINDOW_AT) == (1500, 20), "the header's layout is another one"
    struct.pack_into("<II", blob, WINDOW_AT, 20000, 4000)
    struct.pack_into("<I", blob, CHECKSUM_AT, 0)
    struct.pack_into("<I", blob, CHECKSUM_AT, zlib.crc32(blob))
    before = read(FIRMWARE).strip()
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "morph"))
        with open(os.path.join(folder, "morph/drifting.bin"), "wb") as file:
            file.write(blob)
        assert not write(FIRMWARE, folder)
        try:
            yield "drifting"
        finally:
            write(FIRMWARE, before)


def morphctl(sim, *words):
    """Exit status and what it printed as JSON."""
    done = subprocess.run([MORPHCTL, *words, "-j", "-f", sim.name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False)
    return done.returncode, json.loads(done.stdout or b"null")


def temperature(sim):
    return next(fabric["temperature-mc"] for fabric in morphctl(sim, "health")[1]["fabrics"])


def drift():
    """The core reads the temperature, and detects a receiver that drifted out of range."""
    period = 60 * 10 ** 9
    with drifting_profile() as profile:
        for seed in range(1, 30):
            with Instance(profile, clock="skipping", seed=seed) as sim:
                assert not sim.control("advance", str(period // 64))
                assert eventually(lambda: 40000 <= temperature(sim) <= 50000), temperature(sim)
                assert not morphctl(sim, "slice", "create", "drifts", "--count", "2")[0]
                if morphctl(sim, "circuit", "add", "drifts", "0", "1")[0]:
                    continue        # out of range from the first: another seed
                path = morphctl(sim, "circuit", "list")[1][0]["guides"]
                warm = temperature(sim)
                for _ in range(32):
                    assert not sim.control("advance", str(period // 64))
                    if morphctl(sim, "health")[0]:
                        break
                else:
                    continue
                assert abs(temperature(sim) - warm) >= 500
                assert morphctl(sim, "hardware", "list")[1], "nobody is to blame"
                assert eventually(lambda: morphctl(sim, "circuit", "list")[1][0]["guides"] != path)
                return
    raise AssertionError("no seed drifts as far as that")


def main():
    tests = (knobs, refusals, bad_profiles, broken_from_the_start, repetition, randomness, flapping, drifting,
             physical_state, removal, drift)
    failures = 0
    print(f"TAP version 13\n1..{len(tests)}")
    for number, test in enumerate(tests, 1):
        try:
            test()
            print(f"ok {number} - {test.__name__}", flush=True)
        except (AssertionError, OSError, StopIteration) as error:
            failures += 1
            print(f"# {type(error).__name__}: {str(error)[:500]}, line {error.__traceback__.tb_next.tb_lineno}")
            print(f"not ok {number} - {test.__name__}", flush=True)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
