#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Use a slice in a container of podman, which gets its node by CDI. Prints TAP.

The administrator's guide has the command that writes the description for CDI. The container has the
host's /usr and this source tree, read-only, and no image. A shell runs in it for all tests, because
an emulated processor needs ten seconds to start a container.
"""

import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "selftests", "plan"))

import place    # noqa: E402

LIBRARIES = os.path.join(TOP, "build/libmorph")
TRANSACTION = os.path.join(TOP, "build/selftests/container/transaction")
MARK = "--- exit status "
OWNER = "nobody"
READINGS = ("last-verified-ns", "power-mdbm", "taken-unix-ns", "temperature-mc")


def load_sessions():
    """The script as a module. Its name has no extension."""
    loader = importlib.machinery.SourceFileLoader("sessions", os.path.join(TOP, "selftests", "pages", "sessions"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("sessions", loader))
    loader.exec_module(module)
    return module


def write_description():
    """Run the commands of the guide that write the description for CDI."""
    sessions = load_sessions()
    texts = [command.text for command in sessions.commands("Documentation/admin-guide.rst", "# ") if "cdi" in command.text]
    assert len(texts) == 3, texts
    environment = {**os.environ, "PATH": f"{os.path.dirname(place.MORPHCTL)}:{os.environ['PATH']}"}
    subprocess.run(["sh", "-e", "-c", "\n".join(texts)], env=environment, check=True)


def make_root(path):
    """A root directory that takes all programs from the host."""
    for name in ("dev", "etc", "proc", "run", "sys", "tmp", "usr"):
        os.mkdir(os.path.join(path, name))
    for name in ("bin", "lib", "lib64", "sbin"):
        os.symlink("usr/" + name, os.path.join(path, name))
    os.makedirs(path + TOP, exist_ok=True)
    return path


class Container:
    """A shell in a container that has a slice."""

    def __init__(self, directory, name, network="none"):
        root = make_root(tempfile.mkdtemp(dir=directory))
        state = [f"--{option}={directory}/{option}" for option in ("root", "runroot", "tmpdir")]
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(
            ["podman", *state, "--cgroup-manager=cgroupfs", "--events-backend=none", "run", "--rm", "--interactive",
             "--cgroups=disabled", "--runtime=crun", f"--network={network}", f"--device=morph.dev/slice={name}",
             "--volume=/usr:/usr:ro", f"--volume={TOP}:{TOP}:ro", f"--env=LD_LIBRARY_PATH={LIBRARIES}",
             "--rootfs", root, "/bin/sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, text):
        """The output of a command, which must succeed."""
        self.process.stdin.write(f"{{ {text}\n}} 2>&1 < /dev/null; echo '{MARK}'$?\n")
        self.process.stdin.flush()
        output = ""
        for line in self.process.stdout:
            if line.startswith(MARK):
                assert line == f"{MARK}0\n", (text, line, output)
                return output
            output += line
        raise AssertionError((text, output, self.process.wait()))

    def ask(self, words):
        return json.loads(self.run(f"{place.MORPHCTL} {words} --json"))

    def end(self):
        self.process.stdin.close()
        return self.process.wait()


def ask_outside(words):
    """The answer to the owner of the slice, outside of the container."""
    done = subprocess.run(["setpriv", f"--reuid={OWNER}", "--clear-groups", place.MORPHCTL, *words.split(), "--json"],
                          stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def without_readings(answer):
    """An answer without values that change by themselves."""
    if isinstance(answer, dict):
        return {key: without_readings(value) for key, value in answer.items() if key not in READINGS}
    return [without_readings(one) for one in answer] if isinstance(answer, list) else answer


def is_the_same_inside(container, words):
    inside, outside = without_readings(container.ask(words)), without_readings(ask_outside(words))
    assert inside and inside == outside, (words, inside, outside)


class Tests:
    def __init__(self, directory):
        self.directory, self.container = directory, None

    def await_event(self, word):
        until = time.monotonic() + place.PATIENCE_S
        while word not in (said := self.container.run("cat /tmp/events")):
            assert time.monotonic() < until, (word, said)
            time.sleep(0.2)

    def podman_finds_the_slice_by_its_name(self, fabric):
        fabric.do("slice", "create", "other", "--count", 2)
        fabric.do("slice", "create", "train", "--count", 3, "--owner", OWNER)
        fabric.do("circuit", "apply-ring", "train")
        write_description()
        self.container = Container(self.directory, "train")
        self.container.run("true")

    def container_has_the_node_of_its_slice_only(self, fabric):
        assert self.container.run("ls /dev/morph") == f"slice{fabric.ask('slice', 'show', 'train')['id']}\n"
        assert [one["name"] for one in self.container.ask("slice list")] == ["train"]

    def slice_and_circuits_are_the_same_inside_and_outside(self, _):
        for words in ("slice show train", "circuit list train", "circuit show train 1"):
            is_the_same_inside(self.container, words)

    def topology_is_the_same_inside_and_outside(self, _):
        """A container with the host's network has netlink, too."""
        container = Container(self.directory, "train", "host")
        is_the_same_inside(container, "topo")
        assert len(container.ask("topo")["circuits"]) == 3
        assert container.end() == 0

    def container_gets_the_event_of_a_failover(self, fabric):
        failing = fabric.ask("slice", "show", "train")["ranks"][1]["accelerator"]
        # The first line is the state. Then the monitor waits for events.
        self.container.run(f"{place.MORPHCTL} monitor --dump > /tmp/events 2>&1 &")
        self.await_event("slice-get")
        fabric.fault(f"accelerator_dead {failing}")
        self.await_event("replaced")
        self.container.run("kill $!")
        assert self.container.ask("slice show train")["ranks"][1]["accelerator"] != failing
        fabric.fault()

    def program_in_the_container_changes_circuits(self, fabric):
        """The example adds a circuit, moves it, and removes all."""
        said = self.container.run(f"{TRANSACTION} train 0 1")
        assert "confirmed: " in said and "moved: " in said, said
        assert not fabric.ask("circuit", "list", "train")

    def container_ends(self, fabric):
        assert self.container.end() == 0
        fabric.end("train", "other")

    def run(self):
        return place.run((self.podman_finds_the_slice_by_its_name, self.container_has_the_node_of_its_slice_only,
                          self.slice_and_circuits_are_the_same_inside_and_outside,
                          self.topology_is_the_same_inside_and_outside, self.container_gets_the_event_of_a_failover,
                          self.program_in_the_container_changes_circuits, self.container_ends), "server8")


def main(directory=None):
    """Run the tests in a mount namespace, since podman leaves mounts in its directories."""
    if directory:
        # crun requires cgroups of version 2.
        subprocess.run(["mount", "-t", "cgroup2", "cgroup2", "/sys/fs/cgroup"], check=True)
        return Tests(directory).run()
    with tempfile.TemporaryDirectory() as empty:
        return subprocess.run(["unshare", "--mount", __file__, empty], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
