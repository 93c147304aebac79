# SPDX-License-Identifier: GPL-2.0-only
"""Make requests to the planning verbs of morphctl from a profile, a verb and a seed.

The same arguments give the same requests. A request needs no kernel: it names a profile, and all of
its hardware is free.
"""

import json
import math
import os
import random
from dataclasses import dataclass, field

SEEDS = (1, 2, 3)
COLLECTIVES = ("all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast")
POLICIES = ("best", "each-round", "one-shot", "segments", "overlap", "matchings", "united")
MATRIX_POLICIES = ("best", "each-round", "one-shot", "matchings", "united")
SHAPES = {4: "2x2", 6: "2x3", 8: "2x4", 9: "3x3", 12: "3x4", 16: "4x4"}
# Search steps of a request; None: morphctl's default.
PLACE_STEPS, SCHEDULE_STEPS = (4096, 65536), (1, 2, 4, None)
RANKS = ((2, 8), (2, 16), (9, 20))
# In a larger fabric, ranks are the first accelerators: a search for paths between distant ones
# takes minutes there.
ANYWHERE = 200


@dataclass
class Extent:
    """Number of requests of a kind."""

    places: int
    traffic: int
    rounds: int
    ranks: tuple


ALL, FEW = Extent(24, 12, 3, RANKS), Extent(4, 2, 1, RANKS[:1])
POD_ALL, POD_FEW = Extent(6, 6, 0, RANKS[:1]), Extent(1, 1, 0, RANKS[:1])


@dataclass
class Profile:
    """The parts of a profile that requests depend on."""

    name: str
    accelerators: int
    hosts: int
    planes: int
    wavelengths: int


# Default profiles, and pods whose circuit switches join any racks (make -C profiles pods).
PROFILES = (Profile("server4", 4, 1, 6, 16), Profile("edge4", 5, 1, 6, 16), Profile("server8", 10, 1, 6, 16),
            Profile("server16", 18, 1, 6, 16), Profile("rack64", 72, 18, 6, 16), Profile("smartlight72", 14, 4, 1, 4),
            Profile("pod4096", 4608, 1152, 6, 16))
PODS = (Profile("pod72", 72, 18, 6, 16), Profile("pod128", 144, 36, 6, 16))


@dataclass
class Case:
    """One call of morphctl: its name, its arguments, and the files that it reads. It may write a
    file `out`."""

    name: str
    words: list
    files: dict = field(default_factory=dict)


def pick_delay(chance):
    parts = [f"{part}={chance.choice(values)}" for part, values in
             (("round", (500, 2000)), ("settle", (3700, 20000, 200000)), ("relock", (100, 1000)), ("hop", (1, 50)),
              ("program", (300, 4000)), ("port", (10, 200)), ("drain", (150,)), ("barrier", (700,)))
             if chance.random() < 0.45]
    return ["--delay", ",".join(parts)] if parts else []


def pick_bytes(chance):
    return chance.choice(("4K", "64K", "1M", "3000001", "16M", "256M"))


def request_shape(chance, profile):
    """A logical graph whose size is near the maximum of the profile, below or above it."""
    most = min(profile.accelerators + 1, 72)
    kind = chance.choice(("count", "ring", "ring", "mesh", "shape", "shape", "graph"))
    if kind == "mesh":
        return ["--mesh", str(chance.randint(2, min(most, 7)))], {}
    if kind == "shape":
        extents = [2, 2]
        for _ in range(3):
            larger = [extent + (chance.random() < 0.4) * chance.choice((1, 2)) for extent in (*extents, 2)[:chance.choice((2, 3))]]
            extents = larger if math.prod(larger) <= most else extents
        return ["--shape", "x".join(map(str, extents))], {}
    if kind == "graph":
        ranks = chance.randint(3, max(3, min(most, 12)))
        links = {(chance.randrange(rank), rank) for rank in range(1, ranks)}
        links |= {tuple(chance.sample(range(ranks), 2)) for _ in range(chance.randint(0, 4))}
        return ["--graph", "links"], {"links": "".join(f"{one} {other}\n" for one, other in sorted(links))}
    return [f"--{kind}", str(chance.randint(2, most))], {}


