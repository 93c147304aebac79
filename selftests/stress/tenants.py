# SPDX-License-Identifier: GPL-2.0-only
"""The scene of many tenants and administrators on one fabric, with accidents."""

import collections
import contextlib
import os
import socket
import struct
import subprocess
import time

import order
import proof
import snapshot
from scene import Actor, Fabric, Scene, Wrong, say, wait_for

FIRST_UID, OWNERS = 2000, 8     # admin.c knows them too
TENANTS, ADMINS = 6, 2
ACTS = 40               # of each actor when all are to be killed in the midst
MOST_ACTS, LEAST_ACTS = 100, 20     # of each actor between two quiet points
ACCIDENT = 12           # number of acts between two


class Tenants(Scene):
    """Tenants and administrators of one fabric."""

    def __init__(self, name, seed, directory, profile, flips):
        super().__init__(name, seed, directory)
        self.profile, self.flips = profile, flips
        self.fabric = self.monitor = None
        self.bar = []
        self.bazaar = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        for end in self.bazaar:
            end.setblocking(False)
        self.actors, self.dead = {}, []
        self.findings = []
        self.sent, self.accidents, self.schedules = collections.defaultdict(list), collections.Counter(), collections.Counter()

    def begin(self):
        """The fabric and all actors."""
        self.fabric = Fabric(self.name, self.profile, settle_ns=20000, relock_ns=10000, write_ns=5000)
        self.fabrics.append(self.fabric)
        one = self.fabric.profile
        spares = [index for index, chip in enumerate(one.accelerators) if chip.spare]
        self.bar = [self.chance.choice([index for index in range(len(one.accelerators)) if index not in spares]),
                    self.chance.choice(self.inner_guides(one)), self.chance.randrange(one.elements_count),
                    self.chance.choice(spares)]
        self.fabric.barred = {"accelerator": {self.bar[0], self.bar[3]}, "guide": {self.bar[1]}, "element": {self.bar[2]}}
        self.fabric.plug(self.net)
        self.monitor = snapshot.Netlink()
        self.monitor.join()
        self.cast(0)

    @staticmethod
    def inner_guides(profile):
        """Guides between elements."""
        return [guide for guide in range(profile.guides_count)
                if {profile.guide_end(guide, end)[0] for end in (0, 1)} == {proof.morphprofile.ELEMENT}]

    def cast(self, life):
        for index in range(TENANTS):
            self.bear("tenant", index, life)
        for index in range(ADMINS):
            self.bear("admin", index, life)

    def bear(self, role, index, life):
        fds = [end.fileno() for end in self.bazaar] if role == "tenant" else []
        words = [FIRST_UID + index, *fds] if role == "tenant" else self.bar
        self.actors[role, index] = Actor(self, role, index, life, self.fabric.name, *words, fds=fds)
        return self.actors[role, index]

    # ---------------------------------------------------------------------------------------
    # accidents

    def kill(self):
        actor = self.actors[self.chance.choice(sorted(self.actors))]
        actor.kill()
        self.dead.append(actor)
        self.bear(actor.role, actor.index, actor.life + 1).command(LEAST_ACTS)

    def fault(self):
        one, pick = self.fabric.profile, self.chance.randrange
        chip, plane = pick(len(one.accelerators)), pick(one.parameters["planes"])
        element, guide = pick(one.elements_count), pick(one.guides_count)
        self.fabric.control("fault", self.chance.choice((
            f"accelerator_dead {chip}", f"accelerator_flapping {chip} period=2000000", f"laser_dead {chip}.{plane}",
            f"laser_weak {chip}.{plane}", f"element_stuck {element}", f"guide_lossy {guide} mdb=30000",
            f"receiver_deaf {chip}.{plane}", f"programming_error - after={pick(8)}",
            f"programming_timeout - after={pick(8)} late={30000000 * pick(2)}")))

    def flip(self):
        if self.flips:
            self.fabric.control("flip", f"{self.chance.randrange(self.fabric.profile.elements_count)} "
                                        f"{self.chance.randrange(2)}")

    def clear(self):
        self.fabric.control("clear", "all")

    def pull(self):
        """Remove the provider with all operations in progress, and add it again as another fabric
        with the same number.

        Administrators need no open node, so they must find the barred hardware cordoned at once.
        """
        self.fabric.pull()
        admins = [actor for actor in self.actors.values() if actor.role == "admin"]
        for admin in admins:
            admin.pause()
        self.fabric.plug(self.net)
        for admin in admins:
            admin.resume()

    def unload(self):
        """Both modules are in use, so the kernel must refuse to unload them."""
        for module in ("morph_sim", "morph"):
            if not subprocess.run(["rmmod", module], check=False, stderr=subprocess.DEVNULL).returncode:
                raise Wrong(f"{module} was unloaded while it was in use")

    def accident(self):
        """One of them."""
        kinds = {self.kill: 8, self.fault: 12, self.flip: 2, self.clear: 5, self.pull: 2, self.unload: 1}
        what = self.chance.choices(list(kinds), kinds.values())[0]
        self.accidents[what.__name__] += 1
        what()

    # ------------------------------------------------------------------------------------------
    # rounds

    def act(self, acts, until=None):
        """Run all actors, with accidents, until each has done a number of acts, or all together
        have."""
        for actor in self.actors.values():
            actor.command(acts)
        accidents, first = 0, self.counter.value
        hung = self.watchdog("somebody acts for ever")
        while not all([actor.ready() for actor in self.actors.values()]):
            done = self.counter.value - first
            if until and done >= until:
                return
            if done >= (accidents + 1) * ACCIDENT:
                accidents += 1
                self.accident()
            hung()
            time.sleep(0.002)

    def empty_bazaar(self):
        """Close files that were passed on and not received."""
        while True:
            try:
                _, fds, _, _ = socket.recv_fds(self.bazaar[1], 1, 1)
            except BlockingIOError:
                return
            for number in fds:
                os.close(number)

    def lift_limits(self):
        """Allow memory for observers: the owner pays for an opened node of a slice and a mapped
        page."""
        for uid in range(FIRST_UID, FIRST_UID + OWNERS):
            self.net.request("QUOTA_SET", uid=uid, bytes=struct.pack("Q", 1 << 30))

    def be_quiet(self):
        self.clear()
        self.empty_bazaar()
        self.lift_limits()
        self.listen()
        (taken,) = self.prove([self.fabric], proof.AT_REST)
        self.schedules.update(order.STATES[schedule["state"]] for schedule in taken.schedules)
        self.check_answers()
        wait_for("locked memory is given back", lambda: not self.check_memory())
        try:
            wait_for("events are whole", lambda: not self.check_events())
        except Wrong as wrong:
            raise Wrong("\n".join([str(wrong), *self.findings])) from None

    def check_answers(self):
        """Return the answers of all actors."""
        wrong = [f"{actor.log}: {sentence}" for actor in (*self.actors.values(), *self.dead)
                 for rule in (proof.stale_is_refused, order.answers_are_right, order.rings_answer_in_order)
                 for sentence in rule(actor.lines())]
        wrong += order.numbers_are_new([actor.lines() for actor in (*self.actors.values(), *self.dead)])
        if wrong:
            raise Wrong("\n".join(wrong))

    def check_memory(self):
        return [sentence for actor in self.actors.values() if actor.role == "tenant"
                for sentence in order.memory_is_given_back(actor.lines(), actor.locked())]

    def answers(self):
        """Count the answers to each call on schedules and queues."""
        found = collections.defaultdict(collections.Counter)
        for actor in (*self.actors.values(), *self.dead):
            for words in actor.lines():
                if words[0] == "call":
                    found[words[1]][words[2]] += 1
                elif words[0] == "answered":
                    found["entry"][words[4]] += 1
        return found

    def loads(self):
        found = {}
        for actor in (*self.actors.values(), *self.dead):
            found.update(order.loads_of(actor.lines()))
        return found

    def listen(self):
        """All tenants read their events, and close fabrics that have gone."""
        for actor in self.actors.values():
            actor.command(0)
        wait_for("answers", lambda: all([actor.ready() for actor in self.actors.values()]))

    def check_events(self):
        """Check the events that tenants have read, after they have read all."""
        self.listen()
        for event in self.monitor.events():
            self.sent[event["slice"]].append(event)
        if self.monitor.overrun:
            raise Wrong("the monitor lost notifications, so the events of tenants cannot be compared")
        self.findings = [f"{actor.log}: {sentence}" for actor in (*self.actors.values(), *self.dead)
                         if actor.role == "tenant" for sentence in self.check_reader(actor)]
        return self.findings

    def check_reader(self, actor):
        files, alive = {}, actor not in self.dead
        for words in actor.lines():
            numbers = [int(word) for word in words[1:]] if words[0] in ("opened", "event", "shared", "closed") else []
            if words[0] == "opened":
                files[numbers[0]] = {"slice": numbers[1], "since": numbers[2], "read": [], "whole": alive}
            elif numbers and numbers[0] in files:
                one = files[numbers[0]]
                if words[0] == "event":
                    one["read"].append(dict(zip(("type", "seq", "time_ns", "lost"), numbers[1:])))
                elif words[0] == "shared":
                    del files[numbers[0]]
                else:
                    one["whole"] = False
        for one in files.values():
            yield from proof.events_are_whole(self.sent[one["slice"]], one["read"], one["since"], one["whole"])

    def play(self, acts):
        """Run a number of acts of all actors together; return the number of quiet points."""
        self.begin()
        share = min(MOST_ACTS, max(LEAST_ACTS, acts // 40))
        while self.counter.value < acts:
            self.act(share)
            self.be_quiet()
            say(f"{self.name}: {self.counter.value} of {acts} acts, {self.quiet} quiet points, "
                f"{sum(self.accidents.values())} accidents")

    def strike(self):
        """Kill all actors at once."""
        for actor in self.actors.values():
            actor.kill()
        self.dead += self.actors.values()
        self.actors = {}

    def end(self):
        """Kill all actors during their acts. Then no slice may be left, and an administrator must
        be able to end named slices."""
        self.act(ACTS, until=ACTS)
        self.strike()
        self.clear()
        self.empty_bazaar()
        self.lift_limits()
        number = next(fabric["id"] for fabric in self.net.whole_dump("fabric") if fabric["name"] == self.fabric.name)
        for one in self.net.whole_dump("slice", number):     # some are still going
            if one.get("name"):
                # one that was ending when its tenant was killed
                with contextlib.suppress(FileNotFoundError):
                    self.net.request("SLICE_DELETE", fabric=number, id=one["id"], force=b"")
        self.prove([self.fabric], (*proof.AT_REST, proof.nothing_is_left))
        self.check_answers()

    def vanish(self):
        """Kill all actors, remove the provider and unload the modules, without a pause."""
        self.cast(1000000)
        self.act(ACTS, until=ACTS)
        self.strike()
        self.empty_bazaar()
        self.fabric.remove()
        for module in ("morph_sim", "morph"):
            wait_for(f"{module} is unloaded", lambda name=module: not subprocess.run(
                ["rmmod", name], check=False, stderr=subprocess.DEVNULL).returncode)
        for module in ("morph", "morph_sim"):
            subprocess.run(["insmod", f"{os.environ['MORPH_KMOD']}/{module}.ko"], check=True)

    def check_choices(self):
        for actor in self.dead:
            actor.check_choices()
