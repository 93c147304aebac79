# SPDX-License-Identifier: GPL-2.0-only
"""Rules for schedules, for queues, and for the answers of calls on them; proof.py has the other
rules.

Rules on a fabric are like those of proof.py. Rules on answers take lines of actors' logs, split
into words.
"""

import collections
from dataclasses import dataclass, field

from snapshot import NUMBERS

LIT = NUMBERS["MORPH_CIRCUIT_LIT"]
FAILED = NUMBERS["MORPH_CIRCUIT_FAILED"]
LOADED, RUNNING, STOPPED = (NUMBERS["MORPH_SCHEDULE_" + state] for state in ("LOADED", "RUNNING", "STOPPED"))
STATES = {LOADED: "loaded", RUNNING: "running", STOPPED: "stopped"}
ANY = 0xffffffff
LOOP = 1
FIRST_ID = 0x1000000        # of circuits of schedules


# --------------------------------------------------------------------------------- loaded schedules

@dataclass
class Load:
    """A schedule in the form of the tenant's request: circuits have numbers from 0, and each step
    is a list of them."""
    first: int
    generation: int
    lanes: int          # of each circuit; 0: the driver has chosen
    weight: int         # how many each has
    loop: int
    steps: list

    @property
    def circuits(self):
        return len({circuit for step in self.steps for circuit in step})


def loads_of(lines):
    """Return {"slice:schedule": Load} for an actor's log."""
    found = {}
    for words in lines:
        if words[0] == "loaded":
            first, generation, weight, loop = (int(words[at]) for at in (3, 4, 6, 7))
            steps = [[int(circuit) for circuit in word.split(",")] for word in words[8:]]
            found[f"{words[1]}:{words[2]}"] = Load(first, generation, int(words[5], 16), weight, loop, steps)
    return found


def schedule_name(schedule):
    return f"schedule {schedule['slice']}:{schedule['id']}"


def load_of(snapshot, schedule):
    """Return its Load, or None if the actor was killed before it wrote the log."""
    return snapshot.loads.get(f"{schedule['slice']}:{schedule['id']}")


def lit_of(snapshot, schedule):
    """Return its listed circuits by number."""
    first = schedule["first"]
    return {circuit["id"]: circuit for circuit in snapshot.objects["circuit"]
            if circuit["slice"] == schedule["slice"] and first <= circuit["id"] < first + schedule["circuits"]}


# -------------------------------------------------------------------------------------------- holds

@dataclass
class Hold:
    """The hardware that a schedule holds beyond its lit circuits."""
    schedule: dict
    weight: int                                     # least of each dark circuit
    known: bool                                     # is the data complete and current?
    lanes: dict = field(default_factory=dict)       # dark circuit: those that it may have
    taken: bool = True                              # false: a repair left no paths
    elements: dict = field(default_factory=dict)    # of all of its circuits: set of states

    def guides(self, circuit):
        return self.schedule["paths"][circuit]["guide"]


def hold_of(snapshot, schedule, claimed, spare, generation):
    """Derive it from other objects: @spare are pins that belong to no circuit."""
    load, lit = load_of(snapshot, schedule), lit_of(snapshot, schedule)
    others = collections.defaultdict(int)
    for circuit in snapshot.objects["circuit"]:
        if circuit["slice"] != schedule["slice"] or circuit["id"] not in schedule["paths"]:
            for guide in circuit["guide"]:
                others[guide] |= circuit["lanes"]
    hold = Hold(schedule, load.weight if load else 1,
                bool(load and load.lanes and load.generation == generation))
    for number, path in schedule["paths"].items():
        path = lit.get(number, path)
        for element, state in zip(path["element"], path["element_state"]):
            hold.elements.setdefault(element, set()).add(state)
        if number in lit:
            continue
        lanes = load.lanes if hold.known else -1
        for guide in path["guide"]:
            lanes &= claimed[guide] & ~others[guide]
        hold.lanes[number] = lanes
        hold.taken &= bin(lanes).count("1") >= hold.weight
    # After a repair without paths for all circuits it holds nothing, but its lit circuits stay.
    if schedule["state"] != RUNNING and not (load and load.generation == generation):
        hold.taken &= all(spare[element] > 0 for element in hold.elements)
    return hold


def holds_of(snapshot):
    """Return the hardware that each schedule holds. The driver does not report the lanes of a dark
    circuit after a repair: they are among those that all its guides have."""
    claimed = {guide["id"]: guide["lanes"] & ~guide["lanes_free"] for guide in snapshot.objects["guide"]}
    spare = collections.Counter({element["id"]: element["pins"] for element in snapshot.objects["element"]})
    spare.subtract(element for circuit in snapshot.objects["circuit"] for element in circuit["element"])
    generations = {slice_["id"]: slice_.get("generation") for slice_ in snapshot.objects["slice"]}
    return [hold_of(snapshot, schedule, claimed, spare, generations.get(schedule["slice"])) for schedule in snapshot.schedules]


