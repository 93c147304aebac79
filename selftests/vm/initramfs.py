# SPDX-License-Identifier: GPL-2.0-only
"""Build the initramfs that mounts the host's file system: busybox, init, and a few modules."""

import lzma
import os
import stat

import resident

# virtio comes first, because 9p and the output port need it.
WANTED = ("virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay", "configfs")


def modules_in_order(tree):
    """Module paths of WANTED and their dependencies, in the order of loading."""
    needs = {}
    with open(os.path.join(tree, "modules.dep"), encoding="ascii") as lines:
        for line in lines:
            path, _, rest = line.partition(":")
            needs[path] = rest.split()
    by_name = {os.path.basename(path).partition(".")[0]: path for path in needs}
    order = []
    for name in WANTED:
        path = by_name.get(name)    # modules that are built into this kernel have no file
        if path:
            order += [p for p in [*reversed(needs[path]), path] if p not in order]
    return order


def read_module(path):
    with (lzma.open if path.endswith(".xz") else open)(path, "rb") as file:
        return file.read()


class Cpio:
    """Writer of the newc format. With it, device nodes need neither root nor cpio."""

    def __init__(self):
        self.data = bytearray()
        self.inode = 0

    def add(self, name, mode, content=b"", rdev=(0, 0), owner=(0, 0), mtime=0):
        self.inode += 1
        fields = (self.inode, mode, *owner, 1, mtime, len(content), 0, 0, *rdev, len(name) + 1, 0)
        self.data += b"070701" + b"".join(b"%08X" % field for field in fields)
        self.data += name.encode() + b"\0"
        self._align()
        self.data += content
        self._align()

    def directory(self, name):
        self.add(name, stat.S_IFDIR | 0o755)

    def file(self, name, content):
        self.add(name, stat.S_IFREG | 0o755, content)

    def copy(self, name, path):
        """Add a path of this machine: a directory without its content, a symbolic link or a
        file."""
        status = os.lstat(path)
        content = b""
        if stat.S_ISLNK(status.st_mode):
            content = os.readlink(path).encode()
        elif stat.S_ISREG(status.st_mode):
            with open(path, "rb") as file:
                content = file.read()
        self.add(name, status.st_mode, content, owner=(status.st_uid, status.st_gid), mtime=int(status.st_mtime))

    def close(self):
        self.add("TRAILER!!!", 0)
        return bytes(self.data)

    def _align(self):
        self.data += b"\0" * (-len(self.data) % 4)


def build(tree, top, init, busybox="/bin/busybox"):
    """Return the archive for the kernel with the modules in tree, and for programs of the checkout
    top."""
    archive = Cpio()
    for name in ("bin", "dev", "host", "modules", "proc", "resident", "root", "sys", "top"):
        archive.directory(name)
    archive.add("dev/console", stat.S_IFCHR | 0o600, rdev=(5, 1))
    with open(busybox, "rb") as file:
        archive.file("bin/busybox", file.read())
    with open(init, "rb") as file:
        archive.file("init", file.read())
    for number, path in enumerate(modules_in_order(tree)):
        name = os.path.basename(path).partition(".")[0]
        archive.file(f"modules/{number:02d}-{name}.ko", read_module(os.path.join(tree, path)))
    steps = {step for path in resident.list_paths(top) for step in resident.walk(path)}
    for step in sorted(steps):
        archive.copy("resident" + step, step)
    return archive.close()
