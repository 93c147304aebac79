#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Without a fabric, every command that needs one prints the same message for the same cause: no
fabric, another network namespace, no provider, no module. Prints TAP.

The list of commands is that of morphctl itself. It loads the modules again at the end.
"""

import json
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MORPHCTL = os.path.join(TOP, "build/tools/morphctl/morphctl")
COMMANDS = os.path.join(TOP, "build/tools/commands.json")
KMOD = os.environ["MORPH_KMOD"]
USER = 4321
SECONDS = 30 * int(os.environ.get("SLOWNESS", 1))
MANY = 90

NO_FABRIC = "morphctl: no fabric: the provider morph_sim is loaded, but has none; see the kernel log with 'dmesg'"
NO_PROVIDER = ("morphctl: no provider: the module morph is loaded, but no module that drives a fabric; "
               "run 'modprobe morph_sim profile=server8' or load that of the hardware")
NAMESPACE = ("morphctl: the module morph is loaded, but its netlink family \"morph\" is not visible in this network "
             "namespace; use the initial one, as with 'nsenter --net=/proc/1/ns/net'")
NO_MODULE = ("morphctl: the kernel has no netlink family \"morph\": the module morph is not loaded "
             "(no /sys/module/morph); run 'modprobe morph'")

# Commands that need no fabric. Quotas need the module only.
ALONE = ("version", "fault", "jobs plan", "jobs run", "jobs why-not", "matchings check", "matchings show",
         "bandwidth plan", "spare plan", "schedule plan", "plan")
QUOTAS = ("quota list", "quota set")
# Commands that answer nevertheless: with an empty list, with metrics, or with what happens later.
ANSWERING = ("fabric list", "metrics")
WAITING = ("monitor", "event")

VALUES = {"ACCELERATOR": "1", "GUIDE": "1", "ELEMENT": "1", "EDGE": "1", "SLICE": "x", "CIRCUIT": "1", "SRC-RANK": "0",
          "DST-RANK": "1", "RANK": "0", "NAME": "x", "SCHEDULE": "1", "STEP": "0", "POSITION": "1", "CONTROLLER": "7",
          "LANES": "1", "FABRIC:EDGE": "far:0", "TXN": "1", "PART": "accelerator", "INDEX": "1",
          "USER|grant:N|default": "0"}
OPTIONS = {"accelerator set": "--spare", "slice create": "--count 1", "slice set": "--mode 0600", "slice place": "--count 1",
           "place": "--count 1", "slice defrag": "--count 1", "defrag": "--count 1", "slice why-not": "--count 1",
           "why-not": "--count 1", "controller take": "--lease 60", "controller renew": "--epoch 1",
           "controller settle": "--epoch 1", "controller reserve": "--epoch 1",
           "controller reserve-edge": "--epoch 1 --to-epoch 1", "controller assign": "--controllers 1",
           "controller fail": "--dry-run", "quota set": "--accelerators 1024", "matchings find": "--kind pairs",
           "traffic apply": "--controller 1 --epoch 1", "te apply": "--controller 1 --epoch 1",
           "watch": "--timeout 0", "monitor": "--timeout 0", "event": "--timeout 0"}
FILES = {"slice": "slices:\n- {name: x, ranks-count: 2}\n",
         "traffic": "demands: [{src-host: 0, dst-host: 1, amount-lanes: 2}]\n",
         "schedule": "circuits: [{src-rank: 0, dst-rank: 1}]\nsteps: [{circuits: [0]}]\n"}
SAME_FILE = {"apply": "slice", "diff": "slice", "te": "traffic"}


def write_files(directory):
    paths = {}
    for name, text in FILES.items():
        paths[name] = os.path.join(directory, name)
        with open(paths[name], "w", encoding="ascii") as file:
            file.write(text)
    return paths


def list_commands(paths):
    """The words of each command that needs a fabric, by its name."""
    with open(COMMANDS, encoding="utf-8") as file:
        commands = json.load(file)["commands"]
    found = {}
    for command in commands:
        name = " ".join(filter(None, (command["object"], command["verb"])))
        if name in ALONE or command["object"] in ALONE or name == "jobs apply":
            continue
        words = [word.removesuffix("...") for word in (command["arguments"] or "").split() if "[" not in word]
        path = paths.get(SAME_FILE.get(command["object"], command["object"]))
        found[name] = [*name.split(), *(path if word == "FILE" else VALUES[word] for word in words if not word.endswith("]")),
                       *OPTIONS.get(name, "").split()]
    assert len(found) > MANY, found
    return found


def check(commands, message, before=(), user=None, without=(), waiting=0):
    """Each command prints the message. @waiting: the exit status of commands that wait."""
    for name, words in commands.items():
        if name in without:
            continue
        done = subprocess.run([*before, MORPHCTL, *words], user=user, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=SECONDS, check=False)
        status = 0 if name in ANSWERING else waiting if name in WAITING else 3
        lines = done.stderr.splitlines()
        if name in WAITING and not waiting:
            assert lines.pop() == "morphctl: waiting for a fabric", (words, done)
        assert lines == [message] and done.returncode == status, (words, done)
        assert name in ANSWERING or not done.stdout, (words, done)


def no_fabric(commands):
    check(commands, NO_FABRIC, without=QUOTAS)


def no_fabric_as_a_user(commands):
    check(commands, NO_FABRIC, user=USER, without=QUOTAS, waiting=3)


def another_network_namespace(commands):
    check(commands, NAMESPACE, before=("unshare", "--net"), waiting=3)


def no_provider(commands):
    subprocess.run(["rmmod", "morph_sim"], check=True)
    check(commands, NO_PROVIDER, without=QUOTAS)


def no_module(commands):
    subprocess.run(["rmmod", "morph"], check=True)
    check(commands, NO_MODULE, waiting=3)


def main():
    tests = (no_fabric, no_fabric_as_a_user, another_network_namespace, no_provider, no_module)
    failures = 0
    print(f"TAP version 13\n1..{len(tests)}")
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        commands = list_commands(write_files(directory))
        for number, test in enumerate(tests, 1):
            try:
                test(commands)
                print(f"ok {number} - {test.__name__}", flush=True)
            except (AssertionError, OSError, subprocess.SubprocessError) as error:
                failures += 1
                print(f"# {type(error).__name__}: {str(error)[:800]}")
                print(f"not ok {number} - {test.__name__}", flush=True)
    for module in ("morph", "morph_sim"):
        if not os.path.exists(f"/sys/module/{module}"):
            subprocess.run(["insmod", os.path.join(KMOD, module + ".ko")], check=True)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
