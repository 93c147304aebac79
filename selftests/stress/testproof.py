#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Check the rules of proof.py: each must accept a correct snapshot of a fabric, and report an
altered one.

The test makes the fabric from a profile only: two tenants with circuits, one of them between two
fabrics.
"""

import copy
import os
import sys
import traceback

import order
import proof
import snapshot
from proof import FAILED, HELD, LIT, OK
from snapshot import NUMBERS, Hardware, Holder, Snapshot

PROFILES = os.path.join(snapshot.TOP, "build/profiles")
PEER = {0: 4, 1: 5, 2: 6, 3: 7, 4: 0, 5: 1, 6: 2, 7: 3}


class Maker:
    """A snapshot of an idle fabric, to which tests add slices and circuits."""

    def __init__(self, name, number):
        self.profile = proof.morphprofile.load(os.path.join(PROFILES, name + ".bin"))
        one = self.profile
        self.states, self.pins = one.parked(), [0] * one.elements_count
        lanes = (1 << one.parameters["wavelengths"]) - 1
        self.objects = {kind: [] for kind in snapshot.OBJECTS}
        self.objects["fabric"] = [{"id": number, "seq": 5, "held": 0, "failed": 0, "free": 0, "spares": 0, "slices": 0}]
        self.objects["accelerator"] = [{"id": index, "use": proof.SPARE if chip.spare else proof.FREE, "health": OK,
                                        "cordoned": 0} for index, chip in enumerate(one.accelerators)]
        self.objects["guide"] = [{"id": index, "lanes": lanes, "lanes_free": lanes, "cordoned": 0}
                                 for index in range(one.guides_count)]
        self.objects["element"] = [{"id": index, "health": OK, "cordoned": 0} for index in range(one.elements_count)]
        self.objects["edge"] = [{"id": index, "peer_edge": edge.peer_edge} for index, edge in enumerate(one.edges)]
        self.lasers, self.lit, self.incoming, self.holders = {}, {}, {}, []
        self.schedules, self.pages, self.loads, self.dark = [], {}, {}, []

    def slice(self, number, accelerators, owner, **more):
        self.objects["slice"].append({"id": number, "owner": owner, "reserved": 0, "files": 1, "state": 0, "generation": 7,
                                      "ranks_count": len(accelerators),
                                      "rank": [{"rank": rank, "accelerator": accelerator}
                                               for rank, accelerator in enumerate(accelerators)], **more})
        for rank, accelerator in enumerate(accelerators):
            self.objects["accelerator"][accelerator].update(use=HELD, slice=number, rank=rank)
        self.holders.append(Holder(100 + number, 3, self.objects["fabric"][0]["id"], number))

    def search(self, source, target):
        """Find the first path from a source to a target that keeps pinned elements. Return guides,
        elements, states."""
        one = self.profile
        queue, seen = [(proof.entry(one, source), [], [], [])], set()
        while queue:
            code, guides, elements, states = queue.pop(0)
            guide, end = code >> 1, code & 1
            what, index, port = one.guide_end(guide, 1 - end)
            guides = guides + [guide]
            reached = ("edge", index) if what == proof.morphprofile.EDGE else \
                ("port", index * one.parameters["planes"] + port)
            if what in (proof.morphprofile.RX, proof.morphprofile.EDGE):
                if reached == target:
                    return guides, elements, states
                continue
            if what != proof.morphprofile.ELEMENT or (index, port) in seen:
                continue
            seen.add((index, port))
            for other, ways in one.kinds[one.element_kind[index]].reach[port].items():
                onward = one.port_guide[one.first_port[index] + other]
                state = self.states[index] if self.pins[index] else ways[0]
                if onward >= 0 and state in ways and index not in elements:
                    queue.append((onward, guides, elements + [index], states + [state]))
        raise AssertionError(f"no path from {source} to {target}")

    def circuit(self, slice_, number, lanes, **ends):
        """A lit circuit; ends as netlink names them."""
        circuit = self.lead(slice_, number, lanes, **ends)
        source, target = proof.source_of(self.profile, circuit), proof.target_of(self.profile, circuit)
        if source[0] == "port":
            self.lasers[source[1]] = self.lasers.get(source[1], 0) | lanes
        else:
            self.incoming[source[1]] = {lane: 0 for lane in proof.lanes_of(lanes)}
        if target[0] == "port":
            self.lit[target[1]] = self.lit.get(target[1], 0) | lanes
        self.objects["circuit"].append(circuit)
        return circuit

    def lead(self, slice_, number, lanes, **ends):
        """A way for a circuit, which is claimed."""
        one, circuit = self.profile, {"slice": slice_, "id": number, "state": LIT, "lanes": lanes, **ends}
        circuit["bandwidth_mbps"] = 100 * proof.weight(lanes)
        ranks = {rank["accelerator"]: rank["rank"] for other in self.objects["slice"] if other["id"] == slice_
                 for rank in other["rank"]}
        circuit.update({end.replace("accelerator", "rank"): ranks.get(place) for end, place in ends.items()
                        if end.endswith("accelerator")})
        source, target = proof.source_of(one, circuit), proof.target_of(one, circuit)
        guides, elements, states = self.search(source, target)
        circuit.update(guide=guides, element=elements, element_state=states)
        for element, state in zip(elements, states):
            self.states[element] = state
            self.pins[element] += 1
        for guide in guides:
            self.objects["guide"][guide]["lanes_free"] &= ~lanes
        return circuit

    def schedule(self, slice_, number, lanes, ends):
        """A loop of steps of one circuit each, of which the first is lit."""
        first, paths, elements = order.FIRST_ID, {}, set()
        for at, end in enumerate(ends):
            circuit = (self.lead if at else self.circuit)(slice_, first + at, lanes, **end)
            paths[first + at] = {key: circuit[key] for key in ("guide", "element", "element_state")}
            elements.update(circuit["element"])
            if at:
                self.dark.append(circuit)
                for element in circuit["element"]:
                    self.pins[element] -= 1
        for element in elements:
            self.pins[element] += 1
        self.loads[f"{slice_}:{number}"] = order.Load(first, 7, lanes, proof.weight(lanes), order.LOOP,
                                                      [[at] for at in range(len(ends))])
        self.schedules.append({"slice": slice_, "id": number, "state": order.RUNNING, "flags": order.LOOP, "step": 0,
                               "position": 1, "error": 0, "circuits": len(ends), "lit": 1, "first": first, "paths": paths,
                               "steps": [{"circuits": 1} for _ in ends]})

    def page(self, slice_, ranks):
        """The slice's state page, by its circuits and its schedule."""
        def between(src, dst):
            return [circuit for circuit in self.objects["circuit"] if circuit["slice"] == slice_ and
                    (circuit["src_rank"], circuit["dst_rank"]) == (src, dst)]
        self.pages[slice_] = {"version": 8, "generation": 7, "schedule": 3, "state": order.RUNNING, "step": 0, "position": 1,
                              "pairs": [{"src": src, "dst": dst, "hops": len(between(src, dst)[-1]["guide"])
                                         if between(src, dst) else 0,
                                         "mbps": sum(circuit["bandwidth_mbps"] for circuit in between(src, dst))}
                                        for src in range(ranks) for dst in range(ranks)]}

    def snapshot(self):
        """Return the current snapshot."""
        objects = self.objects
        for element, state, pins in zip(objects["element"], self.states, self.pins):
            element.update(state=state, pins=pins)
        chips, fabric = objects["accelerator"], objects["fabric"][0]
        for key, use in (("held", HELD), ("free", proof.FREE), ("spares", proof.SPARE)):
            fabric[key] = sum(chip["use"] == use for chip in chips)
        fabric["slices"] = len(objects["slice"])
        lit = sum(proof.weight(circuit["lanes"]) for circuit in objects["circuit"])
        circuits = [*objects["circuit"], *self.dark]
        lanes = sum(proof.weight(circuit["lanes"]) for circuit in circuits)
        owners = {slice_["id"]: slice_["owner"] for slice_ in objects["slice"]}
        objects["quota"] = [{"accelerators": 9}] + [
            {"uid": owner, "used_prepared": 0,
             "used_accelerators": sum(one["ranks_count"] for one in objects["slice"] if one["owner"] == owner),
             "used_circuits": sum(owners[one["slice"]] == owner for one in circuits),
             "used_lanes": sum(proof.weight(one["lanes"]) for one in circuits if owners[one["slice"]] == owner)}
            for owner in sorted(set(owners.values()))]
        hardware = Hardware(1, dict(enumerate(self.states)), dict(self.lasers), dict(self.lit),
                            {edge: dict(powers) for edge, powers in self.incoming.items()})
        ledger = {"transmit lanes held": lanes, "receive lanes held": lanes, "transmit lanes on": lit,
                  "elements pinned": sum(pins > 0 for pins in self.pins), "elements held": 0, "guide lanes held": lanes}
        return copy.deepcopy(Snapshot(objects, hardware, ledger, list(self.holders), self.schedules, self.pages,
                                      self.loads))


