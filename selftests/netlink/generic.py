# SPDX-License-Identifier: GPL-2.0-only
"""The generic YNL client of Linux 6.12 with the specification of family "morph", and KTAP."""

import os
import sys
import traceback

import yaml

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINUX = os.path.join(TOP, "build/linux/source")
SPEC = os.path.join(TOP, "Documentation/netlink/specs/morph.yaml")
SCHEMA = os.path.join(LINUX, "Documentation/netlink/genetlink-legacy.yaml")

sys.path.insert(0, os.path.join(LINUX, "tools/net/ynl"))

# The library asks for the loader written in Python, which takes ten times longer.
yaml.SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

from lib import NlError, SpecFamily, YnlFamily  # noqa: E402
from lib import ynl as module                   # noqa: E402

__all__ = ["NlError", "SpecFamily", "YnlFamily", "module", "SPEC", "SCHEMA", "TOP", "family", "run_tests"]


def family():
    """A client, its specification checked against the schema."""
    return YnlFamily(SPEC, SCHEMA)


def run_tests(tests, *args):
    """Run functions, whose names describe the cases; print KTAP and return the exit status."""
    print(f"TAP version 13\n1..{len(tests)}", flush=True)
    failed = 0
    for number, test in enumerate(tests, 1):
        try:
            test(*args)
            word = "ok"
        except Exception:  # pylint: disable=broad-except
            for line in traceback.format_exc().splitlines():
                print("#", line)
            word = "not ok"
            failed += 1
        print(f"{word} {number} {test.__name__}", flush=True)
    return 1 if failed else 0
