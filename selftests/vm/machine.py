# SPDX-License-Identifier: GPL-2.0-only
"""A test machine: a kernel in QEMU on the host's file system, which is read-only, with one writable
directory."""

import fcntl
import lzma
import os
import socket
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass

import initramfs
import kernlog

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(TOP, "build")
STATE = os.path.join(BUILD, "vm")

# Only warnings reach the console, because it is slow. The whole log is saved after the command.
APPEND = ("console=ttyS0", "loglevel=5", "panic=-1", "oops=panic", "tsc=reliable", "random.trust_cpu=on", "audit=0",
          # While an emulator waits for a processor, the timer seems to fail.
          "no_timer_check",
          # An emulator translates a program again if its addresses differ.
          "norandmaps",
          "rcupdate.rcu_cpu_stall_timeout=60", "watchdog_thresh=30", "sysctl.kernel.hung_task_timeout_secs=60",
          # After a hang, an NMI lets the machine print all its tasks and processors.
          "unknown_nmi_panic", f"panic_print={1 << 0 | 1 << 6:#x}")
NMI_SECONDS = 20
LOOK_SECONDS = 0.5
# Red zones, poison and the allocator's caller in every object of a driver; no shared caches.
CHECKS = ("slab_nomerge", "slub_debug=FZPU,kmalloc-*,morph*")


# A debug kernel stops after its first complaint, poisons memory, and runs the tests of modules.
DEBUG = ("panic_on_warn=1", "page_poison=1", "kunit.enable=1")


class Kernel:
    """Paths of a version, from scripts/kernel."""

    def __init__(self, version):
        self.version = version
        self.config = version.partition("-")[2]     # configuration of a debug kernel
        self.release, self.image, self.modules = (self._ask(what) for what in ("release", "image", "modules"))

    def _ask(self, what):
        tool = os.path.join(TOP, "scripts", "kernel")
        return subprocess.run([tool, self.version, what], check=True, text=True, stdout=subprocess.PIPE).stdout.strip()

    def bootable(self):
        """The image. It is decompressed here if it is xz, because an emulated kernel needs seconds
        for that."""
        path = os.path.join(STATE, "vmlinux-" + self.release)
        if os.path.exists(path):
            return path
        with open(self.image, "rb") as file:
            image = file.read()
        start = image.find(b"\xfd7zXZ\0")
        if start < 0:
            return self.image
        write_whole(path, lzma.LZMADecompressor().decompress(image[start:]))
        return path


def write_whole(path, content):
    """Create path with content under a temporary name, so that no process reads a part of it."""
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(path), delete=False) as file:
        file.write(content)
    os.rename(file.name, path)


@dataclass
class Patience:
    """Time limits in seconds: from power-on until boot, without output after that, and in total."""
    boot: float
    silence: float
    total: float


KVM_TRIAL = Patience(12, 12, 12)
# a kernel clock that is faster than ours by this makes the boot fail
CLOCK_FASTER, CLOCK_SLACK_SECONDS = 3, 20


class Outcome:
    """Result of a run: the status of the command, or None and a reason; and the complaints of the
    kernel."""

    def __init__(self, results, timed_out):
        self.booted_after = None
        self.clock_runs_away = False
        self.log = read(results, "dmesg") or read(results, "console")
        self.complaints = kernlog.scan(self.log)
        status = read(results, "status").strip()
        self.status = int(status) if status else None
        self.failure = None
        if self.status is None:
            self.failure = self._why_no_status(timed_out)
        came_up = os.path.exists(os.path.join(results, "booted"))
        self.died_in_boot = self.status is None and not came_up
        if timed_out:   # our own NMI is no complaint
            self.complaints = [entry for entry in self.complaints if kernlog.ANSWER not in entry[1]]

    def _why_no_status(self, timed_out):
        if not timed_out:
            return "the machine stopped before the command ended"
        return "the emulator hangs" if kernlog.emulator_hangs(self.log) else "hang"


