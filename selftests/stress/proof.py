# SPDX-License-Identifier: GPL-2.0-only
"""Rules for a fabric: each is a function of a profile and a snapshot, and yields descriptions of
errors.

The rules read the profile with an independent reader, and trace light themselves. A rule of ALWAYS
holds for every consistent snapshot. A rule of AT_REST holds when no actor runs, no fault is active,
and repairs have ended.
"""

import os
import sys
from collections import Counter, defaultdict

import order
from snapshot import NUMBERS, TOP

sys.path.insert(0, os.path.join(TOP, "profiles"))

import morphprofile     # noqa: E402

OK = NUMBERS["MORPH_HEALTH_OK"]
LIT, FAILED = NUMBERS["MORPH_CIRCUIT_LIT"], NUMBERS["MORPH_CIRCUIT_FAILED"]
FREE, SPARE, HELD = (NUMBERS["MORPH_USE_" + use] for use in ("FREE", "SPARE", "HELD"))
COMMITTED = NUMBERS["MORPH_OUTCOME_COMMITTED"]
UNDER_WAY = {NUMBERS["MORPH_OUTCOME_" + name] for name in ("PREPARED", "UNCONFIRMED", "RUNNING")}
SETTLED = {NUMBERS["MORPH_SLICE_" + name] for name in ("OK", "DEGRADED", "LOST")}
SLICE_OK = NUMBERS["MORPH_SLICE_OK"]
EVENT_LOST = NUMBERS["MORPH_EVENT_LOST"]
PARTS = {kind: NUMBERS["MORPH_PART_" + kind.upper()] for kind in ("accelerator", "laser", "receiver", "element", "guide")}
MOST_LEAKS = 1


def lanes_of(mask):
    return [lane for lane in range(mask.bit_length()) if mask >> lane & 1]


def weight(mask):
    return bin(mask).count("1")


def name_of(circuit):
    return f"circuit {circuit['slice']}:{circuit['id']}"


def source_of(profile, circuit):
    """(what, index) where its light starts: a transmitter's port or an edge."""
    if "src_edge" in circuit:
        return "edge", circuit["src_edge"]
    return "port", circuit["src_accelerator"] * profile.parameters["planes"] + circuit["src_plane"]


def target_of(profile, circuit):
    if "dst_edge" in circuit:
        return "edge", circuit["dst_edge"]
    return "port", circuit["dst_accelerator"] * profile.parameters["planes"] + circuit["dst_plane"]


def reserving(snapshot):
    """Does a slice hold, for its spare, more than its circuits do?"""
    return any(slice_["reserved"] for slice_ in snapshot.objects["slice"])


# -------------------------------------------------------------------------------------------- lanes

def lanes_are_used_once(profile, snapshot):
    """No two circuits have the same wavelength of a guide, a transmitter or a receiver."""
    users = defaultdict(list)
    for circuit in snapshot.objects["circuit"]:
        places = [("guide", guide) for guide in circuit["guide"]]
        places += [("from", *source_of(profile, circuit)), ("to", *target_of(profile, circuit))]
        for place in places:
            for other, lanes in users[place]:
                if lanes & circuit["lanes"]:
                    yield f"{name_of(circuit)} and {name_of(other)} have lanes {lanes & circuit['lanes']:#x} of {place}"
            users[place].append((circuit, circuit["lanes"]))


def held_by(holds):
    """Return the hardware that schedules hold besides lit circuits: {guide: required lanes},
    {guide: permitted lanes}, pins, lanes."""
    least, most, pins = defaultdict(int), defaultdict(int), Counter()
    lanes = [0, 0]
    for hold in holds:
        if not hold.taken:
            continue
        pins.update(hold.elements.keys())
        for circuit, mask in hold.lanes.items():
            lanes[0] += hold.weight if hold.known else 0
            lanes[1] += weight(mask)
            for guide in hold.guides(circuit):
                least[guide] |= mask if hold.known else 0
                most[guide] |= mask
    return least, most, pins, lanes


