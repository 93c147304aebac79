#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of scripts/static/layers: small source trees with one forbidden dependency each. Prints
TAP."""

import os
import subprocess
import sys
import tempfile

from run_tests import run_tests

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAYERS = os.path.join(TOP, "scripts/static/layers")

HW = "kmod/core/hardware/hw.c"
REPAIR = "kmod/core/recovery/repair.c"

# A source tree without a forbidden dependency. Each test changes some of its files.
CLEAN = {
    "kernel.h": """\
        struct work_struct { void (*function)(struct work_struct *work); };
        #define INIT_WORK(work, act) ((work)->function = (act))
        """,
    "kmod/include/morph_provider.h": """\
        struct morph_fabric_ops { int (*set)(int element); };
        int morph_fabric_register(const struct morph_fabric_ops *ops);
        """,
    "kmod/optics/optics.h": "int optics_route(int from);\n",
    "kmod/optics/internal.h": "int optics_search(int from);\n",
    "kmod/optics/route.c": """\
        #include "internal.h"
        #include "optics.h"
        int optics_route(int from) { return optics_search(from); }
        """,
    "kmod/optics/search.c": """\
        #include "internal.h"
        int optics_search(int from) { return from; }
        """,
    "kmod/core/base/base.h": """\
        #pragma once
        struct morph_subscriber { void (*published)(int circuit); };
        struct morph_hooks { void (*failed)(int part); };
        struct morph_fabric { struct morph_hooks hooks; struct work_struct work; };
        void morph_subscribe(const struct morph_subscriber *subscriber);
        extern struct morph_fabric *morph_the_fabric;
        """,
    "kmod/core/base/users.h": "int morph_user_count(void);\n",
    "kmod/core/base/fabric.c": """\
        #include "base.h"
        #include "users.h"
        static const struct morph_subscriber *first;
        struct morph_fabric *morph_the_fabric;
        int morph_user_count(void) { return first != 0; }
        void morph_subscribe(const struct morph_subscriber *subscriber) { first = subscriber; }
        """,
    "kmod/core/hardware/hardware.h": "int morph_hw_read(int element);\n"
                                     "void morph_hw_visit(void (*see)(int element));\n",
    HW: """\
        #include "core/base/base.h"
        #include "hardware.h"
        #include "optics/optics.h"
        int morph_hw_read(int element) { return optics_route(element); }
        void morph_hw_visit(void (*see)(int element)) { see(0); }
        """,
    "kmod/core/recovery/recovery.h": "int morph_repair(int slice);\n",
    REPAIR: """\
        #include "core/base/base.h"
        #include "core/hardware/hardware.h"
        #include "recovery.h"
        static void repair_published(int circuit) { morph_hw_read(circuit); }
        static const struct morph_subscriber repair_subscriber = { .published = repair_published };
        int morph_repair(int slice) { morph_subscribe(&repair_subscriber); return slice; }
        """,
    "kmod/core/main/main.c": """\
        #include "core/recovery/recovery.h"
        #include "morph_provider.h"
        int morph_fabric_register(const struct morph_fabric_ops *ops) { return morph_repair(ops->set(0)); }
        """,
    "kmod/sim/device.c": """\
        #include "morph_provider.h"
        static int device_set(int element) { return element; }
        static const struct morph_fabric_ops device_ops = { .set = device_set };
        int device_probe(void) { return morph_fabric_register(&device_ops); }
        """,
}


def run(changes):
    """The answer of the script for CLEAN with changes: lines to append, by file."""
    with tempfile.TemporaryDirectory() as top:
        files = {**CLEAN, **{path: CLEAN.get(path, "") + lines for path, lines in changes.items()}}
        for path, text in files.items():
            os.makedirs(os.path.join(top, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(top, path), "w", encoding="utf-8") as file:
                file.write(text)
        for path in files:
            if path.endswith(".c"):
                subprocess.run(["gcc", "-O2", "-fno-inline", "-w", "-Ikmod", "-Ikmod/include", "-include",
                                "kernel.h", "-c", path, "-o", path[:-2] + ".o"], cwd=top, check=True)
        done = subprocess.run([LAYERS, "--tree", top, "--objects", top], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout.splitlines()


def rejected(changes, *wanted):
    """Whether the script rejects the changes, with exactly these lines."""
    status, lines = run(changes)
    if status != 1 or lines != list(wanted):
        print(f"# status {status}", *lines, sep="\n# ")
    return status == 1 and lines == list(wanted)


def test_clean_tree_passes():
    status, lines = run({})
    if lines:
        print(*lines, sep="\n")
    return status == 0 and not lines


def test_upward_call_is_rejected():
    return rejected({HW: "int morph_repair(int slice);\nint hw_fail(void) { return morph_repair(1); }\n"},
                    f"{HW} uses morph_repair of {REPAIR}, a higher layer",
                    f"call cycle of 2 files in several directories: {HW} {REPAIR}")


def test_upward_reference_to_data_is_rejected():
    return rejected({REPAIR: "int morph_repairs;\n", HW: "extern int morph_repairs;\nint *hw_count = &morph_repairs;\n"},
                    f"{HW} uses morph_repairs of {REPAIR}, a higher layer",
                    f"call cycle of 2 files in several directories: {HW} {REPAIR}")


def test_upward_include_is_rejected():
    return rejected({HW: '#include "core/recovery/recovery.h"\n'},
                    f"{HW} includes kmod/core/recovery/recovery.h, a higher layer")


def test_private_header_is_rejected():
    return rejected({REPAIR: '#include "core/base/users.h"\n'},
                    f"{REPAIR} includes kmod/core/base/users.h, a private header")


def test_private_header_of_optics_is_rejected():
    return rejected({HW: '#include "optics/internal.h"\n'}, f"{HW} includes kmod/optics/internal.h, a private header")


def test_table_of_a_lower_layer_is_rejected():
    return rejected({REPAIR: "static void failed(int part) { }\n"
                             "static const struct morph_hooks hooks = { failed };\n"
                             "const void *repair_hooks(void) { return &hooks; }\n"},
                    f"{REPAIR} sets the table hooks, struct morph_hooks of kmod/core/base/base.h, a lower layer")


def test_assignment_to_a_lower_layer_is_rejected():
    return rejected({REPAIR: "static void failed(int part) { }\n"
                             "void repair_begin(void) { morph_the_fabric->hooks.failed = failed; }\n"},
                    f"{REPAIR} sets failed of struct morph_hooks of kmod/core/base/base.h, a lower layer")


def test_function_passed_to_a_lower_layer_is_rejected():
    return rejected({REPAIR: "static void see(int element) { }\nvoid repair_visit(void) { morph_hw_visit(see); }\n"},
                    f"{REPAIR} passes a function to morph_hw_visit of kmod/core/hardware/hardware.h, a lower layer")


def test_work_of_a_lower_layer_is_rejected():
    return rejected({REPAIR: "static void work_fn(struct work_struct *work) { }\n"
                             "void repair_init(void) { INIT_WORK(&morph_the_fabric->work, work_fn); }\n"},
                    f"{REPAIR} sets the work work of kmod/core/base/base.h, a lower layer")


def test_optics_knows_no_core():
    return rejected({"kmod/optics/route.c": '#include "core/base/base.h"\n'},
                    "kmod/optics/route.c includes kmod/core/base/base.h, which kmod/optics/ may not use")


def test_optics_calls_no_core():
    return rejected({"kmod/optics/search.c": "int morph_user_count(void);\n"
                                             "int optics_users(void) { return morph_user_count(); }\n"},
                    "kmod/optics/search.c uses morph_user_count of kmod/core/base/fabric.c, "
                    "which kmod/optics/ may not use")


def test_core_knows_no_provider():
    return rejected({"kmod/sim/sim.h": "int device_probe(void);\n",
                     "kmod/core/main/main.c": '#include "sim/sim.h"\n'},
                    "kmod/core/main/main.c includes kmod/sim/sim.h, which kmod/core/ may not use")


def test_core_names_no_provider():
    return rejected({"kmod/core/main/main.c": 'const char *main_default = "morph_sim";\n'},
                    "kmod/core/main/main.c names kmod/sim")


def test_provider_knows_no_slices():
    return rejected({"kmod/sim/device.c": "int morph_repair(int slice);\n"
                                          "int device_repair(void) { return morph_repair(0); }\n"},
                    f"kmod/sim/device.c uses morph_repair of {REPAIR}, "
                    "which kmod/include/morph_provider.h does not declare")


def rejects_include(path, header, module):
    """Whether the script rejects path, a file of module, because it includes header."""
    return rejected({header: "int foreign(void);\n", path: f'#include "{os.path.relpath(header, os.path.dirname(path))}"\n'},
                    f"{path} includes {header}, which {module} may not use")


def test_client_knows_no_planner():
    return rejects_include("libmorph/client/slice.c", "libmorph/place/place.h", "libmorph/client/")


def test_client_knows_no_optics():
    return rejects_include("libmorph/client/slice.c", "kmod/optics/optics.h", "libmorph/client/")


def test_planner_knows_no_client():
    return rejects_include("libmorph/place/place.c", "libmorph/client/internal.h", "libmorph/place/")


def test_util_knows_nothing_above():
    return rejects_include("libmorph/util/heap.c", "libmorph/internal/planner.h", "libmorph/util/")


def test_check_is_independent():
    return rejects_include("libmorph/check/check.c", "libmorph/util/sort.h", "libmorph/check/")


def test_formats_know_no_planner():
    return rejects_include("libmorph/formats/json.c", "libmorph/internal/planner.h", "libmorph/formats/")


def test_mpi_knows_installed_headers_only():
    return rejects_include("libmorph/mpi/mpi.c", "libmorph/util/sort.h", "libmorph/mpi/")


def test_morphctl_knows_public_headers_only():
    return rejects_include("tools/morphctl/command/main.c", "libmorph/internal/client.h", "tools/morphctl/")


def test_repro_knows_no_client():
    return rejects_include("tools/repro/repro.c", "libmorph/internal/client.h", "tools/repro/")


def test_repro_knows_named_planners_only():
    return rejects_include("tools/repro/repro.c", "libmorph/defrag/defrag.h", "tools/repro/")


def test_uapi_knows_nothing():
    return rejects_include("uapi/linux/morph.h", "libmorph/include/morph/types.h", "uapi/")


def test_cycle_of_directories_is_rejected():
    first, second = "kmod/sim/light.c", "kmod/sim/physics/trace.c"
    return rejected({first: "int trace(int n);\nint light(int n) { return n ? trace(n) : 0; }\n",
                     second: "int light(int n);\nint trace(int n) { return light(n - 1) + 1; }\n"},
                    f"call cycle of 2 files in several directories: {first} {second}")


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
