#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the test harness: readers of KTAP and of kernel logs, and others. Prints TAP."""

import argparse
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "scripts"), os.path.join(TOP, "selftests/vm")]

import kernlog      # noqa: E402
import ktap         # noqa: E402
import leaks        # noqa: E402
import machine      # noqa: E402
import process      # noqa: E402
import resident     # noqa: E402
import testlist     # noqa: E402
import times        # noqa: E402
from run_tests import run_tests  # noqa: E402


def flat(text):
    return [result.line() for result in ktap.parse(textwrap.dedent(text))]


def judged(text, status, timed_out=False):
    return [result.line() for result in ktap.judge("p", textwrap.dedent(text), status, timed_out)]


def kinds(log):
    return [kind for kind, _ in kernlog.scan(textwrap.dedent(log))]


def same(found, wanted):
    if found != wanted:
        print(f"# found  {found}\n# wanted {wanted}")
    return found == wanted


def test_points_are_counted_as_leaves():
    found = flat("""\
        TAP version 13
        1..2
          TAP version 13
          1..2
          ok 1 a
          not ok 2 b # because
        not ok 1 outer
        ok 2 c # SKIP no such hardware
        """)
    return same(found, ["ok outer/a", "not ok outer/b", "ok c # SKIP no such hardware"])


def test_parent_that_fails_alone_counts():
    return same(flat("1..1\n  1..1\n  ok 1 a\nnot ok 1 outer\n"), ["ok outer/a", "not ok outer"])


def test_lost_points_fail():
    return same(flat("1..2\nok 1 a\n"), ["ok a", "not ok planned but not reported: 1"])


def test_lost_nested_points_fail_their_parent():
    return same(flat("1..1\n  1..2\n  ok 1 a\nok 1 outer\n"), ["ok outer/a", "not ok outer"])


def test_plan_may_come_last():
    return same(flat("ok 1 a\nok 2 b\n1..2\n"), ["ok a", "ok b"])


def test_programs_may_follow_each_other():
    found = flat("TAP version 13\n1..2\nok 1 a\nTAP version 13\n1..1\nok 1 b\n")
    return same(found, ["ok a", "not ok planned but not reported: 1", "ok b"])


def test_failing_skip_is_a_failure():
    return same(flat("1..1\nnot ok 1 a # SKIP no\n"), ["not ok a"])


def test_expected_failure_passes():
    return same(flat("1..1\nnot ok 1 a # XFAIL known\n"), ["ok a"])


def test_crash_after_the_last_point_fails():
    return same(judged("1..1\nok 1 a\n", -11), ["ok p: a", "not ok p: ended with status -11"])


def test_silent_program_fails():
    return same(judged("", 0), ["not ok p: reported nothing"])


def test_program_that_can_not_run_here_is_skipped():
    return same(judged("1..0 # SKIP needs root\n", 4), ["ok p # SKIP needs root"])


def test_program_out_of_time_fails():
    return same(judged("1..1\nok 1 a\n", -9, True), ["ok p: a", "not ok p: did not end in time"])


def test_flat_lines_are_read_back():
    lines = ["ok p: a", "not ok p: b", "ok p: c # SKIP why not"]
    return (same([ktap.read_flat(line).line() for line in lines], lines)
            and ktap.read_flat("  ok p") is None)


COMPLAINTS = (
    ("WARNING", "[    5.0] WARNING: CPU: 0 PID: 1 at drivers/x.c:5 f+0x1/0x2 [m]"),
    ("BUG", "[    5.0] BUG: kernel NULL pointer dereference, address: 0000000000000008"),
    ("BUG", "[    5.0] BUG kmalloc-128 (Tainted: G           OE     ): Poison overwritten"),
    ("BUG", "BUG: scheduling while atomic: cat/12/0x00000002"),
    ("soft or hard lockup", "watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [insmod:1]"),
    ("oops", "general protection fault, probably for non-canonical address 0xdead: 0000 [#1] "
             "PREEMPT SMP"),
    ("panic", "Kernel panic - not syncing: Fatal exception"),
    ("RCU", "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:"),
    ("RCU", "WARNING: suspicious RCU usage".replace("WARNING: ", "")),
    ("hung task", "INFO: task kworker/0:1:12 blocked for more than 60 seconds."),
    ("reference count", "refcount_t: underflow; use-after-free."),
    ("sanitizer", "UBSAN: array-index-out-of-bounds in a.c:1:2"),
    ("lock order", "DEBUG_LOCKS_WARN_ON(lock->magic != lock)"),
    ("memory", "kmem_cache_destroy morph_txn: Slab cache still has objects"),
    ("memory", "BUGS morph_txn: Objects remaining in morph_txn on __kmem_cache_shutdown()".replace("BUGS ", "")),
    ("list", "list_del corruption. prev->next should be 0, but was 1"),
    ("names", "sysfs: cannot create duplicate filename '/class/morph'"),
)


