# SPDX-License-Identifier: GPL-2.0-only
"""Find kernel memory and files that the modules leave behind after unloading.

The test machine records the allocator of each object (slub_debug=U). An address without a name
belongs to unloaded code. An object that such code allocated has leaked, unless it existed before:
the init code of every module is also unloaded.
"""

import glob
import os
import re
import time

ENTRY = re.compile(r"\n(?=\s{1,7}\d)")
GONE = re.compile(r"\b0x(ffffffff[a-f][0-9a-f]{7})\b")
MODULE = re.compile(r" \[\w+\]")
# gcov keeps the counters of every unloaded module, and the table of neighbours only grows.
KERNELS_OWN = re.compile(r"__gcov_|neigh_hash_alloc")
NAMES = ("/sys/kernel/debug/morph*", "/sys/class/morph*", "/sys/bus/morph*", "/sys/kernel/config/morph*", "/dev/morph*")
# For objects that the kernel frees after a grace period.
PATIENCE_SECONDS = 10 * int(os.environ.get("SLOWNESS", 1))
KMEMLEAK = "/sys/kernel/debug/kmemleak"
KMEMLEAK_AGE_SECONDS = 5    # kmemleak does not report younger objects


def read(path):
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def allocations():
    """Descriptions of slab objects and vmalloc areas."""
    for path in glob.glob("/sys/kernel/debug/slab/*/alloc_traces"):
        for entry in ENTRY.split(read(path)):
            yield f"{path.split('/')[-2]}: {entry.strip()}"
    for line in read("/proc/vmallocinfo").splitlines():
        yield "vmalloc: " + line.split(maxsplit=1)[-1]


def unreferenced():
    """Objects without references, if the kernel has kmemleak. Its first scan only computes
    checksums."""
    if not os.path.exists(KMEMLEAK):
        return []
    time.sleep(KMEMLEAK_AGE_SECONDS)
    for _ in range(2):
        write(KMEMLEAK, "scan")
    return [entry for entry in read(KMEMLEAK).split("unreferenced object ") if entry]


def validate_slabs():
    """Let the kernel check red zones and poison now instead of at the next allocation of an
    object. A machine for measuring has neither."""
    for pattern in ("kmalloc-*", "morph*"):
        for path in glob.glob(f"/sys/kernel/slab/{pattern}/validate"):
            if read(os.path.join(os.path.dirname(path), "red_zone")).strip() == "1":
                write(path, "1")


def nameless():
    """Addresses of unloaded code."""
    return {address for entry in allocations() for address in GONE.findall(entry)}


def allocated_by_gone(entry, known):
    """Whether an unloaded module allocated the object, and no loaded module is on the stack. (A
    cache may keep an object that a call added.)"""
    for line in entry.splitlines():
        if MODULE.search(line) or KERNELS_OWN.search(line):
            return False
        if set(GONE.findall(line)) - known:
            return True
    return False


def leaked(known):
    return [entry for entry in allocations() if allocated_by_gone(entry, known)]


def drop_caches():
    """Drop cached files and names."""
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("3")


def caches():
    """Slab caches of our modules."""
    return ["slab cache " + line.split()[0] for line in read("/proc/slabinfo").splitlines() if line.startswith("morph")]


def names():
    """Files and directories that should have disappeared with the modules."""
    return [path for pattern in NAMES for path in glob.glob(pattern)]


def empty_quarantine():
    """Let KASAN release its quarantine. The allocator counts these freed objects as allocated."""
    for path in glob.glob("/sys/kernel/slab/*/shrink"):
        with open(path, "w", encoding="ascii") as file:
            file.write("1")


def left_behind(known):
    """List objects that remain after the kernel had time to free them. known: an earlier result of
    nameless()."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        # A cached name keeps its directory until the kernel drops it.
        drop_caches()
        empty_quarantine()
        found = caches() + leaked(known) + names()
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.5)
