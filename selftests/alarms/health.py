#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Read the health reporters of a fabric by devlink(8) during faults and repairs. Prints TAP."""

import json
import os
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "selftests", "plan"))

import place    # noqa: E402

HANDLE = "morph_sim/place"
REPORTERS = ("accelerator", "light", "slice")
PLANES = 6          # of server8
SCRAPE_S = 15       # interval in which monitors read; no change may take longer
TRACING = "/sys/kernel/tracing/events"


def devlink(*words):
    done = subprocess.run(["devlink", "-j", "health", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return json.loads(done.stdout) if done.stdout.strip() else {}


def reporters():
    """The reporters of the fabric by name."""
    return {one["reporter"]: one for one in devlink("show")["health"][HANDLE]}


def diagnose(reporter, verb="diagnose"):
    words = ("dump", "show") if verb == "dump" else (verb,)
    return devlink(*words, HANDLE, "reporter", reporter)


def await_state(reporter, state):
    """Wait until the reporter has the state, at most for a scrape interval."""
    until = time.monotonic() + SCRAPE_S * int(os.environ.get("SLOWNESS", 1))
    while reporters()[reporter]["state"] != state:
        assert time.monotonic() < until, (reporter, state, reporters(), diagnose(reporter))
        time.sleep(0.05)


def await_all(state):
    for reporter in REPORTERS:
        await_state(reporter, state)


def dump_names(reporter, *entry):
    """Read the dump of the last report, which must have the entry, and clear it."""
    dump = diagnose(reporter, "dump")
    devlink("dump", "clear", HANDLE, "reporter", reporter)
    for key, value in entry:
        assert any(one.get(key) == value for one in dump["parts"]), (entry, dump)


def reporters_begin_healthy(_):
    shown = reporters()
    assert set(shown) == set(REPORTERS), shown
    for one in shown.values():
        assert one["state"] == "healthy" and one["error"] == 0, shown
    assert diagnose("accelerator") == {"count": 0, "parts": []}, diagnose("accelerator")
    assert diagnose("slice") == {"count": 0, "slices": []}, diagnose("slice")


def dead_accelerator_is_an_error_until_repair(fabric):
    fabric.fault("accelerator_dead 1")
    await_state("accelerator", "error")
    assert reporters()["light"]["state"] == reporters()["slice"]["state"] == "healthy", reporters()
    assert reporters()["accelerator"]["error"] == 1, reporters()
    dump_names("accelerator", ("part", "accelerator"), ("index", 1))
    assert diagnose("accelerator")["parts"] == [{"part": "accelerator", "index": 1, "health": "failed"}], \
        diagnose("accelerator")
    fabric.fault()
    await_all("healthy")
    assert diagnose("accelerator") == {"count": 0, "parts": []}, diagnose("accelerator")


def each_failure_is_a_report(fabric):
    before = reporters()["accelerator"]["error"]
    for count, accelerator in enumerate((0, 2), 1):
        fabric.fault(f"accelerator_dead {accelerator}")
        until = time.monotonic() + SCRAPE_S
        while diagnose("accelerator")["count"] != count or reporters()["accelerator"]["error"] != before + count:
            assert time.monotonic() < until, (reporters(), diagnose("accelerator"))
            time.sleep(0.05)
    fabric.fault()
    await_all("healthy")


def failed_laser_is_an_error_of_light(fabric):
    fabric.do("slice", "create", "pair", "--count", 2)
    fabric.do("circuit", "add", "pair", 0, 1)
    sender = fabric.ask("slice", "show", "pair")["ranks"][0]["accelerator"]
    plane = fabric.ask("circuit", "list", "pair")[0]["src-plane"]
    fabric.fault(f"laser_dead {sender}.{plane}")
    await_state("light", "error")
    assert reporters()["accelerator"]["state"] == "healthy", reporters()
    laser = sender * PLANES + plane
    assert diagnose("light")["parts"] == [{"part": "laser", "index": laser, "health": "failed"}], diagnose("light")
    fabric.fault()
    fabric.end("pair")      # a test needs idle accelerators
    fabric.do("hardware", "test", "laser", laser)
    await_all("healthy")


def degraded_slice_is_an_error_until_its_end(fabric):
    fabric.do("slice", "create", "pair", "--count", 2, "--failover", "none")
    fabric.do("circuit", "add", "pair", 0, 1)
    shown = fabric.ask("slice", "show", "pair")
    fabric.fault(f"accelerator_dead {shown['ranks'][1]['accelerator']}")
    await_state("slice", "error")
    assert diagnose("slice") == {"count": 1, "slices": [shown["id"]]}, diagnose("slice")
    fabric.do("slice", "delete", "pair")
    await_state("slice", "healthy")
    fabric.fault()
    await_all("healthy")


def degraded_slice_is_an_error_until_its_repair(fabric):
    fabric.do("slice", "create", "pair", "--count", 2, "--failover", "none")
    fabric.do("circuit", "add", "pair", 0, 1)
    fabric.fault(f"accelerator_dead {fabric.ask('slice', 'show', 'pair')['ranks'][1]['accelerator']}")
    await_state("slice", "error")
    fabric.fault()
    await_all("healthy")
    fabric.end("pair")


def switch_trace(value):
    with open(os.path.join(TRACING, "devlink/devlink_health_report/enable"), "w", encoding="ascii") as file:
        file.write(value)


def report_reaches_the_trace(fabric):
    """The tracepoint reads the name of the driver of the device."""
    switch_trace("1")
    fabric.fault("accelerator_dead 3")
    await_state("accelerator", "error")
    switch_trace("0")
    with open(os.path.join(os.path.dirname(TRACING), "trace"), encoding="ascii") as file:
        text = file.read()
    assert "driver_name=morph_sim reporter_name=accelerator: 1 accelerators are not healthy" in text, text[-2000:]
    fabric.fault()
    await_all("healthy")


def reporters_end_with_the_fabric(fabric):
    fabric.fault("accelerator_dead 1")
    await_state("accelerator", "error")
    fabric.write("live", "0")
    shown = subprocess.run(["devlink", "health", "show"], capture_output=True, text=True, check=True).stdout
    assert "morph_sim" not in shown, shown
    fabric.write("live", "1")
    await_all("healthy")


TESTS = (reporters_begin_healthy, dead_accelerator_is_an_error_until_repair, each_failure_is_a_report,
         failed_laser_is_an_error_of_light, degraded_slice_is_an_error_until_its_end,
         degraded_slice_is_an_error_until_its_repair, report_reaches_the_trace, reporters_end_with_the_fabric)

if __name__ == "__main__":
    if not os.path.isdir(TRACING):
        subprocess.run(["mount", "-t", "tracefs", "none", os.path.dirname(TRACING)], check=True)
    sys.exit(place.run(TESTS, "server8"))
