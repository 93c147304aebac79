# SPDX-License-Identifier: GPL-2.0-only
"""Files of the host that the test machine has in memory: programs that tests start often, and the
files that these read.

For any other file, each open or failed lookup takes up to three requests to the host. An emulated
processor needs about a millisecond for a request.
"""

import glob
import os
import subprocess
import sys
import sysconfig

PROGRAMS = ("/bin/sh", "/bin/busybox", sys.executable, "/usr/bin/mpirun",
            "build/tools/morphctl/morphctl",
            "build/selftests/mpi/launch", "build/selftests/mpi/training", "build/selftests/mpi/corners")
SYSTEM_LIBRARIES = os.path.join("/usr/lib", sysconfig.get_config_var("MULTIARCH") or "")
# Files that programs load by name: libmorph, components of Open MPI, locales.
LOADED = ("build/libmorph/*.so.*", "build/libmorph/libmorph-mpi.so", "build/selftests/mpi/*.so",
          "/etc/ld.so.cache", "/etc/nsswitch.conf", "/etc/passwd",
          "/etc/openmpi/*", "/usr/share/openmpi/*.txt", "/usr/share/openmpi/amca-param-sets/*",
          os.path.join(SYSTEM_LIBRARIES, "openmpi/lib/*.so*"),
          os.path.join(SYSTEM_LIBRARIES, "openmpi/lib/openmpi3/*.so"),
          os.path.join(SYSTEM_LIBRARIES, "pmix2/lib/pmix/*.so"),
          "/usr/lib/locale/C.utf8/*", "/usr/lib/locale/C.utf8/*/*")


def find(top, pattern):
    """Paths of the matching files. A pattern without a leading slash is relative to top."""
    return glob.glob(os.path.join(top, pattern))


def linked_libraries(programs):
    """Libraries of these programs, by the paths that the dynamic linker opens."""
    done = subprocess.run(["ldd", *programs], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=False)
    words = [word for line in done.stdout.splitlines() if "(0x" in line for word in line.split()]
    return {word for word in words if word.startswith("/")}


def python_modules():
    """Sources and compiled files of the modules of Python's library that this process has
    loaded."""
    library = sysconfig.get_path("stdlib")
    for module in list(sys.modules.values()):
        for path in (getattr(module, "__file__", None), getattr(module, "__cached__", None)):
            if path and path.startswith(library) and os.path.exists(path):
                yield path


def list_paths(top):
    """Paths of all these files, as programs open them. top is the root of the source tree."""
    programs = {path for pattern in PROGRAMS for path in find(top, pattern)}
    loaded = {path for pattern in LOADED for path in find(top, pattern)}
    return programs | loaded | linked_libraries(sorted(programs)) | set(python_modules())


def walk(path):
    """Each directory, symbolic link and file on the way from the root to this path."""
    current, rest = "/", path.split("/")
    while rest:
        name = rest.pop(0)
        if name in ("", "."):
            continue
        step = os.path.normpath(os.path.join(current, name))
        yield step
        if os.path.islink(step):
            target = os.readlink(step)
            current = "/" if target.startswith("/") else current
            rest = target.split("/") + rest
        else:
            current = step