def ledger_has_circuits(_profile, snapshot):
    """Claimed lanes are exactly those of circuits, schedules and slices with reserved protection.
    """
    lit, more = defaultdict(int), reserving(snapshot)
    for circuit in snapshot.objects["circuit"]:
        for guide in circuit["guide"]:
            lit[guide] |= circuit["lanes"]
    holds = order.holds_of(snapshot)
    least, most, held_pins, held_lanes = held_by(holds)
    for guide in snapshot.objects["guide"]:
        number, claimed = guide["id"], guide["lanes"] & ~guide["lanes_free"]
        missing, surplus = (lit[number] | least[number]) & ~claimed, claimed & ~lit[number] & ~most[number]
        if missing or (surplus and not more):
            yield (f"guide {number}: claimed {claimed:#x}, circuits have {lit[number]:#x}, "
                   f"schedules {most[number] & ~lit[number]:#x}")
    pins = Counter(element for circuit in snapshot.objects["circuit"] for element in circuit["element"])
    for element in snapshot.objects["element"]:
        number = element["id"]
        right = pins[number] + held_pins[number]
        if element["pins"] < right or (element["pins"] > right and not more):
            yield f"element {number}: {element['pins']} pins, {pins[number]} circuits, {held_pins[number]} schedules"
    alone = {element for hold in holds if hold.taken for element, states in hold.elements.items() if len(states) > 1}
    if snapshot.ledger["elements held"] < len(alone) or (snapshot.ledger["elements held"] > len(alone) and not more):
        yield f"elements held: {snapshot.ledger['elements held']}, schedules have {len(alone)} in several states"
    lanes = sum(weight(circuit["lanes"]) for circuit in snapshot.objects["circuit"])
    for key in ("transmit lanes held", "receive lanes held"):
        if snapshot.ledger[key] < lanes or (snapshot.ledger[key] > lanes + held_lanes[1] and not more):
            yield f"{key}: {snapshot.ledger[key]}, circuits have {lanes}, schedules at most {held_lanes[1]}"


# ----------------------------------------------------------------------------------------- hardware

def elements_are_as_believed(_profile, snapshot):
    """Each element is in the state that the driver reports, and that its circuits need."""
    believed = {element["id"]: element for element in snapshot.objects["element"]}
    for number, state in snapshot.hardware.states.items():
        if believed[number]["health"] == OK and believed[number]["state"] != state:
            yield f"element {number} is in state {state}, the driver says {believed[number]['state']}"
    for circuit in snapshot.objects["circuit"]:
        for number, state in zip(circuit["element"], circuit["element_state"]):
            if circuit["state"] == LIT and snapshot.hardware.states[number] != state:
                yield f"{name_of(circuit)} needs element {number} in state {state}"


def follow(profile, states, code):
    """Trace light that enters at a guide's end. Return guides, elements, and the end of its path:
    (kind, index) or None."""
    guides, elements = [], []
    while code >= 0:
        guide, end = code >> 1, code & 1
        guides.append(guide)
        what, index, port = profile.guide_end(guide, 1 - end)
        if what == morphprofile.RX:
            return guides, elements, ("port", index * profile.parameters["planes"] + port)
        if what == morphprofile.EDGE:
            return guides, elements, ("edge", index)
        if what != morphprofile.ELEMENT or len(guides) > profile.guides_count:
            break
        elements.append(index)
        joined = profile.kinds[profile.element_kind[index]].states[states[index]][port]
        code = -1 if joined is None else profile.port_guide[profile.first_port[index] + joined]
    return guides, elements, None


def entry(profile, source):
    what, index = source
    return (profile.edge_guide if what == "edge" else profile.tx_guide)[index]


def impaired(snapshot, kind):
    return {part["index"] for part in snapshot.objects["hardware"]
            if part["part"] == PARTS[kind] and part["health"] != OK}


def lasers_are_circuits(profile, snapshot):
    """Each laser that is on belongs to a circuit, and each lit circuit has a laser that is on."""
    wanted, allowed = defaultdict(int), defaultdict(int)
    for circuit in snapshot.objects["circuit"]:
        what, index = source_of(profile, circuit)
        if what == "port":
            allowed[index] |= circuit["lanes"]
            wanted[index] |= circuit["lanes"] if circuit["state"] == LIT else 0
    lasers, broken = snapshot.hardware.lasers, impaired(snapshot, "laser")
    for port in sorted(set(lasers) | set(wanted)):
        on = lasers.get(port, 0)
        if wanted[port] & ~on:
            yield f"laser {port}: lanes {wanted[port] & ~on:#x} of lit circuits are off"
        if on & ~allowed[port] and port not in broken:
            yield f"laser {port}: lanes {on & ~allowed[port]:#x} are on for nobody"


