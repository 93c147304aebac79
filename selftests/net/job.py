#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0-only
"""Run Open MPI jobs over the network devices of a slice. Prints TAP.

    job.py [RANKS]

Each rank has a network namespace with two devices: that of its rank, which carries all messages of
MPI, and one of a management network, over which mpirun starts and ends the job.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import traceback

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "selftests", "plan"))

import place    # noqa: E402

PROGRAM = os.path.join(TOP, "build/selftests/net/allreduce")
SECONDS = 150 * int(os.environ.get("SLOWNESS", "1"))
RING, DOUBLING = 4, 3   # numbers of Open MPI's algorithms
MTU = 9000              # so that headers take less than 1 % of the bytes
MANAGEMENT = "192.168.77"
# Without these, an MPI program opens three times as many files.
OWN = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
       "OMPI_MCA_pml": "ob1", "OMPI_MCA_osc": "sm,pt2pt", "OMPI_MCA_op": "^avx", "OMPI_MCA_btl": "self,tcp",
       "OMPI_MCA_btl_tcp_if_include": "fabric", "OMPI_MCA_coll": "basic,libnbc,self,inter,tuned",
       "OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
       "PMIX_MCA_ptl_base_if_include": f"{MANAGEMENT}.0/24", "PMIX_MCA_ptl_base_remote_connections": "1",
       "HWLOC_PLUGINS_PATH": "/nowhere", "HWLOC_SYNTHETIC": "package:1 core:2 pu:1"}


def ip(*words, name=None):
    """The answer of ip, in the namespace of that name."""
    where = ("-n", name) if name else ()
    done = subprocess.run(["ip", "-json", *where, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stderr)
    return json.loads(done.stdout) if done.stdout.strip() else None


class Job:
    """A slice with a ring of circuits both ways, and a namespace for each rank."""

    def __init__(self, fabric, ranks, accelerators=None, lanes=1):
        self.fabric, self.ranks = fabric, ranks
        chosen = ("--accelerators", ",".join(map(str, accelerators))) if accelerators else ("--count", ranks)
        fabric.do("slice", "create", "job", *chosen)
        self.light(lanes)
        fabric.do("net", "up", "job")
        number = fabric.ask("slice", "show", "job")["id"]
        ip("link", "add", "management", "type", "bridge")
        ip("address", "add", f"{MANAGEMENT}.254/24", "dev", "management")
        ip("link", "set", "management", "up")
        for rank in range(ranks):
            self.make_namespace(rank, f"morph{number}.{rank}")

    def make_namespace(self, rank, device):
        name = self.name(rank)
        ip("netns", "add", name)
        ip("link", "set", "lo", "up", name=name)
        ip("link", "add", f"to{rank}", "type", "veth", "peer", "name", "management", "netns", name)
        ip("link", "set", f"to{rank}", "master", "management", "up")
        ip("address", "add", f"{MANAGEMENT}.{rank + 1}/24", "dev", "management", name=name)
        ip("link", "set", "management", "up", name=name)
        ip("link", "set", device, "netns", name, "name", "fabric")
        ip("address", "add", f"10.0.0.{rank + 1}/32", "dev", "fabric", name=name)
        ip("link", "set", "fabric", "mtu", MTU, "up", name=name)
        # Routes to the ranks to which circuits lead. A connection to any other rank fails at once.
        for other in self.neighbours(rank):
            ip("route", "add", f"10.0.0.{other + 1}/32", "dev", "fabric", name=name)
        ip("route", "add", "unreachable", "10.0.0.0/24", name=name)

    def light(self, lanes, ranks=None):
        """Light the circuits between these ranks that the ring needs (default: all ranks)."""
        ranks = range(self.ranks) if ranks is None else ranks
        for rank in ranks:
            for other in self.neighbours(rank) & set(ranks):
                self.fabric.do("circuit", "add", "job", rank, other, "--lanes", lanes)

    def darken(self):
        for circuit in self.fabric.ask("circuit", "list", "job"):
            self.fabric.do("circuit", "remove", "job", circuit["id"])

    def neighbours(self, rank):
        return {(rank + 1) % self.ranks, (rank - 1) % self.ranks}

    @staticmethod
    def name(rank):
        return f"rank{rank}"

    def end(self):
        for rank in range(self.ranks):
            ip("netns", "delete", self.name(rank))
        ip("link", "delete", "management")
        self.fabric.end("job")

    def start(self, algorithm, *command, ranks=None):
        """Start a program on the first ranks (default: on all)."""
        choose = f"exec ip netns exec rank$OMPI_COMM_WORLD_RANK {shlex.join(map(str, command))}"
        settings = {**OWN, "OMPI_MCA_coll_tuned_allreduce_algorithm": str(algorithm)}
        count = str(ranks or self.ranks)
        return subprocess.Popen(["mpirun", "-n", count, "--oversubscribe", "-x", "PMIX_MCA_ptl_base_if_include",
                                 "sh", "-c", choose],
                                env={**os.environ, **settings}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def counters(self, rank):
        """Counters of ethtool -S."""
        said = subprocess.run(["ip", "netns", "exec", self.name(rank), "ethtool", "-S", "fabric"], capture_output=True,
                              text=True, check=True).stdout
        pairs = (line.split(":") for line in said.splitlines()[1:])
        return {name.strip(): int(value) for name, value in pairs}

    def sent_bytes(self, rank):
        return sum(value for name, value in self.counters(rank).items() if name.endswith("_tx_bytes"))

    def identity(self, rank):
        """All that a failover must not change."""
        link = ip("address", "show", "dev", "fabric", name=self.name(rank))[0]
        return link["ifindex"], link["address"], [entry["local"] for entry in link["addr_info"] if entry["family"] == "inet"]

    def replaced_ns(self):
        """Time of the last event that reports a replaced accelerator."""
        return self.fabric.ask("stats")[0]["last-replaced"]["time-ns"]

    def send_to_all(self):
        """Let ranks send to all others without ARP, so that the driver gets frames for ranks to
        which no circuit leads."""
        addresses = [ip("link", "show", "dev", "fabric", name=self.name(rank))[0]["address"] for rank in range(self.ranks)]
        for rank in range(self.ranks):
            ip("route", "delete", "unreachable", "10.0.0.0/24", name=self.name(rank))
            ip("route", "add", "10.0.0.0/24", "dev", "fabric", name=self.name(rank))
            for other, address in enumerate(addresses):
                if other != rank:
                    ip("neighbour", "replace", f"10.0.0.{other + 1}", "lladdr", address, "nud", "permanent", "dev", "fabric",
                       name=self.name(rank))

    def accelerators(self):
        return [rank["accelerator"] for rank in self.fabric.ask("slice", "show", "job")["ranks"]]


def finish(process):
    """Wait for a job: exit status and messages."""
    try:
        said, errors = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        print("".join(f"# {line}\n" for line in process.communicate()[1].splitlines()), end="")
        raise
    return process.returncode, said, errors


def sums_are_right_and_bytes_are_those_of_the_algorithm(job):
    iterations, words = 6, 1 << 18
    before = [job.sent_bytes(rank) for rank in range(job.ranks)]
    status, said, errors = finish(job.start(RING, PROGRAM, iterations, words))
    assert status == 0 and said.count("iteration") == iterations, (status, said, errors)
    theory = iterations * 2 * (job.ranks - 1) * words * 4 // job.ranks
    for rank in range(job.ranks):
        sent = job.sent_bytes(rank) - before[rank]
        print(f"# rank {rank}: {sent} bytes, {theory} in theory, {100 * (sent / theory - 1):+.2f} %")
        assert theory <= sent <= 1.03 * theory, (rank, sent, theory)


def job_survives_the_failure_of_an_accelerator(job):
    iterations, failing = 64, 1     # enough for the driver to find the failure
    before, chips = job.identity(failing), job.accelerators()
    process = job.start(RING, PROGRAM, iterations, 1 << 16)
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith("iteration 5 "):
            job.fabric.fault(f"accelerator_dead {chips[failing]}")
    status, _, errors = finish(process)
    times = [list(map(int, line.split()[2:])) for line in lines if line.startswith("iteration")]
    print("# ms of each iteration:", *(ms for ms, _, _ in times))
    assert status == 0 and len(times) == iterations, (status, lines, errors)
    replaced = job.replaced_ns()
    assert sum(begin < replaced <= end for _, begin, end in times) == 1, (replaced, times)
    now = job.accelerators()
    assert now[failing] != chips[failing], now
    assert [chip for chip in now if chip != now[failing]] == [chip for chip in chips if chip != chips[failing]]
    assert job.identity(failing) == before, (before, job.identity(failing))
    job.fabric.fault()


def description(job, lanes):
    """The slice of the job as it is, and another slice with a ring of that many lanes."""
    circuits = [{"src-rank": rank, "dst-rank": other} for rank in range(job.ranks) for other in sorted(job.neighbours(rank))]
    return {"slices": [{"name": "job", "ranks-count": job.ranks, "circuits": circuits},
                       {"name": "other", "ranks-count": 3, "ring": {"lanes-count": lanes}}]}


def apply(job, lanes):
    """The changes of morphctl apply with this description."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(description(job, lanes), file)
        file.flush()
        return job.fabric.ask("apply", file.name)["changes"]