def place_options(chance, profile):
    words = []
    if chance.random() < 0.4:
        words += ["--transit", "own"]
    if chance.random() < 0.5:
        words += ["--objective", chance.choice(("fragmentation", "load", "blast"))]
    words += ["--tier", chance.choice(("contiguous", "stitched", "stitched", "crossing"))] if chance.random() < 0.6 else []
    if chance.random() < 0.25:
        words.append("--simplex")
    if chance.random() < 0.2:
        words.append("--whole-servers")
    sizes = [size for size in (1, 2, 4) if profile.wavelengths % size == 0]
    if chance.random() < 0.3:
        words += ["--wavelengths", str(chance.choice(sizes))]
    elif chance.random() < 0.4:
        words += ["--lanes", str(chance.randint(1, profile.wavelengths))]
    if chance.random() < 0.3:
        words.append("--protect")
    return words


def place_cases(profile, seed, count):
    chance = random.Random(f"place {profile.name} {seed}")
    for number in range(count):
        shape, files = request_shape(chance, profile)
        words = ["place", *shape, *place_options(chance, profile), "--steps", str(chance.choice(PLACE_STEPS))]
        yield Case(f"{profile.name}/place/{seed}.{number}", [*words, "--profile", f"{profile.name}.bin"], files)


def demand(chance, profile):
    one, other = chance.sample(range(profile.hosts), 2)
    return {"src-host": one, "dst-host": other, "amount-lanes": chance.choice((0.5, 1, 2.5, 7, 20, 100)),
            "weight": chance.choice((1, 1, 2, 5)), "controller": chance.randint(1, 3)}


def traffic_cases(profile, seed, count):
    """Lanes between servers. A profile with one server has none, which is also a valid case."""
    chance = random.Random(f"te {profile.name} {seed}")
    for number in range(count):
        demands = [demand(chance, profile) for _ in range(chance.randint(1, 24))] if profile.hosts > 1 else \
            [{"src-host": 0, "dst-host": 1, "amount-lanes": 1}]
        text = json.dumps({"decision-epoch": chance.randint(1, 1000), "ways": chance.choice((1, 2, 4, 8)),
                           "demands": demands})
        yield Case(f"{profile.name}/te/{seed}.{number}",
                   ["te", "solve", "demands.json", "--profile", f"{profile.name}.bin"], {"demands.json": text})


def algorithm_of(chance, collective, ranks):
    """Sometimes an algorithm with its options. Without one, morphctl tries all."""
    powers = ["halving-cyclic"] if ranks & (ranks - 1) == 0 else []
    swing = ["swing"] if powers else []
    known = {"all-reduce": ["ring", "direct", *swing, *powers], "reduce-scatter": ["ring", "direct", *powers],
             "all-gather": ["ring", "bruck", "direct", *powers], "all-to-all": ["shift", "bruck", "direct", "pairwise"],
             "broadcast": ["binomial", "binary", "direct"]}[collective]
    if chance.random() < 0.6:
        return []
    algorithm = chance.choice(known)
    words = ["--algorithm", algorithm]
    if algorithm == "bruck" and chance.random() < 0.5:
        words += ["--radix", str(chance.randint(2, 4))]
    if algorithm == "binary":
        words += ["--segments", str(chance.choice((1, 3, 16)))]
    return words


def fabric_words(chance, profile, ranks):
    """The accelerators of the ranks, so that the answer names paths or reports that there are
    none."""
    if profile.accelerators < ranks or chance.random() < 0.5:
        return []
    words = ["--profile", f"{profile.name}.bin"]
    if profile.accelerators <= ANYWHERE and chance.random() < 0.6:
        words += ["--at", ",".join(map(str, chance.sample(range(profile.accelerators), ranks)))]
    return words


def schedule_options(chance, profile):
    words = ["--planes", str(chance.randint(1, min(profile.planes, 4))), "--bandwidth", str(chance.choice((100000, 800000)))]
    if chance.random() < 0.3:
        words += ["--scope", chance.choice(("port", "plane", "fabric"))]
    steps = chance.choice(SCHEDULE_STEPS)
    return [*words, *pick_delay(chance), *(["--steps", str(steps)] if steps else [])]


def pick_ranks(chance, profile, extent):
    fewest, most = chance.choice(extent.ranks)
    return min(chance.randint(fewest, most), max(profile.accelerators, 2))


def collective_words(chance, collective, policy, ranks):
    words = [collective, "--ranks", str(ranks), "--bytes", pick_bytes(chance), "--policy", policy]
    algorithm = algorithm_of(chance, collective, ranks)
    if ranks in SHAPES and chance.random() < 0.3:
        words[1:3] = ["--shape", SHAPES[ranks]]
        algorithm = []
    words += algorithm
    if collective == "broadcast" and chance.random() < 0.5:
        words += ["--root", str(chance.randrange(ranks))]
    if collective == "all-reduce" and not algorithm and chance.random() < 0.2:
        words += ["--late", str(chance.choice((1000, 1000000)))]
    return words