def sources(profile, snapshot):
    """Return the sources of light: ((kind, index), lanes)."""
    for port, lanes in snapshot.hardware.lasers.items():
        yield ("port", port), lanes
    for edge, powers in snapshot.hardware.incoming.items():
        lanes = sum(1 << lane for lane, power in powers.items() if power > profile.parameters["dark_mdbm"])
        if lanes:
            yield ("edge", edge), lanes


def light_goes_its_way(profile, snapshot):
    """The light of each lit circuit follows the guides and elements of the driver's path to its
    receiver."""
    for circuit in snapshot.objects["circuit"]:
        if circuit["state"] != LIT:
            continue
        source = source_of(profile, circuit)
        guides, elements, end = follow(profile, snapshot.hardware.states, entry(profile, source))
        if end != target_of(profile, circuit):
            yield f"{name_of(circuit)}: light from {source} ends at {end}"
        elif (guides, elements) != (circuit["guide"], circuit["element"]):
            yield f"{name_of(circuit)}: light takes guides {guides}, the driver says {circuit['guide']}"
        what, index = target_of(profile, circuit)
        if what == "port" and circuit["lanes"] & ~snapshot.hardware.lit.get(index, 0):
            yield f"{name_of(circuit)}: receiver {index} sees {snapshot.hardware.lit.get(index, 0):#x}"


def arrivals(profile, snapshot, source):
    """Return (port of the receiver, power of one lane) for each bright source. The power is that of
    a laser, or the limit of a peer."""
    parameters = profile.parameters
    what, index = source
    start = divmod(index, parameters["planes"]) if what == "port" else source
    power = parameters["laser_mdbm"] if what == "port" else max(snapshot.hardware.incoming[index].values())
    found = morphprofile.gains(profile, snapshot.hardware.states, start, max_leaks=MOST_LEAKS,
                               most_mdb=power - parameters["sensitivity_mdbm"])
    return [accelerator * parameters["planes"] + plane for accelerator, plane in found if accelerator != "edge"]


