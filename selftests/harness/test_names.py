#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of scripts/static/names: small source trees with one fault each. Prints TAP."""

import os
import subprocess
import sys
import tempfile

from run_tests import run_tests

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NAMES = os.path.join(TOP, "scripts/static/names")
TABLE, PUBLIC = "Documentation/names.tsv", "scripts/static/names.public"

# A source tree without a fault. Each test changes some of its files.
CLEAN = {
    TABLE: "# kind\told\tnew\tinstead\twhere\tstays\n"
           "function\tmorph_old\tmorph_new\n"
           "function\tmorph_gone\t-\tmorph_new() with flag 1\n"
           "path\tlibmorph/src/old.c\tlibmorph/client/new.c\n"
           "kernel\tmorph_plan\tmorph_protection\t\tkmod/\t\n"
           "verb\tplan\tschedule plan\t\t\talias\n",
    PUBLIC: "# public names\nmorph_old\nmorph_gone\nmorph_same\n",
    "libmorph/libmorph.map": "LIBMORPH_1 {\nglobal:\n\tmorph_new;\n\tmorph_same;\n};\n",
    "libmorph/client/new.c": "int morph_new(int flags) { return morph_same(flags); }\nstruct morph_plan;\n",
    "kmod/core/slice/protection.c": "struct morph_protection;\n",
    "tools/commands.def": 'COMMAND("schedule", "plan")\n',
}


def check(changes):
    """Exit status and output of the script on the clean source tree with these files. None deletes
    a file."""
    with tempfile.TemporaryDirectory() as tree:
        for path, text in {**CLEAN, **changes}.items():
            if text is None:
                continue
            os.makedirs(os.path.join(tree, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(tree, path), "w", encoding="utf-8") as file:
                file.write(text)
        subprocess.run(["git", "init", "--quiet", tree], check=True)
        done = subprocess.run([NAMES, "--tree", tree], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def rejected(changes, sentence):
    status, output = check(changes)
    if status == 1 and sentence in output and output.endswith("1 faults\n"):
        return True
    print(*("# " + line for line in output.splitlines()), sep="\n")
    return False


def test_clean_tree_passes():
    return check({}) == (0, "5 names, 0 faults\n")


def test_stale_function_is_rejected():
    return rejected({"tools/main.c": "int main(void) { return morph_old(); }\n"}, "tools/main.c: still has morph_old")


def test_longer_name_is_another():
    return check({"tools/main.c": "int morph_old_and_new, not_morph_old;\n"})[0] == 0


def test_stale_path_is_rejected():
    return rejected({"README.md": "See libmorph/src/old.c.\n"}, "README.md: still has libmorph/src/old.c")


def test_old_file_is_rejected():
    return rejected({"libmorph/src/old.c": "int x;\n"}, "libmorph/src/old.c: the table says")


def test_old_name_counts_where_the_table_says():
    return rejected({"kmod/core/txn/txn.c": "struct morph_plan;\n"}, "kmod/core/txn/txn.c: still has morph_plan")


def test_stale_verb_is_rejected_unless_it_is_an_alias():
    guide = {"Documentation/guide.rst": "``morphctl plan all-reduce``\n"}
    table = CLEAN[TABLE].replace("alias", "")
    return check(guide)[0] == 0 and rejected({**guide, TABLE: table}, "guide.rst: still has plan")


def test_internal_name_is_rejected_in_what_is_installed():
    table = {TABLE: CLEAN[TABLE] + "function\tmorph_inner\t-\tonly tests call it\t\tinternal\n",
             "libmorph/client/inner.c": "int morph_inner;\n"}
    return check(table)[0] == 0 and rejected({**table, "libmorph/include/morph/inner.h": "int morph_inner;\n"},
                                             "inner.h: still has morph_inner, which is internal now")


def test_missing_new_name_is_rejected():
    return rejected({TABLE: CLEAN[TABLE] + "function\tmorph_a\tmorph_b\n"}, "morph_a: morph_b does not exist")


def test_missing_new_path_is_rejected():
    return rejected({TABLE: CLEAN[TABLE] + "path\ta.c\tb.c\n"}, "a.c: b.c does not exist")


def test_missing_replacement_is_rejected():
    return rejected({TABLE: CLEAN[TABLE] + "function\tmorph_a\t-\tmorph_b()\n"}, "morph_a: morph_b does not exist")


def test_gone_name_without_advice_is_rejected():
    return rejected({TABLE: CLEAN[TABLE] + "function\tmorph_a\t-\n"}, "morph_a: neither a new name")


def test_repeated_name_is_rejected():
    return rejected({TABLE: CLEAN[TABLE] + "function\tmorph_old\tmorph_same\n"}, "morph_old: repeated")


def test_malformed_line_is_rejected():
    return rejected({TABLE: CLEAN[TABLE] + "function morph_a morph_b\n"}, "line 6: not kind")


def test_unknown_kind_is_rejected():
    return rejected({TABLE: CLEAN[TABLE] + "thing\tmorph_a\tmorph_new\n"}, "morph_a: no kind 'thing'")


def test_public_name_that_left_is_rejected():
    return rejected({PUBLIC: CLEAN[PUBLIC] + "morph_left\n"}, "morph_left is not public any more")


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