def schedule_cases(profile, seed, extent):
    """Each collective with each policy."""
    chance = random.Random(f"schedule {profile.name} {seed}")
    for collective in COLLECTIVES:
        for policy in POLICIES:
            for number in range(extent.rounds):
                ranks = pick_ranks(chance, profile, extent)
                words = collective_words(chance, collective, policy, ranks)
                words += schedule_options(chance, profile) + fabric_words(chance, profile, ranks)
                if chance.random() < 0.15:
                    words += ["--lost", f"{chance.randrange(ranks)}.0" + chance.choice(("", "t", "r", "@2000"))]
                yield Case(f"{profile.name}/schedule/{collective}-{policy}/{seed}.{number}", ["plan", *words])


def matrix_text(chance, ranks):
    rows = [[0 if one == other or chance.random() < 0.3 else chance.choice((1, 4096, 65536, 1 << 20, chance.randrange(1 << 22)))
             for other in range(ranks)] for one in range(ranks)]
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def matrix_cases(profile, seed, extent):
    """Bytes from each rank to each other, and back."""
    chance = random.Random(f"matrix {profile.name} {seed}")
    for policy in MATRIX_POLICIES:
        for number in range(extent.rounds):
            ranks = pick_ranks(chance, profile, extent)
            words = ["plan", "--matrix", "matrix.csv", "--policy", policy, *schedule_options(chance, profile)]
            if policy == "matchings":
                words += ["--algorithm", "direct", *(["--combine"] if chance.random() < 0.5 else [])]
            yield Case(f"{profile.name}/matrix/{policy}/{seed}.{number}", [*words, *fabric_words(chance, profile, ranks)],
                       {"matrix.csv": matrix_text(chance, ranks)})


def file_cases(profile, seed, top):
    """Files of other programs, as input and as output."""
    chance = random.Random(f"files {profile.name} {seed}")
    folder = os.path.join(top, "libmorph/tests/files")
    for name in ("ring", "twostep", "allpairs"):
        with open(os.path.join(folder, f"msccl-{name}4.xml"), encoding="utf-8") as file:
            text = file.read()
        words = ["plan", "--from-msccl", "in.xml", "--bytes", pick_bytes(chance), *schedule_options(chance, profile)]
        yield Case(f"{profile.name}/msccl/{name}/{seed}", words, {"in.xml": text})
    ranks = chance.choice((4, 8))
    for name in ("msccl", "segments"):
        words = ["plan", "all-reduce", "--ranks", str(ranks), "--bytes", pick_bytes(chance), "--algorithm", "ring",
                 *schedule_options(chance, profile), f"--to-{name}", "out"]
        yield Case(f"{profile.name}/to-{name}/{seed}", words)
    if profile.accelerators >= ranks:
        words = ["plan", "all-to-all", "--ranks", str(ranks), *schedule_options(chance, profile),
                 "--profile", f"{profile.name}.bin", "--to-steps", "out"]
        yield Case(f"{profile.name}/to-steps/{seed}", words)
    lines = [f"E\t{one}\t{other}\t{chance.randrange(1, 1 << 20)} bytes\t1 msgs sent\n"
             for one in range(ranks) for other in range(ranks) if one != other and chance.random() < 0.7]
    yield Case(f"{profile.name}/ompi/{seed}", ["plan", "--from-ompi-prof", "all", "--ranks", str(ranks),
                                               *schedule_options(chance, profile)], {"all": "".join(lines) or "# none\n"})


def profile_cases(profile, top, extent):
    """The requests of a profile, with each of the seeds."""
    for seed in SEEDS:
        yield from place_cases(profile, seed, extent.places)
        yield from traffic_cases(profile, seed, extent.traffic)
        yield from schedule_cases(profile, seed, extent)
        yield from matrix_cases(profile, seed, extent)
        yield from file_cases(profile, seed, top)


def all_cases(top):
    for profile in (*PROFILES, *PODS):
        yield from profile_cases(profile, top, ALL if profile.accelerators <= ANYWHERE else POD_ALL)


def few_cases(top):
    """The cases that take little time."""
    for profile in PROFILES:
        yield from profile_cases(profile, top, FEW if profile.accelerators <= ANYWHERE else POD_FEW)
