#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of scripts/coverage --names: reasons with one fault each. Prints TAP."""

import importlib.machinery
import importlib.util
import os
import sys
import tempfile

from run_tests import run_tests

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "scripts"))

SOURCE = """\
static int first(int a)
{
	if (a)
		return 0;
	return second(a) ? 1 : 2;
}

int second(int a)
{
	if (a < 2 &&
	    a > 0)
		goto err_out;
	return 0;
err_out:
	return 1;
}
"""


def load_coverage():
    """The script as a module. Its name has no extension."""
    loader = importlib.machinery.SourceFileLoader("coverage", os.path.join(TOP, "scripts", "coverage"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("coverage", loader))
    loader.exec_module(module)
    return module


def is_outdated(name, function, condition):
    """Whether the script rejects a reason for this block of a.c."""
    with tempfile.TemporaryDirectory() as tree:
        with open(os.path.join(tree, "a.c"), "w", encoding="utf-8") as file:
            file.write(SOURCE)
        return bool(list(load_coverage().outdated([(name, function, condition)], tree)))


def test_condition_of_the_function_is_accepted():
    return not is_outdated("a.c", "first", "if (a)")


def test_condition_on_two_lines_is_accepted():
    return not is_outdated("a.c", "second", "if (a < 2 && a > 0)")


def test_label_is_accepted():
    return not is_outdated("a.c", "second", "err_out")


def test_function_that_no_test_calls_is_accepted():
    return not is_outdated("a.c", "first", "never called")


def test_condition_without_a_function_is_accepted():
    return not is_outdated("a.c", "", "if (a)")


def test_missing_file_is_rejected():
    return is_outdated("b.c", "first", "if (a)")


def test_missing_function_is_rejected():
    return is_outdated("a.c", "third", "never called")


def test_label_of_another_function_is_rejected():
    return is_outdated("a.c", "first", "err_out")


def test_missing_condition_is_rejected():
    return is_outdated("a.c", "second", "if (a < 3)")


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
