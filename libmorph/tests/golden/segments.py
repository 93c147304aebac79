# SPDX-License-Identifier: LGPL-2.1-or-later
"""Costs of collectives of shifts on circulants, computed from the model in fractions.

    segments.py FILE            fill in the rows of FILE whose source is "own"
    segments.py --check FILE    fail if rows differ from the model

The program is written for clarity, not for speed.
"""

import csv
import io
import sys
from fractions import Fraction


def shifts(collective, ranks, size):
    """For each round, the distance of the receiver and the number of bytes."""
    if collective == "all-to-all":
        return [(by, Fraction(size, ranks)) for by in range(1, ranks)]
    halves = [(2 ** step, Fraction(size, 2 ** (step + 1))) for step in range(ranks.bit_length() - 1)]
    return halves + halves[::-1]


def hops(ranks, circulant, by):
    return next((count for count in range(1, ranks) if count * circulant % ranks == by), None)


def plan(row):
    """
    Cost in nanoseconds, number of changes, number of plans with these, and one plan's circulants by
    round.
    """
    ranks = int(row["ranks"])
    round_ns, hop_ns, change_ns = int(row["round_ns"]), int(row["hop_ns"]), int(row["change_ns"])
    byte_ns = Fraction(8000, int(row["mbps"]))
    circulants = range(1, ranks if row["plan"] == "least" else 2)
    best = {None: (0, 0, 1, [])}
    for by, size in shifts(row["collective"], ranks, int(row["bytes"])):
        after = {}
        for circulant in circulants:
            count = hops(ranks, circulant, by)
            if count is None:
                continue
            ways = [(cost + change_ns * (held not in (None, circulant)), changes + (held not in (None, circulant)),
                     plans, order) for held, (cost, changes, plans, order) in best.items()]
            cost, changes, _, order = min(ways)
            after[circulant] = (cost + round_ns + count * (hop_ns + size * byte_ns), changes,
                                sum(way[2] for way in ways if way[:2] == (cost, changes)), order + [circulant])
        best = after
    cost, changes, _, order = min(best.values())
    return cost, changes, sum(way[2] for way in best.values() if way[:2] == (cost, changes)), order


def segments(order):
    """Format as text, with rounds counted from 1."""
    first = [at for at, circulant in enumerate(order) if not at or order[at - 1] != circulant]
    return " ".join(f"C{order[at]}:{at + 1}-{end}" for at, end in zip(first, first[1:] + [len(order)]))


def fill(row):
    if row["source"] == "own":
        cost, changes, plans, order = plan(row)
        row = dict(row, cost_ns=str(int(cost + Fraction(1, 2))), changes=str(changes),
                   segments=segments(order) if plans == 1 else "")
    return row


def main(words):
    path = words[-1]
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    lines = text.splitlines(keepends=True)
    filled = io.StringIO()
    filled.writelines(line for line in lines if line.startswith("#"))
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    writer = csv.DictWriter(filled, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(fill, rows))
    if words[0] == "--check":
        return filled.getvalue() != text
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(filled.getvalue())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