def server():
    """Two tenants next to each other: a pair each, connected in both directions."""
    maker = Maker("server8", 3)
    maker.slice(11, [0, 1], 2000)
    maker.slice(12, [2, 3], 2001)
    for slice_, first in ((11, 0), (12, 2)):
        for rank in (0, 1):
            maker.circuit(slice_, rank, 0x3, src_accelerator=first + rank, src_plane=rank,
                          dst_accelerator=first + 1 - rank, dst_plane=rank)
    return maker


def pair():
    """Two fabrics and a circuit there and back."""
    makers = [Maker("edge4", 5), Maker("edge4", 6)]
    for index, maker in enumerate(makers):
        maker.slice(21 + index, [1], 0, name="half")
        maker.circuit(21 + index, 0, 0x1, src_accelerator=1, src_plane=0, dst_edge=0)
        maker.circuit(21 + index, 1, 0x1, src_edge=4, dst_accelerator=1, dst_plane=0)
        maker.objects["txn"] = [{"id": 1, "slice": 21 + index, "cookie": 7, "outcome": proof.COMMITTED}]
    return makers


def ordered():
    """One tenant more, with a schedule of three steps and a state page."""
    maker = server()
    maker.slice(13, [4, 5, 6], 2001)
    ends = [{"src_accelerator": 4 + at, "src_plane": 2, "dst_accelerator": 4 + (at + 1) % 3, "dst_plane": 2} for at in range(3)]
    maker.schedule(13, 3, 0x4, ends)
    maker.page(13, 3)
    return maker