def test_every_complaint_is_found():
    return all([same(kinds(line), [kind]) for kind, line in COMPLAINTS])


def test_everyday_lines_are_no_complaints():
    log = """\
        [    0.0] Kernel command line: panic=-1 oops=panic slub_debug=FZPU
        [    0.1] x86/mm: Checked W+X mappings: passed, no W+X pages found.
        [    3.0] morph: loading out-of-tree module taints kernel.
        [    3.1] morph: module verification failed: signature and/or required key missing - tainting kernel
        [    3.2] systemd-udevd[80]: starting version 252; DEBUG off
        """
    return same(kinds(log), [])


def test_trace_is_reported_once_and_without_registers():
    log = textwrap.dedent("""\
        [    5.0] WARNING: CPU: 0 PID: 1 at x.c:5 f+0x1/0x2 [m]
        [    5.0] RIP: 0010:f+0x1/0x2 [m]
        [    5.0] RSP: 0018:ffffc900003c3a78 EFLAGS: 00000246
        [    5.0] Call Trace:
        [    5.0]  ? guess+0x1/0x2
        [    5.0]  caller+0x1/0x2
        [    5.0] ---[ end trace 0000000000000000 ]---
        [    6.0] WARNING: CPU: 0 PID: 1 at y.c:6 g+0x1/0x2 [m]
        """)
    found = kernlog.scan(log)
    first = found[0][1]
    return same(len(found), 2) and "RIP:" in first and "caller" in first and "RSP" not in first and "guess" not in first


def test_leak_of_unloaded_code_is_distinguished_from_other_memory():
    ours = "kmalloc-96: 1 f age=1\n        kmalloc_trace+0x1/0x2\n        0xffffffffc0300000\n"
    theirs = "kmalloc-96: 1 f age=1\n        p9_fid_create+0x1/0x2 [9pnet]\n        0xffffffffc0300000\n"
    return (leaks.allocated_by_gone(ours, set()) and not leaks.allocated_by_gone(theirs, set())
            and not leaks.allocated_by_gone(ours, {"ffffffffc0300000"}))


def test_leak_is_found_where_modules_lie_without_kaslr():
    return leaks.allocated_by_gone("kmalloc-96: 1 f age=1\n        0xffffffffa0300000\n", set())


def test_tasks_that_may_hang_are_distinguished_from_idle_threads():
    log = """
        [    8.0] task:kworker/0:0     state:I stack:0     pid:9     ppid:2      flags:0x00004000
        [    8.0] Call Trace:
        [    8.0]  worker_thread+0x1/0x2
        [    8.0]  </TASK>
        [    8.1] task:kworker/1:0     state:S stack:0     pid:8     ppid:2      flags:0x00004000
        [    8.1]  morph_exec_wait+0x1/0x2 [morph]
        [    8.1]  </TASK>
        [    8.2] task:stress          state:S stack:0     pid:180   tgid:180   ppid:177    flags:0x00000002
        [    8.2]  ? guess+0x75/0x190
        [    8.2]  pipe_read+0x75/0x190
        [    8.2]  </TASK>
        [    8.3] runnable tasks:
    """
    told = kernlog.hanging(textwrap.dedent(log)).splitlines()
    return same([line.split()[2] for line in told],
                ["task:kworker/1:0", "morph_exec_wait+0x1/0x2", "task:stress", "pipe_read+0x75/0x190"])


def test_emulator_that_hangs_is_distinguished_from_the_machine():
    answer = "[    9.0] Kernel panic - not syncing: NMI: Not continuing\n"
    patched = "[    9.1]  text_poke_bp_batch+0xb7/0x300\n"
    trapped = "[    9.2] RIP: 0010:exc_int3+0x4e/0x120\n"
    return kernlog.emulator_hangs(answer + patched + trapped) and kernlog.emulator_hangs("") and \
        not kernlog.emulator_hangs(answer) and not kernlog.emulator_hangs(answer + patched)


