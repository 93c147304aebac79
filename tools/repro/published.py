# SPDX-License-Identifier: GPL-2.0-or-later
"""Read and check the file of published values.

With the name of a program, print the arguments of this program.
"""

import os
import sys

import yaml

# Programs in the order in which they run. Each prints rows.
PROGRAMS = ("collective", "ports", "training", "spares", "coverage", "fragmentation", "blast", "overload", "acceptance",
            "overlap", "rounds", "switching", "regimes", "experts", "rails", "inc")
CERTAINTIES = {"paper", "code", "abstract", "secondary", "unverified", "trace"}
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "published.yaml")


def faults(data):
    """Errors of the data file."""
    found = []
    for program, parameters in data["parameters"].items():
        if program not in PROGRAMS:
            found.append(f"parameters of {program}: there is no such program")
        for name, entry in parameters.items():
            if set(entry) != {"value", "certainty", "source"} or not isinstance(entry["value"], (int, float)):
                found.append(f"parameter {program}.{name} needs a number, its certainty and its source")
            elif entry["certainty"] not in CERTAINTIES:
                found.append(f"parameter {program}.{name}: what is '{entry['certainty']}'?")
    for name, entry in data["figures"].items():
        missing = {"title", "source", "certainty", "condition", "rows"} - set(entry)
        if missing:
            found.append(f"figure {name} has no {', '.join(sorted(missing))}")
            continue
        for certainty in [entry["certainty"]] + [row.get("certainty", "paper") for row in entry["rows"].values()]:
            if certainty not in CERTAINTIES:
                found.append(f"figure {name}: what is '{certainty}'?")
        found += [f"figure {name}, row {row}: no number" for row, claim in entry["rows"].items()
                  if not isinstance(claim.get("value"), (int, float))]
        found += [f"figure {name}: gap is not text" for gap in [entry, *entry["rows"].values()]
                  if not isinstance(gap.get("gap", "-"), str)]
    return found


def load(path=PATH):
    with open(path, encoding="utf-8") as file:
        data = yaml.safe_load(file)
    wrong = faults(data)
    if wrong:
        raise ValueError(f"{path}: " + "; ".join(wrong))
    return data


def arguments(data, program):
    """Arguments of a program: the published numbers from which it computes."""
    return [f"{name}={entry['value']!r}" for name, entry in data["parameters"].get(program, {}).items()]


if __name__ == "__main__":
    print(*arguments(load(), sys.argv[1]), sep="\n")
