# SPDX-License-Identifier: GPL-2.0-only
"""Common code of the campaign's scenes: simulated fabrics, actors, and checks.

    scene = Scene("name", seed, directory)
    scene.fabrics.append(Fabric(scene.name, "server8"))
    actor = Actor(scene, "tenant", 0, 0, ...)   # a process of build/selftests/stress/actor
    scene.prove(scene.fabrics, proof.AT_REST)       # raises Wrong
"""

import contextlib
import glob
import json
import mmap
import os
import random
import signal
import struct
import subprocess
import time

import proof
import snapshot

TOP = snapshot.TOP
ACTOR = os.path.join(TOP, "build/selftests/stress/actor")
CONFIGFS = "/sys/kernel/config/morph_sim"
SIM_DEBUGFS = "/sys/kernel/debug/morph_sim"
SLOWNESS = int(os.environ.get("SLOWNESS", 1))
PATIENCE = 90 * SLOWNESS


class Wrong(Exception):
    """A rule was violated; its arguments are descriptions."""


def say(line):
    """Print a line for the user."""
    with open(int(os.environ.get("PROGRESS_FD", 2)), "w", encoding="ascii", closefd=False) as file:
        file.write(f"# {line}\n")


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def wait_for(what, condition, patience=PATIENCE):
    """Wait until the condition returns no false value, and return that value."""
    until = time.monotonic() + patience
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > until:
            raise Wrong(f"waited in vain: {what}")
        time.sleep(0.02)


class Fabric:
    """A simulated fabric."""

    def __init__(self, name, profile, **settings):
        self.name = name
        self.profile = proof.morphprofile.load(os.path.join(TOP, "build/profiles", profile + ".bin"))
        os.mkdir(f"{CONFIGFS}/{name}")
        for key, value in {"profile": profile, **settings}.items():
            write(f"{CONFIGFS}/{name}/{key}", str(value))
        self.barred = {kind: set() for kind in ("accelerator", "guide", "element")}

    def plug(self, net):
        """Bring it to life, with what is barred cordoned before any tenant may come."""
        write(f"{CONFIGFS}/{self.name}/live", "1")
        number = next(fabric["id"] for fabric in net.whole_dump("fabric") if fabric["name"] == self.name)
        for kind, members in self.barred.items():
            for index in members:
                net.request("HARDWARE_SET", fabric=number, part=proof.PARTS[kind], index=index, cordoned=b"\1")
        os.chmod(f"/dev/morph/fabric{number}", 0o666)
        return number

    def pull(self):
        write(f"{CONFIGFS}/{self.name}/live", "0")

    def remove(self):
        os.rmdir(f"{CONFIGFS}/{self.name}")

    def control(self, file, line):
        try:
            write(f"{SIM_DEBUGFS}/{self.name}/{file}", line)
        except OSError:
            pass    # the fabric has no such part, or the fault exists already


class Counter:
    """A page in which actors count their acts."""

    def __init__(self, directory):
        self.path = os.path.join(directory, "count")
        with open(self.path, "wb") as file:
            file.write(bytes(mmap.PAGESIZE))
        os.chmod(self.path, 0o666)
        with open(self.path, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), mmap.PAGESIZE)

    @property
    def value(self):
        return struct.unpack_from("I", self.page)[0]