def schedules_hold_what_they_need(_profile, snapshot):
    """All lanes of dark circuits are claimed, unless a repair left none: then the schedule does not
    run."""
    generations = {slice_["id"]: slice_.get("generation") for slice_ in snapshot.objects["slice"]}
    for hold in holds_of(snapshot):
        load = load_of(snapshot, hold.schedule)
        if hold.taken:
            continue
        if hold.schedule["state"] == RUNNING:
            yield f"{schedule_name(hold.schedule)} runs, and does not hold what its dark circuits need"
        elif load and load.generation == generations[hold.schedule["slice"]]:
            yield f"{schedule_name(hold.schedule)} holds nothing, though no repair has passed"


# -------------------------------------------------------------------------------------------- steps

def schedules_are_as_loaded(_profile, snapshot):
    """The driver's description of a schedule matches the request."""
    for schedule in snapshot.schedules:
        load = load_of(snapshot, schedule)
        if not load:
            continue
        steps = [step["circuits"] for step in schedule["steps"]]
        said = (schedule["first"], schedule["flags"] & LOOP, schedule["circuits"], steps)
        asked = (load.first, load.loop, load.circuits, [len(step) for step in load.steps])
        if said != asked:
            yield f"{schedule_name(schedule)} says {said}, asked for was {asked}"


def step_after(schedule):
    """Return the step that may be lit ahead, or None."""
    following = schedule["step"] + 1
    if following < len(schedule["steps"]):
        return following
    return 0 if schedule["flags"] & LOOP else None


def steps_are_lit(_profile, snapshot):
    """The lit circuits of a schedule are those of its current step, and some of the next one.

    A schedule that was stopped or not started has none. A failed schedule stays at its step, if it
    had one.
    """
    for schedule in snapshot.schedules:
        name, load, step = schedule_name(schedule), load_of(snapshot, schedule), schedule["step"]
        listed = lit_of(snapshot, schedule)
        lit = set(listed)
        shine = sorted(number for number, circuit in listed.items() if circuit["state"] != FAILED)
        if len(shine) != schedule["lit"]:
            yield f"{name} says that {schedule['lit']} of its circuits are lit, netlink says {shine}"
        if schedule["state"] == LOADED and (lit or step != ANY or schedule["position"]):
            yield f"{name} was stopped, and is at step {step}, position {schedule['position']}, with {sorted(lit)}"
        if schedule["state"] == STOPPED and not schedule["error"]:
            yield f"{name} has stopped without an error"
        if schedule["state"] == RUNNING and (step == ANY or not schedule["position"]):
            yield f"{name} runs, and is at no step"
        if step == ANY or not load:
            continue
        held = {schedule["first"] + circuit for circuit in load.steps[step]}
        ahead = step_after(schedule)
        ahead = set() if ahead is None else {schedule["first"] + circuit for circuit in load.steps[ahead]}
        if held - lit:
            yield f"{name} is at step {step}: circuits {sorted(held - lit)} of it are not lit"
        if lit - held - ahead:
            yield f"{name} is at step {step}: circuits {sorted(lit - held - ahead)} are none of it"


def circuits_have_their_schedule(_profile, snapshot):
    """Circuits of a schedule end with it."""
    known = {(schedule["slice"], number) for schedule in snapshot.schedules for number in schedule["paths"]}
    for circuit in snapshot.objects["circuit"]:
        if circuit["id"] >= FIRST_ID and (circuit["slice"], circuit["id"]) not in known:
            yield f"circuit {circuit['slice']}:{circuit['id']} is of no schedule"


def pages_show_what_is_lit(_profile, snapshot):
    """The state page of a slice: bandwidth from rank to rank, and the schedule that it names."""
    schedules = {(schedule["slice"], schedule["id"]): schedule for schedule in snapshot.schedules}
    generations = {slice_["id"]: slice_["generation"] for slice_ in snapshot.objects["slice"]}
    lit = collections.defaultdict(list)
    for circuit in snapshot.objects["circuit"]:
        if circuit["state"] == LIT:
            lit[circuit["slice"], circuit.get("src_rank"), circuit.get("dst_rank")].append(circuit)
    for slice_, page in snapshot.pages.items():
        if not page:
            continue
        if page["version"] & 1 or page["generation"] > generations[slice_]:
            yield f"the page of slice {slice_} is of version {page['version']}, generation {page['generation']}"
        for pair in page["pairs"]:
            circuits = lit[slice_, pair["src"], pair["dst"]]
            mbps = sum(circuit["bandwidth_mbps"] for circuit in circuits)
            if pair["mbps"] != mbps or pair["hops"] not in ([len(circuit["guide"]) for circuit in circuits] or [0]):
                yield (f"the page of slice {slice_} has {pair['mbps']} Mbit/s and {pair['hops']} hops "
                       f"from rank {pair['src']} to {pair['dst']}, there are {mbps}")
        schedule = schedules.get((slice_, page["schedule"]))
        said = page["state"], page["step"], page["position"]
        if schedule and said != (schedule["state"], schedule["step"], schedule["position"]):
            yield f"the page of slice {slice_} says {said} of {schedule_name(schedule)}"


