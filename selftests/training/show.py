# SPDX-License-Identifier: GPL-2.0-only
"""Check the record of the training demo, and print its tables: show.py build/training.json"""

import json
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(TOP, "tools", "repro"))

import published    # noqa: E402

# The loss of the last steps must be at most this share of the loss of the first step.
LOSS_SHARE, LAST_STEPS = 0.5, 5
PHASES = {
    "detect": "measured by the driver: from the fault in the simulated hardware to its report",
    "replace": "measured: the spare gets the rank, its circuits are set, the light is verified",
    "relock": "the profile's times to settle and to lock, with the timers of the kernel",
    "rejoin": "measured in the job: retransmission, then the rank gets the parameters of a peer",
    "first step": "measured in the job: the step that the failure broke, again",
}


def losses(training):
    """The loss of each step. A repeated step counts once."""
    return {step["step"]: step["loss"] for step in training["steps"]}


def broken(record):
    """Expectations that the record does not meet."""
    found, fabric = [], record["fabric"]
    for name in ("fabric", "torus"):
        loss = list(losses(record[name]).values())
        last = sum(loss[-LAST_STEPS:]) / LAST_STEPS
        if last > LOSS_SHARE * loss[0]:
            found.append(f"{name}: the loss fell only from {loss[0]:.3f} to {last:.3f}")
    if losses(fabric) != losses(record["torus"]):
        found.append("the losses with the failure differ from those without it")
    if not any(event["type"] == "replaced" and event["rank"] == fabric["rank"] for event in fabric["events"]):
        found.append("no spare replaced the accelerator")
    if len(fabric["rejoined"]) != 1 or fabric["rejoined"][0]["rank"] != fabric["rank"]:
        found.append("the rank did not get its parameters again")
    return found


def last_checkpoint(record):
    return record["fabric"]["failed_step"] // record["checkpoint_steps"] * record["checkpoint_steps"]


def title(text):
    print(f"\n{text}\n{'-' * len(text)}")


def summarize(record):
    """The numbers that make repro compares with published ones."""
    phases, fabric = record["fabric"]["phases"], record["fabric"]
    return {"next_step_s": sum(phases.values()) / 1000,
            "replaced_s": sum(phases[name] for name in ("detect", "replace", "relock")) / 1000,
            "ratio_before": fabric["before"]["samples_per_s"] / record["torus"]["throughput"]["samples_per_s"],
            "ratio_after": fabric["after"]["samples_per_s"] / record["rest"]["throughput"]["samples_per_s"]}


def show_training(record):
    fabric, loss = record["fabric"], losses(record["fabric"])
    event = next(event for event in fabric["events"] if event["type"] == "replaced")
    rejoined = fabric["rejoined"][0]
    title("Training")
    print(f"{record['ranks']} ranks in {record['profile']}, {record['batch']} samples each in a step; "
          f"loss {loss[1]:.3f} in step 1, {loss[max(loss)]:.3f} in step {max(loss)}")
    print(f"accelerator {event['old-accelerator']} of rank {event['rank']} failed after step {fabric['failed_step']}; "
          f"spare {event['new-accelerator']} has replaced it")
    print(f"the job continued from where it was: rank {rejoined['rank']} got the parameters before step "
          f"{rejoined['step'] + 1} from a peer,")
    print(f"and the ranks repeated that step; the last checkpoint was that of step {last_checkpoint(record)}")
    if losses(fabric) == losses(record["torus"]):
        print("the loss of each step equals, bit by bit, that of the job on the torus, in which nothing failed")


def show_phases(record, figures):
    title("From the failure to the end of the next step")
    for name, milliseconds in record["fabric"]["phases"].items():
        print(f"{name:12}{milliseconds:9.1f} ms  {PHASES[name]}")
    print(f"{'together':12}{1000 * record['summary']['next_step_s']:9.1f} ms  on {record['machine']}")
    rows = figures["recovery-run"]["rows"]
    print(f"published: Morphlux {rows['replaced, Morphlux']['value']:g} s until the job is started again, "
          f"{rows['next step']['value']:g} s until its first iteration ends;")
    print(f"           LUMION about {rows['replaced, LUMION']['value']:g} s until the job is started again")


def show_throughput(record, figures):
    lanes = {"fabric": record["fabric_lanes"], "torus": record["torus_lanes"]}
    cases = (("1  circuits", lanes["fabric"], record["fabric"]["before"]),
             ("2  links of the torus", lanes["torus"], record["torus"]["throughput"]),
             ("3  circuits, after the failure", lanes["fabric"], record["fabric"]["after"]),
             ("4  links of a torus that lost a node", lanes["torus"], record["rest"]["throughput"]))
    title("Throughput")
    print(f"{'':38}{'ranks':>5}{'lanes':>7}{'samples/s':>11}{'ms a step':>11}{'computing':>11}{'steps':>7}")
    for name, count, speed in cases:
        print(f"{name:38}{speed['ranks']:5}{count:7}{speed['samples_per_s']:11.1f}{speed['step_ms']:11.1f}"
              f"{speed['computing_share']:11.0%}{speed['steps']:7}")
    summary, rows = record["summary"], figures["training-run"]["rows"]
    print(f"1 : 2 = {summary['ratio_before']:.2f}   Morphlux: {rows['before the failure']['value']:g}, where the torus uses one of two ports")
    print(f"3 : 4 = {summary['ratio_after']:.2f}   LUMION: about {rows['after the failure']['value']:g}, condition not published")
    print(f"lanes: of the circuit from a rank to the next one, of {record['lane_mbps']:g} Mb/s each (scaled down). An accelerator has six")
    print("ports, modelled as five lanes each. In a torus of 4x4x4, one link leads to each neighbour in the slice. Circuits")
    print("join three ports to each neighbour. In case 4 the three ranks left continue from the last checkpoint; the middle")
    print("one forwards packets. A tenth of the steps is faster than the time shown: other work of the machine delays steps.")
    print("Computing is that of the emulated processors.")


def show(record):
    figures = published.load()["figures"]
    show_training(record)
    show_phases(record, figures)
    show_throughput(record, figures)
    title("Result")
    for text in record["violations"]:
        print("BROKEN:", text)
    print(f"{len(record['violations'])} expectations broken")


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as stream:
        show(json.load(stream))