def suite_that_runs(*runs):
    """Output of the suite for one group with tests a and b. The machines of the group report and
    end as given, one after the other."""
    suite = load_suite()
    machines = iter(runs)
    suite.command = lambda group, tests: ["sh", "-c", "printf '{}'; exit {}".format(*next(machines))]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        good = suite.run_group("main", [testlist.Test("a"), testlist.Test("b")])
    return [line for line in printed.getvalue().splitlines() if not times.read(line)], good


def test_another_machine_goes_on_where_the_emulator_hung():
    printed, good = suite_that_runs(("ok a: one\\n# end a\\n", 123), ("ok b: two\\n# end b\\n", 0))
    return good and same(printed, ["ok vm 6.1: a: one", "# 6.1 main: another machine goes on with b", "ok vm 6.1: b: two"])


def test_emulator_that_always_hangs_fails():
    printed, good = suite_that_runs(*[("", 123)] * 3)
    return not good and same(printed[-1], "not ok vm 6.1: b: the machine ended first")


def test_machine_that_hangs_fails_at_once():
    printed, good = suite_that_runs(("ok a: one\\n# end a\\n", 124))
    return not good and same(printed[-1], "not ok vm 6.1: b: the machine ended first")


def test_debug_kernel_is_one_of_its_version():
    test = testlist.Test("a", kernels=("6.1",))
    return test.runs_on("6.1-kasan") and not test.runs_on("6.12-kasan")


def test_group_gets_its_modules_and_its_clock():
    suite = load_suite()
    plain, counted = (suite.command("a", [testlist.parse_line(words)]) for words in
                      (["a"], ["a", "build=holds", "count"]))
    return ("--count" in counted and counted[counted.index("--kmod") + 1].endswith("kmod-6.1-holds")
            and "--count" not in plain and plain[plain.index("--kmod") + 1].endswith("kmod-6.1"))


def test_only_debug_kernels_take_longer():
    test = testlist.Test("a", timeout=10)
    return test.seconds("6.1") == 10 and test.seconds("6.1-kasan") > 10


def test_program_that_hangs_is_ended_with_its_children():
    output, _, timed_out = process.run(["sh", "-c", "echo begun; sleep 1000 & wait"], 1)
    return timed_out and output == "begun\n"


def given_up(boot, silence, booted, says=""):
    """Whether a machine counts as hung if it prints a number of bytes at its beginning and needs
    1.5 seconds."""
    with tempfile.TemporaryDirectory() as results:
        with subprocess.Popen(["sh", "-c", f"printf '{says}'; sleep 1.5"], stdout=subprocess.PIPE) as qemu:
            copier = machine.Copier(qemu.stdout, os.path.join(results, "output"), None)
            copier.start()
            up = results if booted else os.path.join(results, "booted")
            hung = machine.hangs(qemu, machine.Patience(boot, silence, 100), up, copier)
            qemu.kill()
            copier.join()
    return hung


def test_machine_that_does_not_come_up_is_given_up():
    return given_up(boot=0, silence=100, booted=False) and not given_up(boot=100, silence=0, booted=False)


def test_machine_that_falls_silent_is_given_up():
    return given_up(boot=100, silence=0.1, booted=True, says="word") and \
        not given_up(boot=0, silence=100, booted=True, says="word")


def test_machine_whose_clock_runs_away_is_ended():
    with tempfile.TemporaryDirectory() as results:
        booted = os.path.join(results, "booted")
        ends = []
        for uptime in ("502.54", "6.05"):
            with open(booted, "w", encoding="ascii") as file:
                file.write(uptime)
            with subprocess.Popen(["sleep", "1.5"], stdout=subprocess.PIPE) as qemu:
                copier = machine.Copier(qemu.stdout, os.path.join(results, "output"), None)
                copier.start()
                machine.hangs(qemu, machine.Patience(100, 100, 100), booted, copier)
                ends.append(qemu.wait())
                copier.join()
    return ends[0] == -signal.SIGKILL and ends[1] == 0


def check_reports(report, *arguments):
    """Output and status of scripts/check. Each stage prints the same report; $stage is its name."""
    with tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False) as make:
        os.fchmod(make.fileno(), 0o755)
        make.write(f'#!/bin/sh\nfor stage; do :; done; echo "{report}"\n')
    try:
        done = subprocess.run([os.path.join(TOP, "scripts/check"), *arguments], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "MAKE": make.name}, check=False)
    finally:
        os.remove(make.name)
    return done.stdout.splitlines(), done.returncode