def read(*path):
    try:
        with open(os.path.join(*path), encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def share(tag, path, *options):
    fsdev = ",".join(("local", "id=" + tag, "path=" + path, "security_model=none", *options))
    return ["-fsdev", fsdev, "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


def socket_with_card(number):
    """A PCI Express port with a card whose serial number follows from its address, for tests of
    hot-plug."""
    return ["-device", f"pcie-root-port,id=port{number},chassis={number},hotplug=off",
            "-netdev", f"user,id=net{number},restrict=on",
            "-device", f"e1000e,bus=port{number},netdev=net{number},mac=52:54:00:00:00:0{number},romfile="]


class Machine:
    """A virtual machine. If interactive, its command uses the terminal of the caller."""

    def __init__(self, kernel, accel, smp=2, memory_mb=1024, append=CHECKS, counts=False, interactive=False):
        self.kernel = kernel
        self.accel = accel
        self.smp = smp
        self.memory_mb = memory_mb
        self.append = append
        self.counts = counts    # count instructions: each is a nanosecond of its clock
        self.interactive = interactive

    def run(self, command, results, patience, output=None, errors=None):
        """Boot, run a shell command, and return an Outcome.

        The output of the command goes to the open file output, messages of QEMU to errors.
        """
        os.makedirs(results, exist_ok=True)
        for name in ("status", "dmesg", "console", "booted"):
            if os.path.exists(os.path.join(results, name)):
                os.unlink(os.path.join(results, name))
        with open(os.path.join(results, "command"), "w", encoding="utf-8") as file:
            file.write(command)
        image = initramfs.build(self.kernel.modules, TOP, os.path.join(HERE, "init"))
        write_whole(os.path.join(results, "initramfs"), image)
        started = time.time()
        timed_out = self._qemu(results, patience, output, errors)
        os.unlink(os.path.join(results, "initramfs"))
        outcome = Outcome(results, timed_out)
        booted = os.path.join(results, "booted")
        if os.path.exists(booted):
            outcome.booted_after = os.path.getmtime(booted) - started
            outcome.clock_runs_away = clock_runs_away(booted, outcome.booted_after)
        return outcome

    def _qemu(self, results, patience, output, errors):
        if self.interactive:
            subprocess.run(self._arguments(results), stderr=errors, check=False)
            return False
        with subprocess.Popen(self._arguments(results), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=errors) as qemu:
            copier = Copier(qemu.stdout, os.path.join(results, "output"), output)
            copier.start()
            timed_out = hangs(qemu, patience, os.path.join(results, "booted"), copier)
            if timed_out:
                interrogate(results)
                ends(qemu, NMI_SECONDS)
            qemu.kill()
            copier.join()
            return timed_out

    def _arguments(self, results):
        words = [*APPEND, *(DEBUG if self.kernel.config else ()), "firmware_class.path=" + os.path.join(BUILD, "firmware"), "MORPH_TOP=" + TOP,
                 "MORPH_RESULTS=" + results, "MORPH_MODULES=" + self.kernel.modules, *self.append]
        count = ["-icount", "shift=0,sleep=off"] if self.counts else []
        # An emulator executes string instructions byte by byte. Mark them as slow for the kernel.
        cpu = "max" if self.accel == "kvm" else "max,erms=off,fsrm=off"
        if self.interactive:
            words.append("MORPH_TERMINAL=/dev/hvc0")
            port = ["-chardev", "stdio,id=output,signal=off", "-device", "virtio-serial-pci",
                    "-device", "virtconsole,chardev=output"]
        else:
            port = ["-chardev", "file,id=output,path=/dev/stdout", "-device", "virtio-serial-pci",
                    "-device", "virtserialport,chardev=output,name=output"]
        return ["qemu-system-x86_64", "-M", "q35,accel=" + self.accel, "-cpu", cpu, "-smp", str(self.smp), *count,
                "-m", str(self.memory_mb), "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
                "-kernel", self.kernel.bootable(), "-initrd", os.path.join(results, "initramfs"),
                "-append", " ".join(words), "-serial", "file:" + os.path.join(results, "console"),
                "-monitor", f"unix:{os.path.relpath(results)}/monitor,server=on,wait=off",
                *port, *socket_with_card(1), *socket_with_card(2),
                *share("root", "/", "readonly=on", "multidevs=remap"), *share("results", results)]


def ends(qemu, timeout):
    try:
        qemu.wait(timeout)
        return True
    except subprocess.TimeoutExpired:
        return False


def clock_runs_away(booted, seconds):
    """Whether the kernel's log in that file reports a much longer uptime than the seconds since
    power-on.

    At boot the kernel measures the processor's ticks with another clock. If the emulator gets too
    little processor time just then, the result is far too low, and all timeouts of the kernel
    expire at once.
    """
    try:
        with open(booted, encoding="ascii") as file:
            return float(file.read() or 0) > CLOCK_FASTER * seconds + CLOCK_SLACK_SECONDS
    except OSError:
        return False


def hangs(qemu, patience, booted, copier):
    """Wait for the end, or until the machine has hung or has a wrong clock. Then end it."""
    started, up = time.monotonic(), None
    while not ends(qemu, LOOK_SECONDS):
        now = time.monotonic()
        if up is None and os.path.exists(booted):
            up = now
            if clock_runs_away(booted, now - started):
                qemu.kill()
                return False
        if up is None and now - started > patience.boot:
            return True
        if up is not None and now - max(up, copier.heard) > patience.silence:
            return True
        if now - started > patience.total:
            return True
    return False


def interrogate(results):
    """Let the kernel print the hanging tasks to the console."""
    try:
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.settimeout(NMI_SECONDS)
            monitor.connect(os.path.join(os.path.relpath(results), "monitor"))
            monitor.recv(4096)
            monitor.sendall(b"nmi\n")
            monitor.recv(4096)
    except OSError:
        pass    # the emulator itself hangs, or has just ended


class Copier(threading.Thread):
    """Copies the machine's output to a file and to the caller, and records the time of the last
    output."""

    def __init__(self, source, path, output):
        super().__init__()
        self.source, self.path, self.output = source, path, output
        self.heard = 0

    def run(self):
        with open(self.path, "wb") as file:
            while chunk := self.source.read1():
                self.heard = time.monotonic()
                file.write(chunk)
                if self.output:
                    self.output.write(chunk)
                    self.output.flush()


def kvm_works(kernel):
    """Try KVM once per kernel. A /dev/kvm that opens may still hang or abort an unmodified
    kernel."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    verdict = os.path.join(STATE, "kvm-" + kernel.release)
    with open(verdict + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(verdict):
            with tempfile.TemporaryDirectory(dir=STATE) as results:
                outcome = Machine(kernel, "kvm").run("true", results, KVM_TRIAL, errors=subprocess.DEVNULL)
            write_whole(verdict, b"yes" if outcome.status == 0 else b"no")
    return read(verdict) == "yes"


def choose_accel(kernel, wish="auto"):
    os.makedirs(STATE, exist_ok=True)
    if wish != "auto":
        return wish
    return "kvm" if kvm_works(kernel) else "tcg"


def prepare_firmware():
    """Drivers request profiles as morph/<name>.bin."""
    path = os.path.join(BUILD, "firmware")
    os.makedirs(path, exist_ok=True)
    try:
        os.symlink("../profiles", os.path.join(path, "morph"))
    except FileExistsError:
        pass