def light_stays_with_its_tenant(profile, snapshot):
    """Trace light from every laser and every edge: visible light belongs to a circuit that ends at
    the receiver."""
    ends = defaultdict(int)
    for circuit in snapshot.objects["circuit"]:
        ends[source_of(profile, circuit), target_of(profile, circuit)] |= circuit["lanes"]
    holders = {rank["accelerator"]: slice_["id"] for slice_ in snapshot.objects["slice"] for rank in slice_["rank"]}
    broken = impaired(snapshot, "laser")
    for source, lanes in sources(profile, snapshot):
        if source[0] == "port" and source[1] in broken:
            continue
        for port in arrivals(profile, snapshot, source):
            stray = lanes & ~ends[source, ("port", port)]
            if stray:
                slice_ = holders.get(port // profile.parameters["planes"])
                yield f"lanes {stray:#x} of {source} shine into receiver {port} of slice {slice_}"


def places_of(profile, circuit):
    """The hardware that a circuit needs: (kind, index)."""
    planes = profile.parameters["planes"]
    for kind in ("guide", "element"):
        yield from ((kind, number) for number in circuit[kind])
    for end, part in (("src", "laser"), ("dst", "receiver")):
        if f"{end}_edge" not in circuit:
            yield "accelerator", circuit[f"{end}_accelerator"]
            yield part, circuit[f"{end}_accelerator"] * planes + circuit[f"{end}_plane"]


def darkness_has_a_cause(profile, snapshot):
    """A dark circuit needs hardware that is not healthy, and its slice is degraded."""
    bad = {(part["part"], part["index"]) for part in snapshot.objects["hardware"]
           if part["health"] != OK or part.get("cordoned")}
    states = {slice_["id"]: slice_["state"] for slice_ in snapshot.objects["slice"]}
    for circuit in snapshot.objects["circuit"]:
        if circuit["state"] != FAILED:
            continue
        if not any((PARTS[kind], number) in bad for kind, number in places_of(profile, circuit)):
            yield f"{name_of(circuit)} is dark, but all its hardware is healthy"
        if states[circuit["slice"]] == SLICE_OK:
            yield f"{name_of(circuit)} is dark, but its slice is in state ok"


# ------------------------------------------------------------------------------------- accelerators

def accelerators_have_one_slice(_profile, snapshot):
    """No accelerator is in two slices."""
    ranks = defaultdict(list)
    for slice_ in snapshot.objects["slice"]:
        for rank in slice_["rank"]:
            ranks[rank["accelerator"]].append((slice_["id"], rank["rank"]))
    for accelerator, places in ranks.items():
        if len(places) > 1:
            yield f"accelerator {accelerator} is in {places}"


def accelerators_are_as_slices_say(_profile, snapshot):
    """Check use, slice and rank of each accelerator, and the fabric's counts of them."""
    ranks = {rank["accelerator"]: (slice_["id"], rank["rank"])
             for slice_ in snapshot.objects["slice"] for rank in slice_["rank"]}
    reserved = {slice_["id"] for slice_ in snapshot.objects["slice"] if slice_["reserved"]}
    counts = Counter()
    for chip in snapshot.objects["accelerator"]:
        place = (chip["slice"], chip.get("rank")) if "slice" in chip else None
        expected = ranks.get(chip["id"])
        if place != expected and not (expected is None and place and place[1] is None and place[0] in reserved):
            yield f"accelerator {chip['id']} says {place}, slices say {expected}"
        if (chip["use"] == HELD) != (place is not None):
            yield f"accelerator {chip['id']}: use {chip['use']}, slice {place}"
        counts["held"] += chip["use"] == HELD
        counts["failed"] += chip["health"] != OK
        if chip["health"] == OK and not chip["cordoned"]:
            counts["free"] += chip["use"] == FREE
            counts["spares"] += chip["use"] == SPARE
    fabric = snapshot.fabric
    for key in ("held", "failed"):
        if fabric[key] != counts[key]:
            yield f"the fabric counts {fabric[key]} {key}, there are {counts[key]}"
    for key in ("free", "spares"):      # fewer: some are held down, or in a test
        if fabric[key] > counts[key]:
            yield f"the fabric counts {fabric[key]} {key}, there are at most {counts[key]}"
    if fabric["slices"] != len(snapshot.objects["slice"]):
        yield f"the fabric counts {fabric['slices']} slices, there are {len(snapshot.objects['slice'])}"


def circuits_end_at_their_ranks(_profile, snapshot):
    """Each circuit ends at the accelerators that its ranks have now."""
    places = {(slice_["id"], rank["rank"]): rank["accelerator"]
              for slice_ in snapshot.objects["slice"] for rank in slice_["rank"]}
    for circuit in snapshot.objects["circuit"]:
        for end in ("src", "dst"):
            if f"{end}_edge" in circuit:
                continue
            place = places.get((circuit["slice"], circuit[f"{end}_rank"]))
            if place != circuit[f"{end}_accelerator"]:
                yield (f"{name_of(circuit)} ends at accelerator {circuit[f'{end}_accelerator']}, "
                       f"rank {circuit[f'{end}_rank']} is at {place}")


def nothing_uses_what_is_barred(_profile, snapshot, barred):
    """Hardware that was always cordoned is in no slice and no circuit."""
    for slice_ in snapshot.objects["slice"]:
        for rank in slice_["rank"]:
            if rank["accelerator"] in barred["accelerator"]:
                yield f"slice {slice_['id']} has the cordoned accelerator {rank['accelerator']}"
    for circuit in snapshot.objects["circuit"]:
        for kind in ("guide", "element"):
            for number in barred[kind] & set(circuit[kind]):
                yield f"{name_of(circuit)} uses the cordoned {kind} {number}"
    for kind, members in barred.items():
        for part in snapshot.objects[kind]:
            if part["id"] in members and not part["cordoned"]:
                yield f"{kind} {part['id']} is cordoned no more"


# ------------------------------------------------------------------------------------------- owners

def slices_have_owners(_profile, snapshot):
    """A slice without a name exists only while a file of it is open; the count of files is correct.
    """
    number = snapshot.fabric["id"]
    held = {holder.slice for holder in snapshot.holders if holder.fabric == number and holder.slice is not None}
    for slice_ in snapshot.objects["slice"]:
        if (slice_["id"] in held) != (slice_["files"] > 0):
            yield f"slice {slice_['id']}: {slice_['files']} files, by /proc {'some' if slice_['id'] in held else 'none'}"
        if not slice_.get("name") and slice_["id"] not in held:
            yield f"slice {slice_['id']} has neither name nor file"


def quotas_are_what_is_held(_profile, *snapshots):
    """Each user and grant is charged for the slices that it has, in all fabrics together."""
    held = defaultdict(Counter)
    user_of, open_ended = {}, set()
    for slice_ in (slice_ for snapshot in snapshots for slice_ in snapshot.objects["slice"]):
        user = ("grant", slice_["grant"]) if "grant" in slice_ else ("uid", slice_["owner"])
        user_of[slice_["id"]] = user
        held[user]["accelerators"] += slice_["ranks_count"] + slice_["reserved"]
        if slice_["reserved"]:
            open_ended.add(user)
    for circuit in (circuit for snapshot in snapshots for circuit in snapshot.objects["circuit"]):
        held[user_of[circuit["slice"]]]["circuits"] += 1
        held[user_of[circuit["slice"]]]["lanes"] += weight(circuit["lanes"])
    for snapshot in snapshots:
        for schedule in snapshot.schedules:
            user, load = user_of[schedule["slice"]], order.load_of(snapshot, schedule)
            dark = schedule["circuits"] - len(order.lit_of(snapshot, schedule))
            held[user]["circuits"] += dark
            held[user]["lanes"] += dark * (load.weight if load else 1)
            if not load:
                open_ended.add(user)
    charged = {}
    for quota in snapshots[-1].objects["quota"]:
        if "grant" in quota or "uid" in quota:
            charged["grant" if "grant" in quota else "uid", quota.get("grant", quota.get("uid"))] = quota
    for user in sorted(set(held) | set(charged)):
        quota = charged.get(user)
        for key in ("accelerators", "circuits", "lanes", "prepared"):
            used, right = quota["used_" + key] if quota else 0, held[user][key]
            if used < right or (used > right and not (key == "lanes" and user in open_ended)):
                yield f"{user[0]} {user[1]} is charged {used} {key}, and holds {right}"


# --------------------------------------------------------------------------------------------- rest

def all_is_at_rest(_profile, snapshot):
    """No operation is in progress."""
    for slice_ in snapshot.objects["slice"]:
        if slice_["state"] not in SETTLED:
            yield f"slice {slice_['id']} is in state {slice_['state']}"
    for circuit in snapshot.objects["circuit"]:
        if circuit["state"] not in (LIT, FAILED):
            yield f"{name_of(circuit)} is in state {circuit['state']}"
    for txn in snapshot.objects["txn"]:
        if txn["outcome"] in UNDER_WAY:
            yield f"transaction {txn['id']} is in outcome {txn['outcome']}"
    if snapshot.hardware.settling:
        yield "elements still settle"


def nothing_is_left(_profile, snapshot):
    """No hardware is held, and everything is dark."""
    for kind in ("slice", "circuit"):
        for this in snapshot.objects[kind]:
            yield f"{kind} {this['id']} is left"
    for key in ("elements pinned", "elements held", "guide lanes held", "transmit lanes held", "transmit lanes on", "receive lanes held"):
        if snapshot.ledger[key]:
            yield f"{key}: {snapshot.ledger[key]}"
    for quota in snapshot.objects["quota"]:
        if quota.get("used_bytes"):
            yield f"{quota['used_bytes']} bytes are charged to {quota.get('uid', quota.get('grant'))}"
    for port, lanes in snapshot.hardware.lasers.items():
        yield f"laser {port} is on: {lanes:#x}"
    for port, lanes in snapshot.hardware.lit.items():
        if lanes:
            yield f"receiver {port} sees {lanes:#x}"


ALWAYS = (lanes_are_used_once, accelerators_have_one_slice, circuits_end_at_their_ranks)
AT_REST = (all_is_at_rest, ledger_has_circuits, elements_are_as_believed, lasers_are_circuits, light_goes_its_way,
           light_stays_with_its_tenant, darkness_has_a_cause, accelerators_are_as_slices_say, slices_have_owners, *order.AT_REST)


def broken(rules, profile, snapshot, *more):
    """Return descriptions of all errors, each with its rule."""
    return [f"{rule.__name__}: {sentence}" for rule in rules for sentence in rule(profile, snapshot, *more)]


# ------------------------------------------------------------------------------------------- events

def key_of(event):
    return event["type"], event["seq"], event["time_ns"]


def mismatch(sent, read, emptied):
    """Return a description of the first event that differs from the monitor's next event, or None.
    """
    at = 0
    for event in read:
        if event["type"] == EVENT_LOST:
            at += event["lost"]
            continue
        if at >= len(sent) or key_of(sent[at]) != key_of(event):
            return f"event {at}: read {key_of(event)}, sent {key_of(sent[at]) if at < len(sent) else 'nothing more'}"
        at += 1
    if at > len(sent) or (emptied and at < len(sent)):
        return f"{at} events were read or announced as lost, {len(sent)} sent"
    return None


def events_are_whole(sent, read, since, emptied):
    """The events of a file are those that the monitor received for its slice, in order. Events for
    lost ones announce gaps.

    @sent are the events of one slice since its creation. @read are those of its first file, opened
    at the fabric's seq @since. With @emptied its queue is empty.
    """
    early = [index for index, event in enumerate(sent) if event["seq"] <= since]
    findings = [mismatch(sent[skipped:], read, emptied) for skipped in (0, *(index + 1 for index in early))]
    if all(findings):
        yield findings[0]


# ------------------------------------------------------------------------------------------ answers

def stale_is_refused(lines):
    """The driver refused changes for an old generation: lines of an actor's log, split into words.
    """
    stale = {words[0] for words in lines if words[1:] == ["change-stale"]}
    for words in lines:
        if words[0] == "=" and words[1] in stale and words[2] == "0":
            yield f"act {words[1]} was meant for an older generation, and was done"


# -------------------------------------------------------------------------------------- two fabrics

def ending(snapshot, slice_, cookie):
    """Is a slice's transaction of that cookie confirmed? None: it has not ended."""
    found = [txn for txn in snapshot.objects["txn"] if txn.get("slice") == slice_ and txn.get("cookie") == cookie]
    if not found:
        return False
    return None if found[-1]["outcome"] in UNDER_WAY else found[-1]["outcome"] == COMMITTED


def pairs_end_alike(one, other, pairs):
    """Both halves of a change are confirmed, or both reverted: pairs of (cookie, slice in one,
    slice in other)."""
    for cookie, slice_one, slice_other in pairs:
        endings = ending(one, slice_one, cookie), ending(other, slice_other, cookie)
        if None in endings or endings[0] != endings[1]:
            yield f"cookie {cookie:#x}: confirmed {endings[0]} in slice {slice_one}, {endings[1]} in slice {slice_other}"


def halves_match(one, other):
    """The peer expects all light that leaves for it, on the same lanes, and the light arrives."""
    for here, there in ((one, other), (other, one)):
        peer = {edge["id"]: edge["peer_edge"] for edge in here.objects["edge"]}
        expected = {circuit["src_edge"]: circuit for circuit in there.objects["circuit"] if "src_edge" in circuit}
        leaving = [circuit for circuit in here.objects["circuit"] if "dst_edge" in circuit]
        for circuit in leaving:
            half = expected.pop(peer[circuit["dst_edge"]], None)
            if half is None or half["lanes"] != circuit["lanes"]:
                yield f"{name_of(circuit)} leaves at edge {circuit['dst_edge']}, and is not expected there"
            elif {circuit["state"], half["state"]} != {LIT}:
                yield f"{name_of(circuit)} is in state {circuit['state']}, its other half in {half['state']}"
            elif any(lane not in there.hardware.incoming.get(half["src_edge"], {}) for lane in lanes_of(half["lanes"])):
                yield f"{name_of(circuit)} does not arrive at the peer's edge {half['src_edge']}"
        for edge, circuit in expected.items():
            yield f"{name_of(circuit)} waits for light at edge {edge} that nobody sends"
