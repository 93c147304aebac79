# SPDX-License-Identifier: GPL-2.0-only
"""Run the tests of a module, and print TAP."""


def run_tests(names):
    """Run each function of these global names that begins with test_. Return whether one failed."""
    tests = [(name, test) for name, test in names.items() if name.startswith("test_")]
    print(f"TAP version 13\n1..{len(tests)}")
    failed = False
    for number, (name, test) in enumerate(tests, 1):
        passed = test()
        failed |= not passed
        print("ok" if passed else "not ok", number, name.removeprefix("test_"))
    return failed
