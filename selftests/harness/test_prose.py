#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of scripts/static/prose: small source trees with one fault each. Prints TAP."""

import os
import subprocess
import sys
import tempfile

from run_tests import run_tests

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROSE = os.path.join(TOP, "scripts/static/prose")
WORDS = os.path.join(TOP, "scripts/static/prose.words")
EXCEPTIONS = "scripts/static/prose.exceptions"

CLEAN = {"guide.rst": "=====\nGuide\n=====\n\nThe driver reads the table.\n",
         "fabric.c": "/* The caller holds the lock. */\nint fabric;\n"}


def sentence(words):
    """A sentence with this number of words, in lines of at most 100 columns."""
    return "\n".join(" ".join(["Word" if at == 0 else "word"] + ["word"] * (min(words - at, 10) - 1))
                     for at in range(0, words, 10)) + ".\n"


def comment(text):
    return "/*\n" + "".join(f" * {line}\n" for line in text.splitlines()) + " */\n"


def check(changes, subjects=(), *arguments):
    """Exit status and output of the script on the clean source tree with these files, and with a
    commit for each subject."""
    with tempfile.TemporaryDirectory() as tree:
        for path, text in {**CLEAN, **changes}.items():
            os.makedirs(os.path.join(tree, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(tree, path), "w", encoding="utf-8") as file:
                file.write(text)
        git = ["git", "-C", tree, "-c", "user.name=test", "-c", "user.email=test@example.org"]
        subprocess.run([*git, "init", "--quiet"], check=True)
        for subject in subjects:
            subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message", subject], check=True)
            if "scripts/static/prose" in changes:
                subprocess.run([*git, "add", "scripts/static/prose"], check=True)
        done = subprocess.run([PROSE, "--tree", tree, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def accepted(changes, subjects=()):
    status, output = check(changes, subjects)
    for line in output.splitlines():
        print("#", line)
    return status == 0 and not output


def rejected(changes, wanted, subjects=()):
    """Whether the script reports this and nothing else."""
    status, output = check(changes, subjects)
    lines = output.splitlines()
    if status == 1 and len(lines) == 1 and wanted in lines[0]:
        return True
    print(f"# status {status}, wanted: {wanted}", *lines, sep="\n# ")
    return False


def message(text):
    return {"fabric.c": f'const char *text = "{text}";\n'}


def test_clean_tree_is_accepted():
    return accepted({})


# --- lengths --------------------------------------------------------------------------------------


def test_sentence_of_41_words_in_a_guide_is_rejected():
    short = "The driver reads the table.\n\n" * 20
    return accepted({"guide.rst": short + sentence(40)}) \
        and rejected({"guide.rst": short + sentence(41)}, "guide.rst:41: sentence of 41 words, at most 40")


def test_percentile_of_26_words_in_a_guide_is_rejected():
    def guide(words):
        return {"guide.rst": "The driver reads the table.\n\n" * 8 + (sentence(words) + "\n") * 2}
    return accepted(guide(25)) \
        and rejected(guide(26), "guide.rst:1: 90th percentile of sentences has 26 words, at most 25")


def test_sentence_of_36_words_in_a_comment_is_rejected():
    return accepted({"fabric.c": comment(sentence(35))}) \
        and rejected({"fabric.c": comment(sentence(36))}, "fabric.c:2: sentence of 36 words, at most 35")


def test_comments_of_each_language_are_read():
    text = " ".join(sentence(36).split("\n"))[:90].rsplit(" ", 1)[0]
    parts = [text, " ".join(sentence(36).split())[len(text) + 1:]]
    hashes = "".join(f"# {part}\n" for part in parts)
    trees = ({"run.py": hashes}, {"run.py": f'"""{parts[0]}\n{parts[1]}"""\n'}, {"run": "#!/bin/sh\n" + hashes},
             {"Makefile": hashes}, {"a.yaml": hashes}, {"a.c": "".join(f"// {part}\n" for part in parts)},
             {"a.pml": comment("\n".join(parts))})
    return all(rejected(tree, "sentence of 36 words, at most 35") for tree in trees)


def test_each_kind_of_guide_is_read():
    short = "The driver reads the table.\n\n"
    long = sentence(41)
    trees = ({"a.md": short * 20 + long}, {"a.7": ".SH NAME\n" + short.replace("\n\n", "\n.PP\n") * 20 + long},
             {"Documentation/ABI/testing/a": "What: /dev/a\nDescription:\n" + f"\n{short}" * 20 + long})
    return all(rejected(tree, "sentence of 41 words, at most 40") for tree in trees)


def test_literal_blocks_and_tables_are_no_sentences():
    block = "".join(f"    {line}\n" for line in sentence(60).splitlines())
    cells = "".join(f"cell  {line}\n" for line in sentence(60).splitlines())
    border = "====  ==========\n"
    return accepted({"guide.rst": f"The driver reads this::\n\n{block}\n{border}a     b\n{border}{cells}{border}\nEnd.\n",
                     "a.md": f"The driver reads this:\n\n{block}\n```\n{sentence(60)}```\n"})


def test_items_of_a_list_are_sentences():
    return accepted({"guide.rst": "The driver reads:\n\n" + "* a table of many rows\n" * 15})


def test_code_counts_as_one_word():
    return accepted({"fabric.c": comment(sentence(34)[:-2] + "\n`one two three four`.")})


# --- columns --------------------------------------------------------------------------------------


def test_wide_line_is_rejected():
    def line(width):
        return "x" * (width - 3)
    return accepted({"guide.rst": line(103) + "\n", "fabric.c": f"/* {line(97)} */\n"}) \
        and rejected({"guide.rst": line(104) + "\n"}, "guide.rst:1: line of 101 columns, at most 100") \
        and rejected({"guide.rst": f"Output::\n\n    {line(100)}\n"}, "guide.rst:3: line of 101 columns") \
        and rejected({"fabric.c": f"/* {line(98)} */\n"}, "fabric.c:1: line of 101 columns, at most 100")


def test_table_of_121_columns_is_rejected():
    def table(width):
        row = "=" * 10 + " " + "=" * (width - 11) + "\n"
        return {"guide.rst": f"{row}a          b\n{row}"}
    return accepted(table(120)) and not accepted(table(121))


# --- words ----------------------------------------------------------------------------------------


def test_each_word_rejects_and_accepts_its_sentences():
    with open(WORDS, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    tree = {f"{kind}{number}.rst": row[column] + "\n" for number, row in enumerate(rows)
            for kind, column in (("rejected", 2), ("accepted", 3))}
    found = check(tree)[1].splitlines()
    for line in found:
        if line.startswith("accepted"):
            print("#", line)
    return len(rows) > 20 and not any(line.startswith("accepted") for line in found) and all(
        any(line.startswith(f"rejected{number}.rst:") and f": write {row[1]}: " in line for line in found)
        for number, row in enumerate(rows))


def test_words_are_rejected_in_each_kind_of_text():
    texts = ({"guide.rst": "The index is made anew.\n"}, {"guide.rst": "= =\na b\n= =\n1 anew\n= =\n"},
             {"fabric.c": "/* The index is made anew. */\n"}, message("the index is made anew"),
             {"a.def": 'OPTION("a", "build the index anew")\n'}, {"run.py": 'print("build the index anew")\n'},
             {"a.bats": '#!/usr/bin/env bats\n@test "the index is made anew" {\n}\n'},
             {"a.yaml": "doc: >-\n  The index\n  is made anew.\n"})
    return all(rejected(text, "'anew': write again") for text in texts)


def test_code_has_no_words():
    return accepted({"guide.rst": "The option ``anew`` exists.\n", "fabric.c": "int anew;\n/* `anew` is a variable. */\n",
                     "run.py": 'OPTION = "anew"\nprint("# of rows")\n', "run": "#!/bin/sh\necho \"is # anew\"\n"})


def test_ring_beside_a_buffer_is_rejected():
    return all(rejected(message(text), "write queue") for text in
               ("the ring buffer is full", "the entry of the ring", "thread of a ring", "mmap of a ring")) \
        and accepted(message("a ring of four servers"))


def test_floor_as_a_bound_is_accepted():
    return accepted(message("the noise floor of receivers")) and rejected(message("calls to a lower floor: %u, another floor"), "floor")


def test_wrong_rule_is_rejected():
    def rule(text):
        with tempfile.NamedTemporaryFile("w", suffix=".words", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            return check({}, (), "--words", file.name)
    return "the pattern does not find: It reads." in rule("bad\tgood\tIt reads.\tIt reads well.\n")[1] \
        and "the pattern finds: It is bad." in rule("bad\tgood\tIt is bad.\tIt is bad.\n")[1] \
        and "a rule is pattern" in rule("bad\tgood\tIt is bad.\n")[1] \
        and rule("bad\tgood\tIt is bad.\tIt is good.\n") == (0, "")


# --- commits --------------------------------------------------------------------------------------

FREE = ("Anything goes before the script",)


def history(*subjects):
    """A source tree that gets the script, and its history with these subjects."""
    return {"scripts/static/prose": "#!/bin/sh\n"}, (*FREE, "static: check prose", *subjects)


def test_imperative_subjects_are_accepted():
    return accepted(*history(
        "core: reprogram schedule-held elements that drifted", "selftests/{abi,sweep}: wrap comments",
        "recovery, txn: report events late", "mpi: pass ranks", "profiles: need fewer files", "sim: bring lasers up",
        "docs: re-read pages", 'Revert "the fast planner"', "check: " + "x" * 30 + " " + "y" * 34))


def test_other_subjects_are_rejected():
    words = ("what", "who", "where", "whose", "a", "the", "that", "The", "fixes", "fixed", "fixing", "plans'")
    wrong = {**{f"area: {word} object": f"'{word}' is no imperative verb" for word in words},
             "Update the driver": "not of the form 'area: verb object'", "area: update": "not of the form",
             "check: " + "x" * 30 + " " + "y" * 35: "73 characters, at most 72"}
    found = check(*history(*wrong))[1].splitlines()
    return len(found) == len(wrong) and all(reason in line and line.endswith(f": {text}")
                                            for (text, reason), line in zip(wrong.items(), reversed(found)))


def test_subjects_before_the_script_are_free():
    return accepted({}, ("Anything goes without the script",)) and accepted(*history())


# --- exceptions -----------------------------------------------------------------------------------


def test_exceptions_need_a_reason_and_a_use():
    wrong = message("the index is made anew")
    row = "fabric.c\t'anew'\tthe name of a policy\n"
    return accepted({**wrong, EXCEPTIONS: row}) \
        and rejected({EXCEPTIONS: row}, "fits no finding: fabric.c: 'anew'") \
        and "lines of path, part of the finding and reason" in check({**wrong, EXCEPTIONS: "fabric.c\t'anew'\n"})[1]


def test_eleventh_exception_is_rejected():
    words = [f"fabric.c\t: word{number} \treason\n" for number in range(11)]
    return "at most 10 lines" in check({EXCEPTIONS: "".join(words)})[1] \
        and "at most 10 lines" not in check({EXCEPTIONS: "".join(words[:10])})[1]


def test_figures_have_a_line_for_each_area():
    status, output = check({"kmod/a.c": "/* The index is made anew. */\n"}, (), "--figures")
    rows = {row.split()[0]: row.split()[1:] for row in output.splitlines()}
    return status == 0 and rows["kmod"] == ["1", "5", "5", "5", "5", "1", "200.00"] and rows["guides"][:4] == ["1", "5", "5", "5"]


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
