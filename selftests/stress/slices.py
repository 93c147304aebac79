# SPDX-License-Identifier: GPL-2.0-only
"""Schedules and state pages of slices, read through their files, as netlink lacks them.

As root, duplicate a slice's file from the process that has it. The header gives the layout of
structures; no other code is used.

    schedules, pages = read(slices, holders)   # results of netlink.dump("slice") and read_holders()
"""

import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import struct

PIDFD_GETFD = 438
HEAD, ARRAY = "IIQIIIIqq", "QII"
INFO, PATH = f"={HEAD}IIIIQiIIIII" + ARRAY, f"={HEAD}II" + ARRAY + ARRAY
STEP, ELEMENT, PAGE, PAIR = "=IIIIQQQQQQQQ", "=II", "=QIIQIIQQQ", "=IIQ"
STEP_NAMES = ("circuits", "changes", "ahead", "late", "runs")
INFO_NAMES = ("id", "state", "flags", "step", "position", "error", "failed_step", "circuits", "lit", "moved", "first")
PAGE_NAMES = ("version", "ranks", "schedule", "generation", "step", "state", "position", "settle_ns", "relock_ns")
MOST_STEPS, MOST_HOPS = 16, 128
# _IOWR(0xe7, ...)
INFO_COMMAND = 3 << 30 | struct.calcsize(INFO) << 16 | 0xe7 << 8 | 0x2a
PATH_COMMAND = 3 << 30 | struct.calcsize(PATH) << 16 | 0xe7 << 8 | 0x21


@contextlib.contextmanager
def file_of(holder):
    """Duplicate an open file of another process."""
    process = os.pidfd_open(holder.pid)
    try:
        number = ctypes.CDLL(None, use_errno=True).syscall(PIDFD_GETFD, process, holder.fd, 0)
        if number < 0:
            raise OSError(ctypes.get_errno(), "pidfd_getfd")
    finally:
        os.close(process)
    try:
        yield number
    finally:
        os.close(number)


@contextlib.contextmanager
def node_of(slice_):
    number = os.open(f"/dev/morph/slice{slice_['id']}", os.O_RDWR)
    try:
        yield number
    finally:
        os.close(number)


def ask(file, command, layout, *values):
    """Return the structure after the call, without its head."""
    structure = bytearray(struct.pack(layout, struct.calcsize(layout), 0, 0, 0, 0, 0, 0, 0, 0, *values))
    fcntl.ioctl(file, command, structure, True)
    return struct.unpack(layout, structure)[len(HEAD):]


def entries(layout, room):
    """Space for an array: a buffer, and its reference in a structure."""
    buffer = ctypes.create_string_buffer(room * struct.calcsize(layout))
    return buffer, (ctypes.addressof(buffer), room, struct.calcsize(layout))


def unpack(layout, buffer, count):
    return list(struct.iter_unpack(layout, buffer.raw[:count * struct.calcsize(layout)]))


def read_path(file, circuit):
    """Return its guides and elements, lit or not."""
    guides, guides_room = entries("=I", MOST_HOPS)
    elements, elements_room = entries(ELEMENT, MOST_HOPS)
    told = ask(file, PATH_COMMAND, PATH, circuit, 0, *guides_room, *elements_room)
    pairs = unpack(ELEMENT, elements, told[6])
    return {"guide": [guide for (guide,) in unpack("=I", guides, told[3])],
            "element": [pair[0] for pair in pairs], "element_state": [pair[1] for pair in pairs]}


def read_schedule(file, least):
    """Return the first schedule whose number is at least that, or None."""
    steps, room = entries(STEP, MOST_STEPS)
    try:
        told = ask(file, INFO_COMMAND, INFO, least, *[0] * 10, *room)
    except OSError as error:
        if error.errno == errno.ENOENT:
            return None
        raise
    found = dict(zip(INFO_NAMES, told))
    found["steps"] = [dict(zip(STEP_NAMES, step)) for step in unpack(STEP, steps, told[-2])]
    found["paths"] = {number: read_path(file, number) for number in range(found["first"], found["first"] + found["circuits"])}
    return found


def read_page(file, ranks):
    """Return the state page, or None if memory for it is not allowed."""
    length = struct.calcsize(PAGE) + ranks * ranks * struct.calcsize(PAIR)
    try:
        with mmap.mmap(file, -length % mmap.PAGESIZE + length, prot=mmap.PROT_READ) as page:
            data = page[:length]
    except OSError as error:
        if error.errno == errno.EDQUOT:
            return None
        raise
    found = dict(zip(PAGE_NAMES, struct.unpack_from(PAGE, data)))
    pairs = struct.iter_unpack(PAIR, data[struct.calcsize(PAGE):])
    found["pairs"] = [dict(zip(("src", "dst", "generation", "hops", "mbps"), (*divmod(place, ranks), *pair)))
                      for place, pair in enumerate(pairs)]
    return found


def read_slice(file, slice_):
    schedules, least = [], 1
    while True:
        schedule = read_schedule(file, least)
        if schedule is None:
            break
        schedules.append({"slice": slice_["id"], **schedule})
        least = schedule["id"] + 1
    return schedules, read_page(file, slice_["ranks_count"])


def read(slices, holders):
    """Return (schedules, {slice: page}) of all slices. OSError: a slice has gone meanwhile."""
    schedules, pages = [], {}
    for slice_ in slices:
        holder = next((holder for holder in holders if holder.slice == slice_["id"]), None)
        if holder is None and not slice_.get("name"):
            continue        # proof.slices_have_owners reports it
        with file_of(holder) if holder else node_of(slice_) as file:
            found, pages[slice_["id"]] = read_slice(file, slice_)
        schedules += found
    return schedules, pages