def light(job):
    """All that a change of another slice must not change."""
    return [{key: circuit[key] for key in ("id", "state", "lane-mask", "guides", "dark-ns")}
            for circuit in job.fabric.ask("circuit", "list", "job")]


def descriptions_that_keep_the_slice_disturb_no_job(job):
    """A description is applied during the job, changed, and applied again; each time twice."""
    iterations, lit, changes = 100, light(job), []
    process = job.start(RING, PROGRAM, iterations, 1 << 16)
    times = 0
    for line in process.stdout:
        times += line.startswith("iteration")
        if line.startswith(("iteration 2 ", "iteration 4 ")):
            changes += [apply(job, 1 + len(changes) // 2) for _ in range(2)]
            assert process.poll() is None, changes
    status, _, errors = finish(process)
    assert status == 0 and times == iterations, (status, times, errors)
    assert changes[0] and not changes[1] and changes[2] and not changes[3], changes
    assert all(change["slice-name"] == "other" for change in changes[0] + changes[2]), changes
    assert light(job) == lit, (light(job), lit)
    job.fabric.end("other")


def a_job_that_needs_missing_circuits_fails_at_once(job):
    """Recursive doubling needs circuits between ranks that the ring does not join."""
    began = time.monotonic()
    status, said, errors = finish(job.start(DOUBLING, PROGRAM, 1, 1 << 16))
    print(f"# failed after {time.monotonic() - began:.1f} s")
    missing = re.findall(r"Unable to connect to the peer 10\.0\.0\.(\d+) .*: No route to host", errors)
    assert status != 0 and missing, (status, said, errors)


def missing_circuits_of_a_job_are_counted(job):
    """Without routes that refuse connections, Open MPI 4.1 may hang, but the driver names the
    circuits: recursive doubling joins ranks at distance 2 in its second step."""
    job.send_to_all()
    process = job.start(DOUBLING, PROGRAM, 1, 1 << 16)
    until = time.monotonic() + SECONDS
    missing = []
    while missing != [rank ^ 2 for rank in range(job.ranks)] and time.monotonic() < until:
        counters = [job.counters(rank) for rank in range(job.ranks)]
        missing = [one["tx_no_circuit_rank"] if one["tx_no_circuit"] else None for one in counters]
        time.sleep(0.1)
    process.terminate()
    status, said, errors = finish(process)
    assert missing == [rank ^ 2 for rank in range(job.ranks)], (missing, said, errors)
    assert status != 0 and "iteration" not in said, (status, said, errors)


def why_not():
    """Why no job can run here, or None."""
    return why_no_veth() if os.path.exists(PROGRAM) else "there is no MPI"


def why_no_veth():
    """Why no management network can be made here, or None."""
    if subprocess.run(["ip", "link", "add", "probe", "type", "veth"], capture_output=True, check=False).returncode:
        return "this kernel has no veth"
    ip("link", "delete", "probe")
    return None


def run_tests(tests, ranks, reason, options=tuple):
    """Call test(job) for each test, print the results as TAP, and return the exit status.

    @reason: why the tests cannot run, or None. options() gives options of morph_net once there is a
    fabric.
    """
    if reason:
        print(f"TAP version 13\n1..0 # SKIP {reason}")
        return 4
    print(f"TAP version 13\n1..{len(tests)}", flush=True)
    failed = 0
    with place.Rack("server8") as fabric:
        subprocess.run(["insmod", os.path.join(os.environ["MORPH_KMOD"], "morph_net.ko"), *options()], check=True)
        job = Job(fabric, ranks)
        for number, test in enumerate(tests, 1):
            try:
                test(job)
                print(f"ok {number} {test.__name__}", flush=True)
            except Exception:   # pylint: disable=broad-except
                failed += 1
                print("".join(f"# {line}\n" for line in traceback.format_exc().splitlines()), end="")
                print(f"not ok {number} {test.__name__}", flush=True)
        job.end()
    subprocess.run(["rmmod", "morph_net"], check=True)
    return failed > 0


def main():
    ranks = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    tests = [sums_are_right_and_bytes_are_those_of_the_algorithm, descriptions_that_keep_the_slice_disturb_no_job,
             job_survives_the_failure_of_an_accelerator, a_job_that_needs_missing_circuits_fails_at_once,
             missing_circuits_of_a_job_are_counted]
    if ranks > 4:   # the fabric has no accelerators for another slice
        tests.remove(descriptions_that_keep_the_slice_disturb_no_job)
    return run_tests(tests, ranks, why_not())


if __name__ == "__main__":
    sys.exit(main())