AT_REST = (schedules_hold_what_they_need, schedules_are_as_loaded, steps_are_lit, circuits_have_their_schedule,
           pages_show_what_is_lit)


# ------------------------------------------------------------------------------------------ answers

# A slice or its fabric may be gone, a repair under way, a schedule be unloaded by somebody else at
# any moment.
GONE, BUSY = {"ENODEV"}, {"ENODEV", "EAGAIN"}
LOST = BUSY | {"ENOENT", "ECANCELED"}
LIGHT = {"EIO", "ETIMEDOUT", "EXDEV", "ERANGE"}
RIGHT = {
    "load": {"0", "EBUSY", "ENOSPC", "EDQUOT", "EHOSTUNREACH", "ESTALE", *LIGHT, *BUSY},
    "load-wrong": {"EINVAL", "EOPNOTSUPP", "EFAULT", "ENOENT", "ESTALE", "EDQUOT", *BUSY},
    "start": {"0", "EBUSY", "EHOSTUNREACH", *LIGHT, *LOST},
    "go": {"0", "EINVAL", *LIGHT, *LOST},
    "jump": {"0", "EINVAL", *LIGHT, *LOST},
    "arrive": {"0", "EINVAL", *LOST},
    "wait": {"0", "EINTR", "EINVAL", *LOST},
    "stop": {"0", *LIGHT, *LOST},
    "unload": {"0", *LIGHT, *LOST},
    "info": {"0", "ENOENT", *GONE},
    "ring-new": {"0", "ENOENT", "EDQUOT", *GONE},
    "ring-close": {"0", "ENOENT", *GONE},
    "ring-wake": {"0", "ENOENT", *GONE},
    "ring-query": {"0", "ENOENT", *GONE},
    "map-ring": {"0", "EINVAL", *GONE},
    "map-page": {"0", "EDQUOT", *GONE},
}
RIGHT_IN_RING = RIGHT["go"]


def answers_are_right(lines):
    """Each call on schedules returned a permitted answer, and the data it read were consistent."""
    for words in lines:
        if words[0] == "call" and words[2] not in RIGHT[words[1]]:
            yield f"{words[1]} has answered {words[2]}"
        if words[0] == "answered" and words[4] not in RIGHT_IN_RING:
            yield f"ring {words[1]}:{words[2]} has answered {words[4]}"
        if words[0] == "wrong:":
            yield " ".join(words)


def numbers_are_new(logs):
    """No two schedules of a slice ever had the same number, and no two queues."""
    seen = set()
    for lines in logs:
        for words in lines:
            if words[0] not in ("loaded", "ring"):
                continue
            this = tuple(words[:3])
            if this in seen:
                yield f"{words[0]} {words[1]}:{words[2]} was there before"
            seen.add(this)


def rings_answer_in_order(lines):
    """The answers of a queue match its entries, one each and in order. At rest all entries before
    an invalid one are answered."""
    asked, answers, ends = (collections.defaultdict(list) for _ in range(3))
    for words in lines:
        ring = tuple(words[1:3])
        if words[0] == "submitted":
            asked[ring].append(words[3])
        elif words[0] == "answered":
            answers[ring].append(words[3])
            if answers[ring] != asked[ring][:len(answers[ring])]:
                yield f"ring {':'.join(ring)}: answer {words[3]} is out of turn"
        elif words[0] == "corrupt":
            ends[ring].append("corrupt")
        elif words[0] in ("drained", "halted"):
            if len(answers[ring]) < len(asked[ring]):
                yield f"ring {':'.join(ring)}: {len(asked[ring]) - len(answers[ring])} submissions were not answered"
            if (words[0] == "halted") != bool(ends[ring]):
                yield f"ring {':'.join(ring)} was {words[0]}, and {len(ends[ring])} of its entries are invalid"


def memory_is_given_back(lines, locked_kb):
    """The locked memory of a process is that of its remaining queues, by the last log entries of
    its two tenants."""
    said = {words[1]: int(words[2]) for words in lines if words[0] == "pinned"}
    if 4 * sum(said.values()) != locked_kb:
        yield f"{sum(said.values())} pages of rings are left, {locked_kb} KiB are locked"
