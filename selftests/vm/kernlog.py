# SPDX-License-Identifier: GPL-2.0-only
"""Find complaints in a kernel log: messages that no test may cause."""

import re

COMPLAINTS = (
    ("panic", r"Kernel panic - not syncing"),
    ("oops", r"Oops(:| \[#)|general protection fault|invalid opcode|unable to handle (page|kernel)|stack segment"),
    ("soft or hard lockup", r"BUG: soft lockup|hard LOCKUP"),
    ("sanitizer", r"(KASAN|KCSAN|KFENCE|KMSAN|UBSAN):"),
    ("lock order", r"possible (circular|recursive|irq lock)|inconsistent lock state|DEBUG_LOCKS_WARN_ON"
                   r"|bad unlock balance|lock held when returning|Invalid wait context|Voluntary context switch"),
    ("BUG", r"\bBUG\b|scheduling while atomic|sleeping function called"),
    ("WARNING", r"\bWARNING:"),
    ("RCU", r"rcu.*(detected (expedited )?stalls?|self-detected stall)|suspicious RCU usage"),
    ("hung task", r"INFO: task .* blocked for more than"),
    ("reference count", r"refcount_t:"),
    ("list", r"list_(add|del).*corruption"),
    ("memory", r"Objects remaining in|Slab cache still has objects|kmem_cache_destroy|unreferenced object"
               r"|[Dd]ouble free|page allocation failure"),
    ("names", r"cannot create duplicate filename|kobject_add_internal failed .*-EEXIST|debugfs: .*already present"),
    ("release", r"Device '.*' does not have a release\(\) function"),
)
COMPLAINT = re.compile("|".join(f"(?P<c{i}>{pattern})" for i, (_, pattern) in enumerate(COMPLAINTS)))
# Registers, guesses of the stack walker and so on. The saved log contains them.
NOISE = re.compile(r"^(\[ *[\d.]+\] ?)?"
                   r"(R(?!IP)..:|FS:|CS:|CR\d|DR\d|PKRU:|Code:| *</?(TASK|IRQ)>|  ?\? |Hardware name:|Modules linked)")
END = re.compile(r"---\[ end (trace|Kernel panic)")
EXCERPT_LINES = 120
QUIET_LINES = 12    # of context, after a complaint without end mark
TASK = re.compile(r"\] task:\S+ +state:(?P<state>\S) .* ppid:(?P<parent>\d+)")
TASK_END = re.compile(r"\] task:|</TASK>")
KTHREADD = "2"
ANSWER = "panic - not syncing: NMI"     # answer to unknown_nmi_panic


def scan(log):
    """List (kind, excerpt) of every complaint in a kernel log, each trace once."""
    lines = log.splitlines()
    found = []
    position = 0
    while position < len(lines):
        match = COMPLAINT.search(lines[position])
        if not match:
            position += 1
            continue
        end = excerpt_end(lines, position)
        found.append((COMPLAINTS[int(match.lastgroup[1:])][0], "\n".join(line for line in lines[position:end] if not NOISE.match(line))))
        position = end
    return found


def excerpt_end(lines, start):
    limit = min(start + EXCERPT_LINES, len(lines))
    for position in range(start, limit):
        if END.search(lines[position]):
            return position + 1
    return min(start + QUIET_LINES, limit)


def emulator_hangs(log):
    """Whether the emulator hangs, judged by the answer of a hung machine to an NMI.

    QEMU 7.2 may continue to run a breakpoint that the kernel has already removed after patching its
    text. This processor then traps for ever, and the patching one waits for it. Or the machine does
    not answer at all, which no kernel defect can cause.
    """
    return ANSWER not in log or "text_poke_bp_batch" in log and "exc_int3" in log


def hanging(log):
    """Stacks of tasks that may hang, from the kernel's list of all tasks: all but idle kernel
    threads."""
    lines = log.splitlines()
    told = []
    for position, line in enumerate(lines):
        task = TASK.search(line)
        if not task:
            continue
        stack = [line]
        for line in lines[position + 1:position + EXCERPT_LINES]:
            if TASK_END.search(line):
                break
            stack.append(line)
        if task["parent"] not in ("0", KTHREADD) or task["state"] not in "SI" or any("[morph" in line for line in stack):
            told += stack if task["state"] == "R" else [line for line in stack if not NOISE.match(line)]
    return "\n".join(told)
