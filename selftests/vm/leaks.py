# SPDX-License-Identifier: GPL-2.0-only
"""What the modules do to kernel memory, and what they leave behind when unloaded.

The test machine tracks who allocated each object (slub_debug=U). An address that the kernel can't
name any more is code that is gone. What such code allocated and is still there has leaked, except
where it was there before: every module's own start is code that goes.
"""

import glob
import os
import re
import time

ENTRY = re.compile(r"\n(?=\s{1,7}\d)")
GONE = re.compile(r"\b0x(ffffffff[a-f][0-9a-f]{7})\b")
MODULE = re.compile(r" \[\w+\]")
NAMES = ("/sys/kernel/debug/morph*", "/sys/class/morph*", "/sys/bus/morph*", "/sys/kernel/config/morph*", "/dev/morph*")
# for what is freed after a grace period
PATIENCE_SECONDS = 10 * int(os.environ.get("SLOWNESS", 1))
KMEMLEAK = "/sys/kernel/debug/kmemleak"
KMEMLEAK_AGE_SECONDS = 5    # what is younger, it does not report


def read(path):
    with open(path, encoding="ascii", errors="replace") as file:
        return file.read()


def allocations():
    """Descriptions of slab objects and vmalloc areas."""
    for path in glob.glob("/sys/kernel/debug/slab/*/alloc_traces"):
        for entry in ENTRY.split(read(path)):
            yield f"{path.split('/')[-2]}: {entry.strip()}"
    for line in read("/proc/vmallocinfo").splitlines():
        yield "vmalloc: " + line.split(maxsplit=1)[-1]


def unreferenced():
    """What kmemleak, where the kernel has it, finds that nothing refers to. The first scan only
    takes checksums."""
    if not os.path.exists(KMEMLEAK):
        return []
    time.sleep(KMEMLEAK_AGE_SECONDS)
    for _ in range(2):
        with open(KMEMLEAK, "w", encoding="ascii") as file:
            file.write("scan")
    return [entry for entry in read(KMEMLEAK).split("unreferenced object ") if entry]


def validate_slabs():
    """Have the kernel check red zones and poison now, not when an object is next allocated."""
    for pattern in ("kmalloc-*", "morph*"):
        for path in glob.glob(f"/sys/kernel/slab/{pattern}/validate"):
            with open(path, "w", encoding="ascii") as file:
                file.write("1")


def nameless():
    """Addresses of code already gone."""
    return {address for entry in allocations() for address in GONE.findall(entry)}


def allocated_by_gone(entry, known):
    """Whether, of all modules in this stack, one that is gone allocated. (A cache may keep what a
    call filled; so does gcov, of the counters of every module that ever was.)"""
    for line in entry.splitlines():
        if MODULE.search(line) or "__gcov_" in line:
            return False
        if set(GONE.findall(line)) - known:
            return True
    return False


def leaked(known):
    return [entry for entry in allocations() if allocated_by_gone(entry, known)]


def drop_caches():
    """Forget files and names that were only looked up."""
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("3")


def caches():
    """Slab caches of ours."""
    return ["slab cache " + line.split()[0] for line in read("/proc/slabinfo").splitlines() if line.startswith("morph")]


def names():
    """Files and directories that should have gone with the modules."""
    return [path for pattern in NAMES for path in glob.glob(pattern)]


def empty_quarantine():
    """Have KASAN give up the freed objects that it keeps: the allocator counts them as
    allocated."""
    for path in glob.glob("/sys/kernel/slab/*/shrink"):
        with open(path, "w", encoding="ascii") as file:
            file.write("1")


def left_behind(known):
    """List what is still there when the kernel has had time to free it. known: nameless()
    before."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        # A name that was looked up keeps the directory that it was looked up in until it has been
        # forgotten itself.
        drop_caches()
        empty_quarantine()
        found = caches() + leaked(known) + names()
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.5)
