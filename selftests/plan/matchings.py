#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Run the rounds of `morphctl matchings find` as a schedule, and compare each step with its round.
Prints TAP.

The answer has a route for each circuit and a state for each element. The tests compare them with
the kernel's dumps of circuits and elements, and with the states of elements in the simulator.
"""

import functools
import json
import os
import re
import subprocess
import sys
import time

from collective import plan
from place import DEBUGFS, MORPHCTL, PATIENCE_S, run
from schedules import schedule

# No known algorithm of an all-to-all has paths among these, so the planner uses matchings.
ACCELERATORS = "0,1,2,4,5,8"
BUSY = 6    # exit status
ELEMENT, TX, RX = "element", "transmitter", "receiver"   # types of ends of a guide


def find(rack, *options):
    return rack.ask("matchings", "find", "--at", ACCELERATORS, "--steps", 1000, *options)


@functools.cache
def guides(rack):
    """Guides by the element or port at both ends. Light passes a guide in both directions."""
    ends = {guide["id"]: ((guide["a-type"], guide["a-index"]), (guide["b-type"], guide["b-index"]))
            for guide in rack.ask("guide", "list")}
    return {pair: guide for guide, (one, other) in ends.items() for pair in ((one, other), (other, one))}


def steps(rack, document):
    """The rounds as a file for `morphctl schedule load`."""
    circuits, rounds = [], []
    for matching in document["rounds"]:
        rounds.append({"circuits": [*range(len(circuits), len(circuits) + len(matching["circuits"]))]})
        for one in matching["circuits"]:
            src, dst = one["src-endpoint"], one["dst-endpoint"]
            ends = [(TX, document["endpoints"][src]["tx-port"]), *((ELEMENT, element) for element in one["elements"]),
                    (RX, document["endpoints"][dst]["rx-port"])]
            circuits.append({"src-rank": src, "dst-rank": dst, "lanes-count": 1,
                             "guides": [guides(rack)[pair] for pair in zip(ends, ends[1:])]})
    return json.dumps({"circuits": circuits, "steps": rounds})


def begin(rack, document):
    """Load the rounds, and light the first one."""
    number = schedule("load", "job", "-", text=steps(rack, document))["id"]
    schedule("start", "job", number)
    check_round(rack, document, 0)
    return number


def advance(number, step):
    """Light a step. The driver returns busy while it finds other paths for circuits."""
    until = time.monotonic() + PATIENCE_S
    words = [MORPHCTL, "schedule", "go", "job", str(number), "--position", str(step + 1)]
    while (done := subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  timeout=PATIENCE_S, check=False)).returncode == BUSY:
        assert time.monotonic() < until, done.stderr
        time.sleep(0.05)
    return done


def states():
    """The states of all elements, in the simulator."""
    with open(os.path.join(DEBUGFS, "hardware"), encoding="ascii") as file:
        return {int(found[1]): int(found[2]) for found in re.finditer(r"^element (\d+) state (\d+)", file.read(), re.M)}


def lit(rack):
    """Elements of all lit circuits, by ranks."""
    return {(one["src-rank"], one["dst-rank"]): one["elements"] for one in rack.ask("circuit", "list", "job")
            if one["state"] == "lit"}


def routes(document, number):
    return {(one["src-endpoint"], one["dst-endpoint"]): one["elements"] for one in document["rounds"][number]["circuits"]}


def check_round(rack, document, number):
    """The circuits of the round are lit, on its routes. Each element has the state of the round.
    The driver may light circuits of the next round ahead, but no other circuits."""
    following = routes(document, number + 1) if number + 1 < document["rounds-count"] else {}
    circuits = lit(rack)
    assert routes(document, number).items() <= circuits.items(), (number, circuits)
    assert all(elements == following.get(pair) for pair, elements in circuits.items()
               if pair not in routes(document, number)), (number, circuits)
    wanted = {element: state for element, state in enumerate(document["rounds"][number]["element-states"])
              if state is not None}
    shown = {one["id"]: one["element-state"] for one in rack.ask("element", "list")}
    assert wanted.items() <= states().items() and wanted.items() <= shown.items(), (number, wanted, states(), shown)


def go_through(rack, document):
    """The steps of the schedule are the rounds."""
    number = begin(rack, document)
    for step in range(1, document["rounds-count"]):
        assert advance(number, step).returncode == 0
        check_round(rack, document, step)
    schedule("stop", "job", number)
    assert not lit(rack)
    schedule("unload", "job", number)


def found(rack):
    """The rounds of the search run as a schedule."""
    rack.do("slice", "create", "job", "--accelerators", ACCELERATORS)
    document = find(rack)
    assert document["rounds-count"] >= document["rounds-bound-count"] == 5 and document["validated"], document["verdict"]
    go_through(rack, document)
    rack.end("job")


def duplex(rack):
    """Both circuits of a pair are lit in the same step."""
    rack.do("slice", "create", "job", "--accelerators", ACCELERATORS)
    document = find(rack, "--kind", "duplex")
    assert document["rounds-count"] >= document["rounds-bound-count"] >= 5 and document["validated"], document["verdict"]
    for number in range(document["rounds-count"]):
        pairs = routes(document, number).keys()
        assert pairs == {(dst, src) for src, dst in pairs}, (number, pairs)
    go_through(rack, document)
    rack.end("job")


def planned(rack):
    """All pairs meet once in the steps of a plan."""
    rack.do("slice", "create", "job", "--accelerators", ACCELERATORS)
    answer = plan("all-to-all", "job", "--lanes", 1, "--bandwidth", 10000, "--load")
    number, rounds, met = answer["loaded"]["id"], answer["loaded"]["steps-count"], []
    assert rounds == len(answer["rounds"]) >= answer["rounds-bound-count"] == 5, answer["loaded"]
    schedule("start", "job", number)
    for step in range(rounds):
        assert advance(number, step).returncode == 0
        met += lit(rack)
    assert len(met) == len(set(met)) == 30, met
    rack.end("job")


def separates(rack, element):
    """Whether two of the accelerators have no route without the element."""
    words = [MORPHCTL, "matchings", "find", "--at", ACCELERATORS, "--failed", str(element), "--first",
             "--fabric", rack.name]
    return subprocess.run(words, stdout=subprocess.DEVNULL, timeout=PATIENCE_S, check=False).returncode == 1


def failed_element(rack):
    """Before a round that needs a failed element, the driver gives the circuits other paths, or it
    stops the schedule and keeps the present round lit. A new search avoids the element."""
    rack.do("slice", "create", "job", "--accelerators", ACCELERATORS)
    document = find(rack)
    used = [set(sum(routes(document, step).values(), [])) for step in range(2)]
    element = min(element for element in used[1] - used[0] if not separates(rack, element))
    number = begin(rack, document)
    rack.do("element", "fail", element)
    done = advance(number, 1)
    if done.returncode == 0:
        assert lit(rack).keys() == routes(document, 1).keys() and element not in sum(lit(rack).values(), []), lit(rack)
    else:
        assert done.returncode == 1 and "the schedule has stopped at step 0" in done.stderr, done
        check_round(rack, document, 0)
    schedule("unload", "job", number)
    again = rack.ask("matchings", "find", "--at", ACCELERATORS, "--first")
    assert again["failed-elements"] == [element], again["failed-elements"]
    go_through(rack, again)
    rack.do("element", "test", element)
    rack.end("job")


TESTS = (found, duplex, planned, failed_element)

if __name__ == "__main__":
    sys.exit(run(TESTS, "smartlight72"))
