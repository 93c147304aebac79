#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""The rules of proof.py find what they are for: each is shown a sound fabric, and then one that is doctored.

The fabric is made here, from a profile alone: two tenants with circuits, one of them between two fabrics.
"""

import copy
import os
import sys
import traceback

import proof
import snapshot
from proof import FAILED, HELD, LIT, OK
from snapshot import NUMBERS, Hardware, Holder, Snapshot

PROFILES = os.path.join(snapshot.TOP, "build/profiles")
PEER = {0: 4, 1: 5, 2: 6, 3: 7, 4: 0, 5: 1, 6: 2, 7: 3}


class Maker:
    """A snapshot of an idle fabric that slices and circuits are put into."""

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

    def slice(self, number, accelerators, owner, **more):
        self.objects["slice"].append({"id": number, "owner": owner, "reserved": 0, "files": 1, "state": 0, "generation": 7,
                                      "ranks_count": len(accelerators),
                                      "rank": [{"rank": rank, "accelerator": accelerator}
                                               for rank, accelerator in enumerate(accelerators)], **more})
        for rank, accelerator in enumerate(accelerators):
            self.objects["accelerator"][accelerator].update(use=HELD, slice=number, rank=rank)
        self.holders.append(Holder(100 + number, 3, self.objects["fabric"][0]["id"], number))

    def search(self, source, target):
        """The first way from a source to a target that leaves pinned elements as they are: guides, elements, states."""
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
        raise AssertionError(f"no way from {source} to {target}")

    def circuit(self, slice_, number, lanes, **ends):
        """A lit circuit; ends as netlink names them."""
        one, circuit = self.profile, {"slice": slice_, "id": number, "state": LIT, "lanes": lanes, **ends}
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
        if source[0] == "port":
            self.lasers[source[1]] = self.lasers.get(source[1], 0) | lanes
        else:
            self.incoming[source[1]] = {lane: 0 for lane in proof.lanes_of(lanes)}
        if target[0] == "port":
            self.lit[target[1]] = self.lit.get(target[1], 0) | lanes
        self.objects["circuit"].append(circuit)

    def snapshot(self):
        """What there is now."""
        objects = self.objects
        for element, state, pins in zip(objects["element"], self.states, self.pins):
            element.update(state=state, pins=pins)
        chips, fabric = objects["accelerator"], objects["fabric"][0]
        for key, use in (("held", HELD), ("free", proof.FREE), ("spares", proof.SPARE)):
            fabric[key] = sum(chip["use"] == use for chip in chips)
        fabric["slices"] = len(objects["slice"])
        lanes = sum(proof.weight(circuit["lanes"]) for circuit in objects["circuit"])
        owners = {slice_["id"]: slice_["owner"] for slice_ in objects["slice"]}
        objects["quota"] = [{"accelerators": 9}] + [
            {"uid": owner, "used_prepared": 0,
             "used_accelerators": sum(one["ranks_count"] for one in objects["slice"] if one["owner"] == owner),
             "used_circuits": sum(owners[one["slice"]] == owner for one in objects["circuit"]),
             "used_lanes": sum(proof.weight(one["lanes"]) for one in objects["circuit"] if owners[one["slice"]] == owner)}
            for owner in sorted(set(owners.values()))]
        hardware = Hardware(1, dict(enumerate(self.states)), dict(self.lasers), dict(self.lit),
                            {edge: dict(powers) for edge, powers in self.incoming.items()})
        ledger = {"transmit lanes held": lanes, "receive lanes held": lanes, "transmit lanes on": lanes,
                  "elements pinned": sum(pins > 0 for pins in self.pins), "elements held": 0, "guide lanes held": lanes}
        return copy.deepcopy(Snapshot(objects, hardware, ledger, list(self.holders)))


def server():
    """Two tenants side by side: a pair each, joined both ways."""
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


SERVER = server()
ONE, OTHER = pair()
BARRED = {"accelerator": {7}, "guide": set(), "element": set()}
EVENTS = [{"type": 2 + index % 3, "seq": 10 + index // 2, "time_ns": 1000 + index} for index in range(9)]


def complaints(rule, taken, profile=SERVER.profile):
    more = [BARRED] if rule is proof.nothing_uses_what_is_barred else []
    return list(rule(profile, taken, *more))


def finds(rule, doctor, *parts):
    """The rule has nothing to say about the sound fabric, and something, with these words, about the doctored one."""
    taken = SERVER.snapshot()
    assert not complaints(rule, taken), complaints(rule, taken)
    doctor(taken)
    found = complaints(rule, taken)
    assert found, f"{rule.__name__} has seen nothing"
    for part in parts:
        assert any(part in sentence for sentence in found), found


def of(taken, kind, **values):
    """The object with these values."""
    return next(one for one in taken.objects[kind] if all(one.get(key) == value for key, value in values.items()))


def sound_fabrics_are_sound():
    for maker in (SERVER, ONE, OTHER):
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


def lane_that_nobody_gave_back():
    finds(proof.ledger_has_circuits, lambda taken: taken.objects["guide"][-1].update(lanes_free=0xfffe), "claimed 0x1")


def pin_that_nobody_gave_back():
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


def laser_that_is_on_for_nobody():
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
    """The circuit of slice 12 is said to be another's: its light shines into slice 12 all the same."""
    def doctor(taken):
        circuit = of(taken, "circuit", slice=12)
        circuit.update(slice=11, dst_accelerator=0, dst_plane=5)
    finds(proof.light_stays_with_its_tenant, doctor, "of slice 12")


def light_of_lanes_that_nobody_asked_for():
    def doctor(taken):
        taken.hardware.lasers[0] |= 0x10
    finds(proof.light_stays_with_its_tenant, doctor, "lanes 0x10", "of slice 11")


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


def dumps_are_decoded():
    nest = b"\x08\x00\x01\x00\x02\x00\x00\x00" + b"\x08\x00\x02\x00\x09\x00\x00\x00"
    rank = NUMBERS["MORPH_A_SLICE_RANK"]
    data = b"\x08\x00\x02\x00\x15\x00\x00\x00" + bytes([4 + len(nest), 0, rank, 0x80]) + nest
    decoded = snapshot.decode("slice", data)
    assert decoded == {"id": 21, "rank": [{"rank": 2, "accelerator": 9}]}, decoded
    assert snapshot.join_parts("slice", [decoded, copy.deepcopy(decoded)]) == \
        [{"id": 21, "rank": [{"rank": 2, "accelerator": 9}] * 2}]


TESTS = (
    sound_fabrics_are_sound, lane_that_is_used_twice, transmitter_that_is_used_twice, lane_that_the_ledger_thinks_free,
    lane_that_nobody_gave_back, pin_that_nobody_gave_back, element_that_is_elsewhere,
    element_that_a_circuit_needs_otherwise, laser_that_is_off, laser_that_is_on_for_nobody, light_that_goes_another_way,
    light_that_does_not_arrive, receiver_that_is_blind, light_of_another_tenant, light_of_lanes_that_nobody_asked_for,
    accelerator_in_two_slices, circuit_that_was_left_behind, accelerator_that_was_not_given_back, count_that_is_wrong,
    cordoned_accelerator_in_a_slice, cordoned_guide_in_a_circuit, slice_without_a_file, file_that_is_not_counted, charge_that_stays, what_is_not_at_rest,
    what_is_left, events_with_a_gap, stale_change_that_was_done, pair_that_ends_unlike, half_without_the_other,
    light_from_the_peer_into_a_foreign_receiver, dumps_are_decoded,
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
