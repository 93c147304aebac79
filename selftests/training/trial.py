# SPDX-License-Identifier: GPL-2.0-only
"""Run a training job on a slice, let one of its accelerators fail, and record both."""

import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "selftests", "net"))

import job      # noqa: E402

PROGRAM = os.path.join(TOP, "build/selftests/training/train")
BATCH, CHECKPOINT_STEPS = 8, 10     # as in train.c
# Steps that do not count: connections are new, and processes get their memory.
WARM_STEPS = 3


class Trial:
    """One run of the program. Times are in ns of CLOCK_MONOTONIC, which the driver uses, too."""

    def __init__(self, running, steps, directory, checkpoint=None, ranks=None, progress=lambda trial: None):
        self.ranks, self.running = ranks or running.ranks, running
        self.steps, self.lost, self.rejoined, self.pids = [], [], [], {}
        self.failed_ns, self.events = None, []
        words = (PROGRAM, steps, directory, *((checkpoint,) if checkpoint else ()))
        self.process = running.start(job.RING, *words, ranks=ranks)
        self.progress = progress

    def take(self, line):
        """Record a line of the program."""
        words = line.split()
        if words[0] == "process":
            self.pids[int(words[1])] = int(words[2])
        elif words[0] == "step":
            self.steps.append({"step": int(words[1]), "loss": float(words[2]), "computed_ns": int(words[3]),
                               "ended_ns": int(words[4])})
            self.progress(self)
        elif words[0] in ("lost", "rejoined"):
            mine = {"rank": int(words[1]), "step": int(words[2]), "at_ns": int(words[3])}
            (self.lost if words[0] == "lost" else self.rejoined).append(mine)

    def follow(self, fail_at=None, rank=None):
        """Follow the job to its end. After the step fail_at, the accelerator of the rank fails."""
        chip = self.running.accelerators()[rank] if fail_at else None
        watcher = Watcher(self.running.fabric) if fail_at else None
        timer = threading.Timer(job.SECONDS, self.process.kill)
        timer.start()
        for line in self.process.stdout:
            self.take(line)
            if fail_at and self.steps and self.steps[-1]["step"] == fail_at and not self.failed_ns:
                self.fail(rank, chip)
                self.events = watcher.events
        if watcher:
            watcher.end()
        status, said, errors = job.finish(self.process)
        timer.cancel()
        assert status == 0, (status, said, errors)

    def fail(self, rank, chip):
        """The accelerator fails, and its memory is lost at the same moment."""
        self.failed_ns = time.monotonic_ns()
        os.kill(self.pids[rank], signal.SIGUSR1)
        self.running.fabric.fault(f"accelerator_dead {chip}")

    def failed_step(self):
        """The last step that had ended when the accelerator failed."""
        return max(step["step"] for step in self.steps if step["ended_ns"] < self.failed_ns)

    def kept_steps(self):
        """The last record of each step: a step before a loss is repeated."""
        return sorted({step["step"]: step for step in self.steps}.values(), key=lambda step: step["step"])

    def throughput(self, after=0):
        """Samples in a second of the steps from this one on, and the share of computing."""
        steps = [step for step in self.kept_steps()[WARM_STEPS:] if step["step"] >= after]
        return self.throughput_of(steps)

    def throughput_before(self, step):
        """The same of steps up to this one."""
        return self.throughput_of([entry for entry in self.kept_steps()[WARM_STEPS:] if entry["step"] <= step])

    def throughput_of(self, steps):
        """By the first decile of the times of steps: other work of the machine delays some."""
        pairs = list(zip(steps, steps[1:]))
        step_ns = statistics.quantiles((step["ended_ns"] - last["ended_ns"] for last, step in pairs), n=10)[0]
        computing_ns = statistics.quantiles((step["computed_ns"] - last["ended_ns"] for last, step in pairs), n=10)[0]
        return {"samples_per_s": BATCH * self.ranks * 1e9 / step_ns, "steps": len(pairs), "ranks": self.ranks,
                "step_ms": step_ns / 1e6, "computing_share": computing_ns / step_ns}

    def phases(self):
        """Time from the failure to the end of the next step, in ms, by phase."""
        replaced = next(event for event in self.events if event["type"] == "replaced")
        times, ms = replaced["times"], 1e-6
        detect = times["detect-ns"] * ms
        relock = (times["settle-ns"] + times["relock-ns"]) * ms
        driver = (replaced["time-ns"] - self.failed_ns) * ms
        rejoined = self.rejoined[0]["at_ns"]
        first = next(step for step in self.steps if step["ended_ns"] > rejoined)
        return {"detect": detect, "replace": driver - detect - relock, "relock": relock,
                "rejoin": (rejoined - self.failed_ns) * ms - driver, "first step": (first["ended_ns"] - rejoined) * ms}


class Watcher:
    """Records the driver's events."""

    def __init__(self, fabric):
        self.events = []
        self.process = subprocess.Popen([job.place.MORPHCTL, "monitor", "--banner", "--fabric", fabric.name],
                                        stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            news = json.loads(line)
            if news["name"] == "event-ntf":
                self.events.append(news["msg"])

    def end(self):
        self.process.kill()
        self.reader.join()
        self.process.communicate()