def stages_run(*arguments):
    """The stages that scripts/check runs if each passes at once."""
    lines, _ = check_reports("ok $stage", *arguments)
    return [line.removeprefix("ok ") for line in lines if line.startswith("ok ")]


def test_links_are_followed_and_kept():
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        os.mkdir(os.path.join(folder, "real"))
        for name, target in (("library", "real"), ("real/short", "long"), ("real/long", "../real/file")):
            os.symlink(target, os.path.join(folder, name))
        with open(os.path.join(folder, "real/file"), "w", encoding="ascii"):
            pass
        steps = [step.removeprefix(folder + "/") for step in resident.walk(os.path.join(folder, "library/short"))
                 if step.startswith(folder + "/")]
    return same(steps, ["library", "real", "real/short", "real/long", "real", "real/file"])


def test_campaign_without_time_is_not_begun():
    return same(stages_run("--within", "10", "first", "--", "long:20", "short:2"), ["first", "short"])


def test_stage_that_hangs_is_ended_in_time():
    lines, status = check_reports('ok begun"; sleep 1000; "', "--within", "0.02", "stage")
    return same((lines[-2:], status), (["failed: stage: did not end in time", "1 passed, 1 failed"], 1))


def test_optional_stage_may_be_ended_in_time():
    hangs_at_last = 'ok $stage"; [ $stage = first ] || sleep 1000; : "'
    lines, status = check_reports(hangs_at_last, "--within", "0.03", "first", "--", "last:0.001")
    return same((lines[-1], status), ("2 passed, 0 failed", 0))


def test_times_are_added_by_stage():
    report = times.Time("static", "$stage", 3, 2).line() + "\nok $stage"
    lines, _ = check_reports(report, "one", "two")
    table = [line.split() for line in lines if line.startswith("# static")]
    return same(table, [["#", "static", "4", "one", "2,", "two", "2"]])


def test_time_since_the_start_counts():
    return same(stages_run("--within", "10", "--since", str(time.time() - 540), "first", "--", "short:2"), ["first"])


def test_skip_that_is_not_listed_fails():
    lines, status = check_reports("ok vm 6.1: a: b # SKIP in no list", "stage")
    return same((lines[-1], status), ("0 passed, 1 failed", 1))


def test_skip_is_expected_by_name_and_reason():
    skip = testlist.Skip("vm 6.1-*: a: *", "no * here")
    expected = ktap.Result("vm 6.1-kasan: a: b", True, True, "no card here")
    other_kernel = ktap.Result("vm 6.12: a: b", True, True, "no card here")
    other_reason = ktap.Result("vm 6.1-kasan: a: b", True, True, "out of memory")
    return skip.allows(expected) and not skip.allows(other_kernel) and not skip.allows(other_reason)


def load_suite(modules=TOP):
    """Run selftests/vm/suite for 6.1."""
    loader = importlib.machinery.SourceFileLoader("suite", os.path.join(TOP, "selftests/vm/suite"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("suite", loader))
    loader.exec_module(module)
    return module.Suite(argparse.Namespace(kernel="6.1", programs=TOP, modules=modules))


def suite_lines(differences, *results):
    """How the suite reports results if programs and modules belong to two versions."""
    suite = load_suite(modules="/old/abi-1")
    suite.differences = [testlist.Difference(*words) for words in differences]
    return [suite.judge(ktap.Result(*result))[1] for result in results]


def test_expected_difference_passes():
    found = suite_lines([("*: txn: a", "no such verb")], ("txn: a", False), ("txn: b", False))
    return same(found, ["ok vm 6.1, modules of abi-1: txn: a # XFAIL no such verb",
                        "not ok vm 6.1, modules of abi-1: txn: b"])


def test_difference_that_is_gone_fails():
    found = suite_lines([("*: txn: a", "no such verb")], ("txn: a", True))
    return same([ktap.read_flat(line).passed for line in found], [False])


def test_race_may_pass_or_fail():
    found = suite_lines([("*: txn: a", "a race: who is first")], ("txn: a", True), ("txn: a", False))
    return same([ktap.read_flat(line).passed for line in found], [True, True])


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
