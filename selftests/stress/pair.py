# SPDX-License-Identifier: GPL-2.0-only
"""The scene of two fabrics that share fibres, and of coordinators of changes in both."""

import random
import time

import proof
from scene import SLOWNESS, Actor, Fabric, Scene, Wrong, say, wait_for

MOST_ALIKE = 60         # changes that all end in the same way, until that is wrong
MOMENT_SECONDS = 0.02 * SLOWNESS    # into a step, until a coordinator is killed

# edge4: accelerator and edge of each coordinator's slices; light comes back at the fourth edge from
# that.
PLACES = ((1, 0), (0, 1), (3, 2), (2, 3))


class Pair(Scene):
    """Two fabrics that share fibres, and coordinators of changes in both."""

    def __init__(self, name, seed, directory):
        super().__init__(name, seed, directory)
        self.slices = []
        self.changes = self.confirmed = self.killed = self.lives = 0

    def begin(self):
        """The fabrics, with a slice in each for each coordinator."""
        uuids = [f"{digit * 8}-{digit * 4}-4{digit * 3}-8{digit * 3}-{digit * 12}" for digit in "12"]
        for index in (0, 1):
            self.fabrics.append(Fabric(f"{self.name}{index}", "edge4", settle_ns=20000, relock_ns=10000, write_ns=5000,
                                       uuid=uuids[index], peer=uuids[not index]))
        self.slices = [self.furnish(fabric) for fabric in self.fabrics]

    def furnish(self, fabric):
        """A named slice for each coordinator: their numbers."""
        number = fabric.plug(self.net)
        for index, (accelerator, _) in enumerate(PLACES):
            self.net.request("SLICE_CREATE", fabric=number, name=f"{fabric.name}-{index}", owner=0, mode=0o600,
                             accelerator=accelerator)
        found = {one["name"]: one["id"] for one in self.net.whole_dump("slice", number)}
        return [found[f"{fabric.name}-{index}"] for index in range(len(PLACES))]

    def coordinator(self, index):
        self.lives += 1
        nodes = [f"/dev/morph/slice{slices[index]}" for slices in self.slices]
        return Actor(self, "coordinator", index, self.lives, *nodes, PLACES[index][1])

    def fate(self, index, cookie):
        """Run one coordinator, and perhaps successors; each yield gives time to the other
        coordinators."""
        chance = random.Random(f"{self.seed}:fate:{cookie}")
        actor, verb = self.coordinator(index), "forward"
        while chance.randrange(5):
            steps, moment = chance.randint(1, 8), chance.random() * MOMENT_SECONDS
            actor.command(f"{verb} {cookie} {steps if chance.randrange(3) else 0}")
            while len(actor.lines()) < steps and not actor.ready():
                yield
            yield from self.pause(moment)
            actor.kill()
            self.killed += 1
            if not chance.randrange(3):
                return
            yield from self.pause(chance.choice((0, 0.1, 1, 3)) * SLOWNESS)
            actor, verb = self.coordinator(index), "finish"
        actor.command(f"{verb} {cookie} 0")
        while not actor.ready():
            yield
        actor.kill()

    @staticmethod
    def pause(seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            yield

    def round(self):
        """All coordinators change something at once, and some die. Both ends of each change must
        agree."""
        cookies = [self.changes + index + 1 for index in range(len(PLACES))]
        self.changes += len(PLACES)
        fates = [self.fate(index, cookie) for index, cookie in enumerate(cookies)]
        hung = self.watchdog("a coordinator works for ever")
        while fates:
            fates = [fate for fate in fates if next(fate, self) is not self]
            hung()
            time.sleep(0.002)
        pairs = list(zip(cookies, *self.slices))
        first, _ = self.prove(self.fabrics, proof.AT_REST, proof.halves_match,
                              lambda one, other: proof.pairs_end_alike(one, other, pairs))
        self.confirmed += sum(bool(proof.ending(first, slice_, cookie)) for cookie, slice_, _ in pairs)
        self.clear()

    def clear(self):
        actors = [self.coordinator(index) for index in range(len(PLACES))]
        for actor in actors:
            actor.command("clear 0 0")
        wait_for("all is taken away", lambda: all([actor.ready() for actor in actors]))
        for actor in actors:
            actor.kill()

    def play(self, acts):
        self.begin()
        # Until some have been confirmed and some have not: a short run goes on for that.
        while self.counter.value < acts or (
                self.changes < MOST_ALIKE and not 0 < self.confirmed < self.changes):
            self.round()
            say(f"{self.name}: {self.counter.value} of {acts} acts, {self.changes} changes, {self.confirmed} confirmed, "
                f"{self.killed} coordinators killed")
        if not 0 < self.confirmed < self.changes:
            raise Wrong(f"{self.confirmed} of {self.changes} changes were confirmed: that proves little")

    def end(self):
        for fabric, slices in zip(self.fabrics, self.slices):
            number = next(one["id"] for one in self.net.whole_dump("fabric") if one["name"] == fabric.name)
            for slice_ in slices:
                self.net.request("SLICE_DELETE", fabric=number, id=slice_, force=b"")
        self.prove(self.fabrics, (*proof.AT_REST, proof.nothing_is_left))
        for fabric in self.fabrics:
            fabric.remove()