class Actor:
    """One process of an actor."""

    def __init__(self, scene, role, index, life, *words, fds=()):
        self.role, self.index, self.life = role, index, life
        self.seed = random.Random(f"{scene.seed}:{role}:{index}:{life}").getrandbits(63)
        self.scene, self.log = scene, os.path.join(scene.directory, f"{role}{index}.{life}")
        self.busy = False
        self.process = subprocess.Popen([ACTOR, role, str(self.seed), self.log, scene.counter.path, *map(str, words)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, pass_fds=fds)
        os.set_blocking(self.process.stdout.fileno(), False)
        scene.alive.add(self)

    def command(self, line):
        self.process.stdin.write(f"{line}\n".encode())
        self.busy = True

    def ready(self):
        """Has it answered?"""
        if self.busy and self.process.stdout.read():
            self.busy = False
        if self.busy and self.process.poll() is not None:
            raise Wrong(f"{self.role} {self.index} has ended with status {self.process.returncode}")
        return not self.busy

    def pause(self):
        """Wait until it is idle, and in no call."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        self.scene.alive.discard(self)
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def lines(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="ascii") as file:
            return [line.split() for line in file]

    def locked(self):
        """How much memory it has locked, in KiB."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmLck:"))

    def check_choices(self):
        """Its acts must follow from its seed only."""
        for first in (0, 1000000):
            done = [words for words in self.lines()
                    if words[0].isdigit() and first < int(words[0]) <= first + 999999]
            seed = self.seed if not first else self.seed ^ (1 << 64) - 1
            listed = subprocess.run([ACTOR, "list", self.role, str(seed), str(first), str(len(done))], check=True,
                                    stdout=subprocess.PIPE, text=True).stdout
            if [line.split() for line in listed.splitlines()] != done:
                raise Wrong(f"{self.log}: not the acts of seed {self.seed}")


class Scene:
    """Common parts of scenes: a seed, a directory for logs, and the checks."""

    def __init__(self, name, seed, directory):
        self.name, self.seed = name, seed
        self.directory = os.path.join(directory, name)
        os.mkdir(self.directory, 0o777)
        self.chance = random.Random(f"{seed}:{name}")
        self.counter = Counter(self.directory)
        self.net = snapshot.Netlink()
        self.quiet = 0
        self.fabrics, self.alive = [], set()

    def clear_away(self):
        """Stop all actors and remove the fabrics in every case, so that one error causes one
        failure."""
        for actor in list(self.alive):
            actor.kill()
        for fabric in self.fabrics:
            with contextlib.suppress(OSError):
                fabric.remove()

    def watchdog(self, what):
        """Return a function that fails if no actor has finished an act for a long time; on slow
        machines some still do."""
        seen, until = -1, 0

        def look():
            nonlocal seen, until
            if self.counter.value != seen:
                seen, until = self.counter.value, time.monotonic() + PATIENCE
            elif time.monotonic() > until:
                raise Wrong(what)
        return look

    def keep(self, taken):
        """Write the findings next to the logs."""
        for number, this in enumerate(taken):
            with open(os.path.join(self.directory, f"wrong{number}.json"), "w", encoding="ascii") as file:
                json.dump(this, file, default=lambda thing: getattr(thing, "__dict__", repr(thing)), indent=1)
        for path in glob.glob(f"{snapshot.DEBUGFS}/morph*/*/*"):
            with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
                write(os.path.join(self.directory, "-".join(path.split("/")[-2:])), file.read())

    def loads(self):
        """The schedules that were loaded, by those who did."""
        return {}

    def prove(self, fabrics, rules, *more):
        """Wait until one snapshot satisfies the rules; every snapshot must satisfy those of ALWAYS.
        Return the snapshots."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                taken = [snapshot.take(self.net, fabric.name) for fabric in fabrics]
                loads = self.loads()
                for this in taken:
                    this.loads = loads
                findings = []
            except snapshot.Torn as torn:
                taken, findings = [], [f"nothing stays: {torn}"]
            for fabric, this in zip(fabrics, taken):
                never = proof.broken(proof.ALWAYS, fabric.profile, this)
                never += proof.broken([proof.nothing_uses_what_is_barred], fabric.profile, this, fabric.barred)
                if never:
                    self.keep(taken)
                    raise Wrong("\n".join(never))
                findings += proof.broken(rules, fabric.profile, this)
            if taken:
                findings += proof.broken([proof.quotas_are_what_is_held], None, *taken)
                findings += [sentence for rule in more for sentence in rule(*taken)]
            if not findings:
                self.quiet += 1
                return taken
            if time.monotonic() > until:
                self.keep(taken)
                raise Wrong("\n".join(findings))
            time.sleep(0.1)
