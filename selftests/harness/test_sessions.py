#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of selftests/pages/sessions --lists: source trees of one page. Prints TAP."""

import importlib.machinery
import importlib.util
import os
import sys
import tempfile

from run_tests import run_tests

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = "Documentation/page.rst"


def load_sessions():
    """The script as a module. Its name has no extension."""
    loader = importlib.machinery.SourceFileLoader("sessions", os.path.join(TOP, "selftests", "pages", "sessions"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("sessions", loader))
    loader.exec_module(module)
    return module


def unlisted(text, path=PAGE, lists=None):
    """The faults of a source tree with this page, if the lists contain its sessions with "# "."""
    with tempfile.TemporaryDirectory() as tree:
        os.makedirs(os.path.join(tree, os.path.dirname(path)))
        with open(os.path.join(tree, path), "w", encoding="utf-8") as file:
            file.write(text)
        return list(load_sessions().unlisted(tree, {"# ": (PAGE,), "$ ": ()} if lists is None else lists))


def test_listed_session_passes():
    return not unlisted("Enter::\n\n    # morphctl health\n    ok\n")


def test_block_without_prompt_passes():
    return not unlisted("Form::\n\n    morphctl schedule plan --from-chakra PREFIX\n", lists={})


def test_session_in_no_list_is_rejected():
    return unlisted("Enter::\n\n    # morphctl health\n", lists={}) == \
        [f'{PAGE}:3: session with the prompt "# " is in no list']


def test_session_in_the_list_of_another_prompt_is_rejected():
    return len(unlisted("Enter::\n\n    $ morphctl health\n")) == 1


def test_prompt_with_a_word_is_rejected():
    return len(unlisted("Enter::\n\n    here# morphctl health\n")) == 1


def test_page_in_markdown_is_read():
    return len(unlisted("Enter:\n\n    # morphctl health\n", path="libmorph/README.md")) == 1


def test_build_directory_is_not_read():
    return not unlisted("Enter:\n\n    # morphctl health\n", path="build/README.md")


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
