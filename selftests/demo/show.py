# SPDX-License-Identifier: GPL-2.0-only
"""Print the tables of the demo: python3 show.py build/demo.json"""

import collections
import json
import math
import sys

PHASES = ("detect", "plan", "program", "settle", "relock", "verify", "notify")
MODELLED = ("settle", "relock")


def quantile(values, share):
    ordered = sorted(values)
    return ordered[math.ceil(share * len(ordered)) - 1]


def us(nanoseconds):
    return f"{nanoseconds / 1000:,.1f}"


def title(text):
    print(f"\n{text}\n{'-' * len(text)}")


def show_jobs(record):
    jobs, occupancy = record["jobs"], record["occupancy"]
    title("Jobs")
    print(f"{jobs['all']} jobs ({jobs['drawn']} of drawn shape): {jobs['served']} served, {jobs['refused']} refused, "
          f"{jobs['killed']} owners killed, {jobs['lost']} lost; {jobs['waited']} had to wait, "
          f"the last {jobs['cut_short']} were cut short")
    print(f"served despite a failure in their slice: {jobs['served_though_hurt']}")
    print(f"occupancy of {occupancy['accelerators']} accelerators: {occupancy['mean']:.1%} "
          f"({occupancy['least']:.0%} to {occupancy['most']:.0%}) over {occupancy['measured_s']:.0f} s")
    groups = collections.Counter((refusal["reason"], refusal["accelerators"]) for refusal in record["refusals"])
    for (reason, accelerators), count in sorted(groups.items()):
        detail = next(refusal["detail"] for refusal in record["refusals"]
                      if (refusal["reason"], refusal["accelerators"]) == (reason, accelerators))
        print(f"  refused {count:3} of {accelerators:3} accelerators: {reason}: \"{detail}\"")


def show_failures(record):
    kinds = collections.defaultdict(list)
    for failure in record["failures"]:
        kinds[failure["kind"]].append(failure)
    title("Failures")
    print(f"{'kind':36}{'tried':>6}{'survived':>9}{'not':>5}   {'median':>9}{'longest':>9}  ms until reported")
    for kind, failures in sorted(kinds.items()):
        took = [failure["took_ns"] / 1e6 for failure in failures]
        survived = sum(failure["survived"] for failure in failures)
        print(f"{kind:36}{len(failures):6}{survived:9}{len(failures) - survived:5}   "
              f"{quantile(took, 0.5):9.1f}{max(took):9.1f}")
    for failure in record["failures"]:
        if not failure["survived"]:
            again = "whole again after the repair" if failure["whole_again"] else "NOT whole again"
            print(f"  not survived: {failure['kind']}, {failure['target']}: {failure['end']}; {again}")
    kills = [failure["took_ns"] / 1e6 for failure in record["failures"] if failure["owner_killed"]]
    print(f"killed owners' accelerators free and dark within 100 ms: {sum(took <= 100 for took in kills)} of {len(kills)}"
          f" (limit on this machine: {record['free_limit_ms']} ms)")


def show_phases(record, kind, heading):
    failovers = [failover for failover in record["failovers"]
                 if failover["type"] == kind and failover["modelled_ns"]]
    if not failovers:
        return
    print(f"{len(failovers)} {heading}: microseconds")
    print("".join(f"{name:>11}" for name in ("", *PHASES, "software", "modelled", "dark")))
    columns = [[failover["phase_ns"][i] for failover in failovers] for i in range(len(PHASES))]
    columns.append([sum(failover["phase_ns"][i] for i, name in enumerate(PHASES) if name not in MODELLED)
                    for failover in failovers])
    columns += [[failover[key] for failover in failovers] for key in ("modelled_ns", "dark_ns")]
    for name, share in (("median", 0.5), ("90 %", 0.9)):
        print(f"{name:>11}" + "".join(f"{us(quantile(column, share)):>11}" for column in columns))


def show_rest(record):
    light, after, memory = record["light"], record["after"], record["memory"]
    title("Light")
    print(f"{light['tenant_checks']} checks by tenants of their own light, {light['fabric_checks']} of the whole fabric "
          f"({light['not_quiet']} skipped: never quiet), {light['circuits_traced']} circuits traced from the profile")
    title("Left behind")
    print(f"lanes {after['lanes_held']}, pins {after['pins']}, slices {after['slices']}; "
          f"accelerators free again: {after['free']}, spares {after['spares']}")
    print(f"kernel memory: {len(memory['left_behind'])} objects of the modules; available "
          f"{memory['before_kib']['MemAvailable']} KiB before, {memory['after_kib']['MemAvailable']} KiB after")


def show(record):
    show_jobs(record)
    show_failures(record)
    title(f"Time of failovers ({record['machine']})")
    show_phases(record, "replaced", "accelerators with circuits replaced by spares")
    show_phases(record, "moved", "circuits rerouted around failed hardware")
    dark = sum(not failover["modelled_ns"] for failover in record["failovers"])
    print(f"{dark} accelerators of jobs without circuits were also replaced")
    print("software: all phases without settle and relock, which the profile sets "
          f"({record['settle_ns']} and {record['relock_ns']} ns) and which the columns show as measured;")
    print("modelled: nominal settle, relock and write times; detect, program: timers and scheduling of the machine")
    show_rest(record)
    title("Result")
    for text in record["violations"]:
        print("BROKEN:", text)
    print(f"{len(record['violations'])} invariants broken, seed {record['seed']}, {record['lasted_s']:.0f} s")
    print("make demo-training trains a model over the circuits of a slice while an accelerator fails")


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as stream:
        show(json.load(stream))