SERVER = server()
ORDERED = ordered()
ONE, OTHER = pair()
BARRED = {"accelerator": {7}, "guide": set(), "element": set()}
EVENTS = [{"type": 2 + index % 3, "seq": 10 + index // 2, "time_ns": 1000 + index} for index in range(9)]


def complaints(rule, taken, profile=SERVER.profile):
    more = [BARRED] if rule is proof.nothing_uses_what_is_barred else []
    return list(rule(profile, taken, *more))


def finds(rule, doctor, *parts, maker=SERVER):
    """The rule accepts the correct fabric, and reports the altered one with these words."""
    taken = maker.snapshot()
    assert not complaints(rule, taken), complaints(rule, taken)
    doctor(taken)
    found = complaints(rule, taken)
    assert found, f"{rule.__name__} has seen nothing"
    for part in parts:
        assert any(part in sentence for sentence in found), found


def of(taken, kind, **values):
    """The object with these values."""
    return next(one for one in taken.objects[kind] if all(one.get(key) == value for key, value in values.items()))


def valid_fabrics_pass():
    for maker in (SERVER, ORDERED, ONE, OTHER):
        taken = maker.snapshot()
        found = proof.broken((*proof.ALWAYS, *proof.AT_REST), maker.profile, taken)
        found += proof.broken([proof.quotas_are_what_is_held], None, taken)
        assert not found, found
    assert not list(proof.halves_match(ONE.snapshot(), OTHER.snapshot()))
    assert len(SERVER.objects["circuit"]) == 4 and all(circuit["element"] for circuit in SERVER.objects["circuit"])


def lane_that_is_used_twice():
    def doctor(taken):
        mine, theirs = of(taken, "circuit", slice=11), of(taken, "circuit", slice=12)
        theirs["guide"].append(mine["guide"][2])
    finds(proof.lanes_are_used_once, doctor, "11:0", "12:0")


def transmitter_that_is_used_twice():
    def doctor(taken):
        of(taken, "circuit", slice=11, id=1).update(src_accelerator=0, src_plane=0)
    finds(proof.lanes_are_used_once, doctor, "from")


def lane_that_the_ledger_thinks_free():
    def doctor(taken):
        guide = of(taken, "circuit", slice=11)["guide"][1]
        of(taken, "guide", id=guide)["lanes_free"] |= 1
    finds(proof.ledger_has_circuits, doctor, "claimed 0x2")


def lane_that_was_not_released():
    finds(proof.ledger_has_circuits, lambda taken: taken.objects["guide"][-1].update(lanes_free=0xfffe), "claimed 0x1")


def pin_that_was_not_released():
    finds(proof.ledger_has_circuits, lambda taken: of(taken, "element", pins=0).update(pins=1), "1 pins, 0 circuits")


def element_that_is_elsewhere():
    def doctor(taken):
        taken.hardware.states[0] ^= 1
    finds(proof.elements_are_as_believed, doctor, "element 0 is in state")


def element_that_a_circuit_needs_otherwise():
    def doctor(taken):
        circuit = of(taken, "circuit", slice=12)
        circuit["element_state"][0] ^= 1
    finds(proof.elements_are_as_believed, doctor, "circuit 12:0 needs")


def laser_that_is_off():
    finds(proof.lasers_are_circuits, lambda taken: taken.hardware.lasers.pop(0), "laser 0", "are off")


def laser_that_is_on_without_a_circuit():
    finds(proof.lasers_are_circuits, lambda taken: taken.hardware.lasers.update({40: 4}), "laser 40", "for nobody")


def light_that_goes_another_way():
    finds(proof.light_goes_its_way, lambda taken: of(taken, "circuit", slice=11)["guide"].reverse(), "light takes")


def light_that_does_not_arrive():
    def doctor(taken):
        number = of(taken, "circuit", slice=11)["element"][1]
        states = len(SERVER.profile.kinds[SERVER.profile.element_kind[number]].states)
        taken.hardware.states[number] = (taken.hardware.states[number] + 1) % states
    finds(proof.light_goes_its_way, doctor, "circuit 11:0: light from")


def receiver_that_is_blind():
    finds(proof.light_goes_its_way, lambda taken: taken.hardware.lit.clear(), "sees 0x0")


def light_of_another_tenant():
    """The snapshot assigns the circuit of slice 12 to another slice, but its light still goes to
    slice 12."""
    def doctor(taken):
        circuit = of(taken, "circuit", slice=12)
        circuit.update(slice=11, dst_accelerator=0, dst_plane=5)
    finds(proof.light_stays_with_its_tenant, doctor, "of slice 12")


def light_of_unclaimed_lanes():
    def doctor(taken):
        taken.hardware.lasers[0] |= 0x10
    finds(proof.light_stays_with_its_tenant, doctor, "lanes 0x10", "of slice 11")


def darkness_without_a_cause():
    def doctor(taken):
        of(taken, "circuit", slice=12).update(state=FAILED)
    finds(proof.darkness_has_a_cause, doctor, "circuit 12:0 is dark, but all its hardware is healthy", "its slice is in state ok")
    taken = SERVER.snapshot()
    doctor(taken)
    of(taken, "slice", id=12)["state"] = NUMBERS["MORPH_SLICE_DEGRADED"]
    for kind, number in proof.places_of(SERVER.profile, of(taken, "circuit", slice=12)):
        taken.objects["hardware"] = [{"part": proof.PARTS[kind], "index": number, "health": OK, "cordoned": 1}]
        assert not complaints(proof.darkness_has_a_cause, taken)
    taken.objects["hardware"] = [{"part": proof.PARTS["element"], "index": 9999, "health": FAILED, "cordoned": 0}]
    assert complaints(proof.darkness_has_a_cause, taken), "what is bad is elsewhere"


def accelerator_in_two_slices():
    def doctor(taken):
        of(taken, "slice", id=12)["rank"][0]["accelerator"] = 0
    finds(proof.accelerators_have_one_slice, doctor, "accelerator 0 is in")
    finds(proof.accelerators_are_as_slices_say, doctor, "accelerator 0 says", "accelerator 2 says")


def circuit_that_was_left_behind():
    def doctor(taken):
        of(taken, "slice", id=11)["rank"][0]["accelerator"] = 7
    finds(proof.circuits_end_at_their_ranks, doctor, "ends at accelerator 0, rank 0 is at 7")


def accelerator_that_was_not_given_back():
    finds(proof.accelerators_are_as_slices_say, lambda taken: taken.objects["accelerator"][5].update(use=HELD), "use 2")


def count_that_is_wrong():
    for key in ("held", "failed", "free", "spares", "slices"):
        finds(proof.accelerators_are_as_slices_say, lambda taken, key=key: taken.fabric.update({key: 99}), f"99 {key}")


def cordoned_accelerator_in_a_slice():
    def doctor(taken):
        of(taken, "slice", id=11)["rank"][0]["accelerator"] = 7
    taken = SERVER.snapshot()
    assert complaints(proof.nothing_uses_what_is_barred, taken) == ["accelerator 7 is cordoned no more"]
    doctor(taken)
    assert "slice 11 has the cordoned accelerator 7" in complaints(proof.nothing_uses_what_is_barred, taken)


def cordoned_guide_in_a_circuit():
    taken = SERVER.snapshot()
    guide = taken.objects["circuit"][0]["guide"][1]
    taken.objects["guide"][guide]["cordoned"] = 1
    found = list(proof.nothing_uses_what_is_barred(SERVER.profile, taken, {"guide": {guide}, "element": set(),
                                                                           "accelerator": set()}))
    assert found == [f"circuit 11:0 uses the cordoned guide {guide}"], found


def slice_without_a_file():
    finds(proof.slices_have_owners, lambda taken: taken.holders.pop(), "slice 12", "neither name nor file")


def file_that_is_not_counted():
    finds(proof.slices_have_owners, lambda taken: of(taken, "slice", id=11).update(files=0), "0 files, by /proc some")


def charge_that_stays():
    for key in ("accelerators", "circuits", "lanes", "prepared"):
        def rule(_profile, taken):
            return proof.quotas_are_what_is_held(None, taken)
        finds(rule, lambda taken, key=key: taken.objects["quota"][1].update({"used_" + key: 77}), f"77 {key}")
        finds(rule, lambda taken: taken.objects["quota"].pop(), "uid 2001 is charged 0")


def what_is_not_at_rest():
    dying, changing = NUMBERS["MORPH_SLICE_DYING"], NUMBERS["MORPH_CIRCUIT_CHANGING"]
    running = NUMBERS["MORPH_OUTCOME_RUNNING"]
    finds(proof.all_is_at_rest, lambda taken: of(taken, "slice", id=11).update(state=dying), "slice 11")
    finds(proof.all_is_at_rest, lambda taken: of(taken, "circuit", slice=11).update(state=changing), "circuit 11:0")
    finds(proof.all_is_at_rest, lambda taken: taken.objects["txn"].append({"id": 4, "outcome": running}), "action 4")


def what_is_left():
    found = complaints(proof.nothing_is_left, SERVER.snapshot())
    for part in ("slice 11", "circuit 0", "transmit lanes on", "laser 0 is on", "receiver"):
        assert any(part in sentence for sentence in found), (part, found)
    assert not complaints(proof.nothing_is_left, Maker("server8", 1).snapshot())


def events_with_a_gap():
    def whole(read, since=0, emptied=True):
        return not list(proof.events_are_whole(EVENTS, read, since, emptied))
    lost = [{"type": proof.EVENT_LOST, "seq": 13, "time_ns": 1, "lost": 3}]
    assert whole(EVENTS) and whole(EVENTS[:4] + lost + EVENTS[7:]) and whole(EVENTS[:4], emptied=False)
    assert whole(EVENTS[2:], since=10) and not whole(EVENTS[3:], since=10)
    assert not whole(EVENTS[:4] + EVENTS[5:]), "a gap"
    assert not whole(EVENTS[:4] + lost + EVENTS[6:]), "too many announced"
    assert not whole(EVENTS[:4]), "the last ones are missing"
    assert not whole(EVENTS[1::-1] + EVENTS[2:]), "another order"
    assert not whole(EVENTS + EVENTS[-1:]), "one twice"


def stale_change_that_was_done():
    lines = [["1", "change"], ["=", "1", "0"], ["2", "change-stale"], ["=", "2", "ESTALE"], ["3", "change-stale"]]
    assert not list(proof.stale_is_refused(lines))
    found = list(proof.stale_is_refused([*lines, ["=", "3", "0"]]))
    assert found == ["act 3 was meant for an older generation, and was done"], found


def pair_that_ends_unlike():
    def alike(one, other):
        return not list(proof.pairs_end_alike(one, other, [(7, 21, 22)]))
    one, other = ONE.snapshot(), OTHER.snapshot()
    assert alike(one, other)
    other.objects["txn"][0]["outcome"] = NUMBERS["MORPH_OUTCOME_EXPIRED"]
    assert not alike(one, other)
    one.objects["txn"] = []
    assert alike(one, other)
    other.objects["txn"][0]["outcome"] = NUMBERS["MORPH_OUTCOME_UNCONFIRMED"]
    assert not alike(one, other)


def half_without_the_other():
    def matched(doctor):
        one, other = ONE.snapshot(), OTHER.snapshot()
        doctor(one)
        return not list(proof.halves_match(one, other))
    assert matched(lambda one: None)
    assert not matched(lambda one: one.objects["circuit"].pop(0))
    assert not matched(lambda one: one.objects["circuit"].pop(1))
    assert not matched(lambda one: one.objects["circuit"][0].update(lanes=2))
    assert not matched(lambda one: one.objects["circuit"][0].update(state=FAILED))
    assert not matched(lambda one: one.hardware.incoming.clear())


def light_from_the_peer_into_a_foreign_receiver():
    taken = ONE.snapshot()
    taken.objects["circuit"].pop(1)
    found = list(proof.light_stays_with_its_tenant(ONE.profile, taken))
    assert found and "('edge', 4)" in found[0], found


# ---------------------------------------------------------------------------------------- schedules

def quotas(_profile, taken):
    return proof.quotas_are_what_is_held(None, taken)


def corrupts(rule, *parts, of_what="schedules", **values):
    """The rule detects other values in the schedule, or in the state page."""
    def doctor(taken):
        (taken.pages[13] if of_what == "pages" else taken.schedules[0]).update(values)
    finds(rule, doctor, *parts, maker=ORDERED)


def free_lane(taken, at=1):
    """One of those that a dark circuit of the schedule needs."""
    number = taken.schedules[0]["paths"][order.FIRST_ID + at]["guide"][1]
    taken.objects["guide"][number]["lanes_free"] |= 0x4


def lane_that_a_running_schedule_lacks():
    finds(order.schedules_hold_what_they_need, free_lane, "13:3 runs", maker=ORDERED)


def lane_that_a_schedule_has_lost_without_a_repair():
    def doctor(taken):
        taken.schedules[0].update(state=order.STOPPED, error=-5)
        free_lane(taken)
    finds(order.schedules_hold_what_they_need, doctor, "no repair has passed", maker=ORDERED)
    taken = ORDERED.snapshot()
    doctor(taken)
    of(taken, "slice", id=13)["generation"] = 8
    assert not complaints(order.schedules_hold_what_they_need, taken)
    assert complaints(proof.ledger_has_circuits, taken), "what it has lost it holds no part of"


def nothing_that_is_dark_and_nothing_held():
    """Lit circuits of a schedule stay if a repair finds no paths for the rest. A running schedule
    must have paths."""
    taken = ORDERED.snapshot()
    schedule, = taken.schedules
    schedule["paths"] = {number: path for number, path in schedule["paths"].items() if number in order.lit_of(taken, schedule)}
    for element in taken.objects["element"]:
        element["pins"] -= any(element["id"] in path["element"] for path in schedule["paths"].values())
    of(taken, "slice", id=13)["generation"] += 1
    assert order.holds_of(taken)[0].taken
    schedule.update(state=order.STOPPED, error=-113)
    assert not order.holds_of(taken)[0].taken
    of(taken, "slice", id=13)["generation"] -= 1
    assert order.holds_of(taken)[0].taken, "no repair has passed"


def way_that_another_has_instead():
    """Other tenants may use the hardware that a schedule has lost, so it holds no pin there."""
    def doctor(taken):
        path = taken.schedules[0]["paths"][order.FIRST_ID + 1]
        taken.objects["circuit"].append({**taken.objects["circuit"][-1], "id": 5, **path})
    finds(order.schedules_hold_what_they_need, doctor, "13:3 runs", maker=ORDERED)
    taken = ORDERED.snapshot()
    doctor(taken)
    (hold,) = order.holds_of(taken)
    assert not hold.taken


def lane_that_a_schedule_has_beside():
    """Use a path of the schedule other than the loaded one; after a repair, one that not all its
    guides have."""
    def doctor(taken, generation=7):
        of(taken, "slice", id=13)["generation"] = generation
        taken.objects["guide"][taken.schedules[0]["paths"][order.FIRST_ID + 1]["guide"][1]]["lanes_free"] &= ~0x100
    finds(proof.ledger_has_circuits, doctor, "claimed 0x104", maker=ORDERED)
    finds(proof.ledger_has_circuits, lambda taken: doctor(taken, 8), "claimed 0x104", maker=ORDERED)


def pin_that_a_schedule_lacks():
    def doctor(taken):
        of(taken, "element", id=taken.schedules[0]["paths"][order.FIRST_ID + 1]["element"][0])["pins"] -= 1
    finds(proof.ledger_has_circuits, doctor, "1 schedules", maker=ORDERED)


def element_that_is_held_without_a_circuit():
    finds(proof.ledger_has_circuits, lambda taken: taken.ledger.update({"elements held": 1}), "elements held: 1")


def lanes_of_ports_that_stay():
    def doctor(taken):
        taken.ledger["receive lanes held"] += 1
    finds(proof.ledger_has_circuits, doctor, "receive lanes held", maker=ORDERED)


def what_is_left_of_an_unloaded_schedule():
    def doctor(taken):
        taken.schedules.clear()
    finds(proof.ledger_has_circuits, doctor, "claimed 0x4", "pins, 0 circuits, 0 schedules", "transmit lanes held",
          maker=ORDERED)
    finds(quotas, doctor, "uid 2001 is charged 5 circuits, and holds 3", "lanes, and holds", maker=ORDERED)
    finds(order.circuits_have_their_schedule, doctor, "circuit 13:16777216 is of no schedule", maker=ORDERED)


def charge_that_a_schedule_lacks():
    finds(quotas, lambda taken: taken.objects["quota"][2].update(used_circuits=4), "holds 5", maker=ORDERED)
    finds(quotas, lambda taken: taken.objects["quota"][2].update(used_lanes=6), "holds 7", maker=ORDERED)


def schedule_that_is_another():
    corrupts(order.schedules_are_as_loaded, "asked for was", flags=0)
    corrupts(order.schedules_are_as_loaded, "asked for was", circuits=2)
    corrupts(order.schedules_are_as_loaded, "asked for was", first=order.FIRST_ID + 1)
    corrupts(order.schedules_are_as_loaded, "asked for was", steps=[{"circuits": 1}, {"circuits": 2}, {"circuits": 1}])


def step_that_is_not_lit():
    corrupts(order.steps_are_lit, "at step 1: circuits [16777217] of it are not lit", step=1)
    finds(order.steps_are_lit, lambda taken: taken.objects["circuit"].pop(), "of it are not lit", maker=ORDERED)


def circuit_of_another_step():
    """Circuits of the next step may be lit, those of the step after it may not."""
    def doctor(taken, at):
        taken.objects["circuit"].append({**taken.objects["circuit"][-1], "id": order.FIRST_ID + at})
        taken.schedules[0]["lit"] = 2
    finds(order.steps_are_lit, lambda taken: doctor(taken, 2), "circuits [16777218] are none of it", maker=ORDERED)
    taken = ORDERED.snapshot()
    doctor(taken, 1)
    assert not complaints(order.steps_are_lit, taken)
    taken.schedules[0].update(step=2)
    assert complaints(order.steps_are_lit, taken)


def schedule_with_a_wrong_report():
    corrupts(order.steps_are_lit, "3 of its circuits are lit", lit=3)
    finds(order.steps_are_lit, lambda taken: taken.objects["circuit"][-1].update(state=FAILED),
          "1 of its circuits are lit, netlink says []", maker=ORDERED)
    corrupts(order.steps_are_lit, "was stopped", state=order.LOADED, step=order.ANY, position=0)
    corrupts(order.steps_are_lit, "without an error", state=order.STOPPED)
    corrupts(order.steps_are_lit, "is at no step", step=order.ANY)
    corrupts(order.steps_are_lit, "is at no step", position=0)


def page_that_shows_something_else():
    corrupts(order.pages_show_what_is_lit, "is of version 9", of_what="pages", version=9)
    corrupts(order.pages_show_what_is_lit, "generation 8", of_what="pages", generation=8)
    corrupts(order.pages_show_what_is_lit, "of schedule 13:3", of_what="pages", position=2)
    corrupts(order.pages_show_what_is_lit, "of schedule 13:3", of_what="pages", state=order.STOPPED)
    for key in ("hops", "mbps"):
        for place in (0, 1):
            finds(order.pages_show_what_is_lit,
                  lambda taken, key=key, place=place: taken.pages[13]["pairs"][place].update({key: 77}), "77", maker=ORDERED)


def memory_that_is_charged_for_ever():
    taken = Maker("server8", 1).snapshot()
    taken.objects["quota"].append({"uid": 2000, "used_bytes": 4096})
    assert complaints(proof.nothing_is_left, taken) == ["4096 bytes are charged to 2000"]


def lines_of(text):
    return [line.split() for line in text.splitlines()]


def log_of_loads():
    (key, load), = order.loads_of(lines_of("loaded 13 3 16777216 7 4 1 1 0,1 2\nloaded")[:1]).items()
    assert key == "13:3" and load == order.Load(0x1000000, 7, 4, 1, 1, [[0, 1], [2]]) and load.circuits == 3


def answer_that_is_wrong():
    good = lines_of("1 start\ncall start EBUSY\n= 1 EBUSY\ncall load-wrong EINVAL\nanswered 1 1 0 ECANCELED")
    assert not list(order.answers_are_right(good))
    for line, part in (("call start EINVAL", "start has answered EINVAL"), ("call load-wrong 0", "load-wrong has answered 0"),
                       ("answered 1 1 0 EBUSY", "ring 1:1"), ("wrong: state page: hops", "hops"), ("call go EPROTO", "go")):
        found = list(order.answers_are_right([*good, line.split()]))
        assert len(found) == 1 and part in found[0], found


def number_that_is_used_again():
    logs = [lines_of("loaded 1 1 5\nloaded 1 2 7\nring 1 1"), lines_of("loaded 2 1 5\nring 1 2")]
    assert not list(order.numbers_are_new(logs))
    assert list(order.numbers_are_new([*logs, lines_of("loaded 1 2 99")])) == ["loaded 1:2 was there before"]
    assert list(order.numbers_are_new([*logs, lines_of("ring 1 2")])) == ["ring 1:2 was there before"]


def ring_that_is_out_of_order():
    def found(text):
        return list(order.rings_answer_in_order(lines_of("submitted 1 1 0\nsubmitted 1 1 1\nsubmitted 1 2 0\n" + text)))
    assert not found("answered 1 1 0 0\nanswered 1 2 0 0\nanswered 1 1 1 EINVAL\ndrained 1 1\ndrained 1 2")
    assert not found("answered 1 1 0 0\ncorrupt 1 1 2") and not found("answered 1 2 0 0\ncorrupt 1 2 1\nhalted 1 2")
    assert "out of turn" in found("answered 1 1 1 0")[0]
    assert "out of turn" in found("answered 1 1 0 0\nanswered 1 1 0 0")[0], "one twice"
    assert "out of turn" in found("answered 1 2 0 0\nanswered 1 2 1 0")[0], "one that was not submitted"
    assert "1 submissions were not answered" in found("answered 1 1 0 0\ndrained 1 1")[0]
    assert "1 submissions were not answered" in found("corrupt 1 2 1\nhalted 1 2")[0]
    assert "was halted" in found("answered 1 2 0 0\nhalted 1 2")[0], "by nothing"
    assert "was drained" in found("answered 1 2 0 0\ncorrupt 1 2 1\ndrained 1 2")[0], "an invalid entry was accepted"


def pages_that_stay_pinned():
    lines = lines_of("pinned 0 9\npinned 1 3\npinned 0 2")
    assert not list(order.memory_is_given_back(lines, 20)) and not list(order.memory_is_given_back([], 0))
    assert list(order.memory_is_given_back(lines, 28)) == ["5 pages of rings are left, 28 KiB are locked"]
    assert list(order.memory_is_given_back(lines, 0))


def dumps_are_decoded():
    nest = b"\x08\x00\x01\x00\x02\x00\x00\x00" + b"\x08\x00\x02\x00\x09\x00\x00\x00"
    rank = NUMBERS["MORPH_A_SLICE_RANK"]
    data = b"\x08\x00\x02\x00\x15\x00\x00\x00" + bytes([4 + len(nest), 0, rank, 0x80]) + nest
    decoded = snapshot.decode("slice", data)
    assert decoded == {"id": 21, "rank": [{"rank": 2, "accelerator": 9}]}, decoded
    assert snapshot.join_parts("slice", [decoded, copy.deepcopy(decoded)]) == \
        [{"id": 21, "rank": [{"rank": 2, "accelerator": 9}] * 2}]


TESTS = (
    valid_fabrics_pass, lane_that_is_used_twice, transmitter_that_is_used_twice, lane_that_the_ledger_thinks_free,
    lane_that_was_not_released, pin_that_was_not_released, element_that_is_elsewhere,
    element_that_a_circuit_needs_otherwise, laser_that_is_off, laser_that_is_on_without_a_circuit, light_that_goes_another_way,
    light_that_does_not_arrive, receiver_that_is_blind, light_of_another_tenant, light_of_unclaimed_lanes,
    darkness_without_a_cause, accelerator_in_two_slices, circuit_that_was_left_behind, accelerator_that_was_not_given_back, count_that_is_wrong,
    cordoned_accelerator_in_a_slice, cordoned_guide_in_a_circuit, slice_without_a_file, file_that_is_not_counted, charge_that_stays, what_is_not_at_rest,
    what_is_left, events_with_a_gap, stale_change_that_was_done, pair_that_ends_unlike, half_without_the_other,
    light_from_the_peer_into_a_foreign_receiver, lane_that_a_running_schedule_lacks,
    lane_that_a_schedule_has_lost_without_a_repair, nothing_that_is_dark_and_nothing_held, way_that_another_has_instead,
    lane_that_a_schedule_has_beside, pin_that_a_schedule_lacks,
    element_that_is_held_without_a_circuit, lanes_of_ports_that_stay, what_is_left_of_an_unloaded_schedule,
    charge_that_a_schedule_lacks, schedule_that_is_another, step_that_is_not_lit, circuit_of_another_step,
    schedule_with_a_wrong_report, page_that_shows_something_else, memory_that_is_charged_for_ever, log_of_loads,
    answer_that_is_wrong, number_that_is_used_again, ring_that_is_out_of_order, pages_that_stay_pinned, dumps_are_decoded,
)


def main():
    print(f"TAP version 13\n1..{len(TESTS)}")
    failed = 0
    for number, test in enumerate(TESTS, 1):
        try:
            test()
            word = "ok"
        except Exception:   # pylint: disable=broad-except
            print("#", traceback.format_exc().replace("\n", "\n# "))
            word, failed = "not ok", failed + 1
        print(f"{word} {number} - {test.__name__}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
